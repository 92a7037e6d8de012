"""Arguments are checked at the door, in our words."""

import numpy as np
import pytest
import scipy.sparse as sp

from ikd_graph import _checks as door
from ikd_graph import covariance, eigen, geodesics, graph, kernels
from ikd_graph.study import metrics


def outside():
    """A sparse matrix that points outside itself."""
    matrix = sp.csr_array(np.eye(3))
    matrix.indices[1] = 10**9
    return matrix


@pytest.mark.parametrize("call", [eigen.gram_matrix, eigen.pin_signs, covariance.correlation])
def test_a_sparse_matrix_where_an_array_is_asked_for_is_refused(call):
    with pytest.raises(TypeError, match="must be a dense array, got a sparse matrix"):
        call(outside())


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        (door.table, [[1.0], [2.0, 3.0]], "x must be an array, got a list"),
        (door.table, [1.0, 2.0], r"x must be a table .* got shape \(2,\)"),
        (door.table, [["a"]], "x must hold real numbers"),
        (door.table, [[1j]], "x must hold real numbers"),
        (door.table, [[np.nan]], "x must be finite, got 1 NaN"),
        (door.table, [[None]], "x must be finite, got 1 NaN"),
        (door.table, np.ma.masked_all((2, 2)), "x must hold every value, got 4 masked"),
        (door.square, [[1.0, 2.0]], r"x must be square, got shape \(1, 2\)"),
        (door.line, [[1.0]], r"x must be a list of numbers, got shape \(1, 1\)"),
        (door.count, 2**40, "x must be an integer from 1 to"),
        (door.positive, np.inf, "x must be positive and finite"),
        (door.not_negative, -1.0, "x must be finite and not negative"),
        (door.flag, 1, "x must be True or False"),
        (door.seed, -1, "x must be an integer from 0 to"),
    ],
)
def test_a_rule_says_name_rule_and_value(rule, value, message):
    with pytest.raises(ValueError, match=message):
        rule("x", value)


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        (door.function, 3, "x must be a function, got int"),
        (door.sparse, np.eye(2), "x must be square and scipy sparse, got ndarray"),
        (door.record(graph.CsrGraph, "make one"), (), "x must be a CsrGraph, got tuple; make one"),
    ],
)
def test_a_rule_names_the_type_that_it_got(rule, value, message):
    with pytest.raises(TypeError, match=message):
        rule("x", value)


def test_what_makes_sense_comes_through():
    assert door.table("x", np.zeros((2, 2), "f4")).dtype == np.float32
    assert door.table("x", [[1, 2]]).dtype == np.float64
    assert door.table("x", np.array([[1, 2]], dtype=object)).tolist() == [[1.0, 2.0]]
    assert door.optional(door.table)("x", None) is None
    assert np.isnan(door.quantities("x", [np.nan])).all()


def test_functions_check_by_position_and_by_name():
    g = graph.threshold(np.array([[1.0, 0.5], [0.5, 1.0]]), 0.3)
    for call in (
        lambda: geodesics.distances(g, "no kernel"),
        lambda: geodesics.distances(g, kernel="no kernel"),
    ):
        with pytest.raises(ValueError, match="kernel must be one of"):
            call()
    assert geodesics.distances(g, "matern").shape == (2, 2)
    assert kernels.get("matern") == kernels.Matern()


@pytest.mark.parametrize("call", [metrics.decoding_r2, metrics.held_out_r2])
def test_more_neighbours_than_there_can_be_do_not_hang(call):
    with pytest.raises(ValueError, match="k must be an integer from 1 to"):
        call(np.arange(20.0), np.arange(20.0), 2**63)
