"""Arguments of public functions are validated, whoever calls them."""

import numpy as np
import pytest
import scipy.sparse as sp

from ikd_graph import IKD, covariance, eigen, geodesics, gplvm, graph, kernels, metrics, strategies

LINE = np.arange(20.0)
PAIR = graph.threshold(np.array([[1.0, 0.5], [0.5, 1.0]]), 0.3)
OUTSIDE = sp.csr_array(np.eye(3))
OUTSIDE.indices[1] = 10**9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: covariance.correlation([[1.0], [2.0, 3.0]]), "X must be an array, got a list"),
        (lambda: covariance.correlation([1.0, 2.0]), r"X must be a table .* got shape \(2,\)"),
        (lambda: covariance.correlation([["a"]]), "X must hold real numbers"),
        (lambda: covariance.correlation([[1j]]), "X must hold real numbers"),
        (lambda: covariance.correlation([[None]]), "X must be finite, got 1 NaN"),
        (lambda: covariance.correlation(np.ma.masked_all((2, 2))), "X must be finite, got 4 NaN"),
        (lambda: covariance.covariance(np.eye(2), centered=1), "centered must be True or False"),
        (lambda: eigen.gram_matrix([[1.0, 2.0]]), r"sq_dist must be square, got shape \(1, 2\)"),
        (lambda: graph.auto_threshold(np.inf), "n_observed must be positive and finite"),
        (lambda: covariance.sampling_variance(0.5, 0.0), "n_observed must be finite and above 0"),
        (lambda: covariance.sampling_variance(0.5, [9, np.nan]), "above 0 everywhere, got nan; it"),
        (lambda: covariance.sampling_variance(0.5, np.inf), "above 0 everywhere, got inf; it is"),
        (lambda: geodesics.distances(PAIR, "gauss"), "kernel must be one of"),
        (lambda: geodesics.distances(PAIR, kernel="gauss"), "kernel must be one of"),
        (
            lambda: gplvm.log_likelihood(np.eye(2), np.eye(2), 9, "matern", 1.0, -1.0),
            "noise must be finite and not negative",
        ),
        (
            lambda: metrics.knn_scores(np.eye(9), np.arange(9) % 2, seed=-1),
            "seed must be an integer from 0 to",
        ),
        # More neighbors than there can be do not hang.
        (lambda: metrics.decoding_r2(LINE, LINE, 2**63), "k must be an integer from 1 to"),
        (lambda: metrics.held_out_r2(LINE, LINE, 2**63), "k must be an integer from 1 to"),
    ],
)
def test_what_an_argument_must_be_is_said_with_its_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("call", [eigen.gram_matrix, eigen.pin_signs, covariance.correlation])
def test_a_sparse_matrix_where_an_array_is_asked_for_is_refused(call):
    with pytest.raises(TypeError, match="must be a dense array, got a sparse matrix"):
        call(OUTSIDE)


def test_what_makes_sense_comes_through():
    table = np.random.default_rng(0).normal(size=(4, 6))
    for form in (table.tolist(), table.astype(object), table):
        np.testing.assert_allclose(covariance.correlation(form), np.corrcoef(table), atol=1e-12)
    # Columns that follow one another are worth a fraction of a column.
    np.testing.assert_allclose(covariance.sampling_variance([0.0, 0.5], 12.5), [0.08, 0.045])
    assert geodesics.distances(PAIR, "matern") == pytest.approx(
        geodesics.distances(PAIR, kernel=kernels.Matern())
    )


@pytest.mark.parametrize("name", ["merge", "cliques"])
def test_what_a_caller_passed_is_validated_inside_a_fit(name):
    strategy = strategies.Blockwise(**{name: lambda *given: eigen.gram_matrix([[1.0, 2.0]])})
    X = np.random.default_rng(0).normal(size=(30, 40))
    with pytest.raises(ValueError, match="sq_dist must be square"):
        IKD(2, strategy=strategy, graph=3, affinity="correlation", refine=None).fit(X)
