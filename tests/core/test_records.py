"""Records that compiled code follows: checked when made, read-only from then on."""

import pickle

import numpy as np
import pytest

from ikd_graph import blockwise, cliques, geodesics, graph, kernels
from ikd_graph.cliques import Blocks
from ikd_graph.graph import CsrGraph

PATH = ([0, 1, 3, 4], [1, 0, 2, 1], [0.9, 0.9, 0.5, 0.5])
KERNEL = kernels.SquaredExponential()


@pytest.fixture
def path():
    """Three points in a row."""
    return CsrGraph(*PATH)


@pytest.mark.parametrize(
    ("indptr", "indices", "weights", "message"),
    [
        ([0, 1, 3, 10**9], *PATH[1:], "rise from 0 to the number of indices, 4"),
        ([0, 3, 1, 4], *PATH[1:], "rise from 0"),
        ([1, 1, 3, 4], *PATH[1:], "rise from 0"),
        ([], [], [], "indptr must be whole numbers"),
        ([0.0, 1.0, 3.0, 4.0], *PATH[1:], "indptr must be whole numbers"),
        (PATH[0], [1, 0, 3, 1], PATH[2], "indices must lie from 0 to 2, got 0 to 3"),
        (PATH[0], [1, 0, -1, 1], PATH[2], "indices must lie from 0 to 2, got -1 to 1"),
        (PATH[0], [[1, 0, 2, 1]], PATH[2], "indices must be a list of whole numbers"),
        (PATH[0], [1, 2, 0, 1], PATH[2], "indices must ascend in each row, got 1"),
        (PATH[0], [1, 0, 0, 1], PATH[2], "indices must ascend in each row, got 1"),
        (PATH[0], [1, 0, 2, 0], PATH[2], "every edge from both ends"),
        (PATH[0], [0, 0, 2, 1], PATH[2], "none from a node to itself, got 1"),
        (*PATH[:2], [0.9, 0.8, 0.5, 0.5], "with one weight"),
        (*PATH[:2], [0.9, 0.9], "weights must be one number for each of 4 entries"),
        (*PATH[:2], [np.nan] * 4, "weights must be one number for each of 4 entries and not NaN"),
        (*PATH[:2], ["a"] * 4, "weights must hold real numbers"),
    ],
)
def test_a_graph_is_checked_when_it_is_made(indptr, indices, weights, message):
    with pytest.raises(ValueError, match=message):
        CsrGraph(np.array(indptr), np.array(indices), np.array(weights))


def test_a_graph_can_only_be_read(path):
    for array in path:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(AttributeError):
        path.indices = np.array([7])
    with pytest.raises(ValueError, match="weights must be one number for each of 4 entries"):
        path._replace(weights=np.ones(3))


def test_what_a_graph_was_made_of_can_change_without_it():
    parts = [np.array(part) for part in PATH]
    view = parts[1][:]
    view.flags.writeable = False
    made = CsrGraph(parts[0], view, parts[2])
    parts[0][:] = parts[1][:] = 10**9
    assert made.indptr.tolist() == PATH[0]
    assert made.indices.tolist() == PATH[1]


def test_every_way_to_a_graph_ends_in_one_that_can_only_be_read(path):
    corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    ways = [
        graph.threshold(corr, 0.4),
        graph.neighbors(corr, 1),
        graph.above(path, 0.6),
        graph.strongest(path, 1),
        graph.subgraph(path, np.array([1, 0])),
        graph.union(path, path),
        graph.from_scipy(graph.to_sparse(path)),
        graph.join(graph.above(path, 0.6), corr).graph,
        geodesics.distance_lengths(path, KERNEL),
        geodesics.covariance_lengths(path),
        path._replace(weights=np.zeros(4)),
        pickle.loads(pickle.dumps(path)),
    ]
    for g in ways:
        assert isinstance(g, CsrGraph)
        assert not any(array.flags.writeable for array in g)
        assert [array.dtype for array in g] == [np.int64, np.int32, np.float64]
        # Whatever made it, it would pass the checks.
        assert CsrGraph(*g).indices.tolist() == g.indices.tolist()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(path)).weights, path.weights)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: graph.from_edges(2, [0], [2], [0.5]), "high must lie from 0 to 1, got 2"),
        (lambda: graph.from_edges(3, [-1], [2], [0.5]), "low must lie from 0 to .*, got -1"),
        (lambda: graph.from_edges(3, [2], [1], [0.5]), "low < high for every edge"),
        (lambda: graph.from_edges(3, [0, 1], [2], [0.5, 0.5]), "low < high for every edge"),
        (lambda: graph.from_edges(3, [0], [2], []), "weights must be as long"),
        (lambda: graph.from_edges(3, [0, 0], [2, 2], [1, 1]), "given once each, got 1"),
        (lambda: graph.subgraph(CsrGraph(*PATH), [0, 3]), "nodes must lie from 0 to 2"),
        (lambda: graph.subgraph(CsrGraph(*PATH), [0, 0]), "nodes must be given once each"),
        (lambda: cliques.overlaps([[-1, 2]]), "members of cliques must lie from 0"),
        (lambda: cliques.overlaps([[0.5, 2.0]]), "members of cliques must be a list of whole"),
        (lambda: cliques.overlaps(Blocks(np.array([0, 9]), np.array([0]))), "rise from 0"),
        (lambda: cliques.overlaps([[0, 0]]), "members of cliques must ascend"),
        (lambda: cliques.clique_graph([[-5]]), "members of cliques must lie from 0"),
        (lambda: cliques.summary(CsrGraph(*PATH), [[0, 3]]), "must lie from 0 to 2, got 0 to 3"),
        (
            lambda: blockwise.place_groups(np.eye(2), np.array([0, 9]), np.eye(2)),
            "labels must lie from 0 to 1",
        ),
        (
            lambda: blockwise.place_groups(np.eye(2), np.array([0, 1]), np.eye(3)),
            "points must be a table .* of the same shape as frame",
        ),
    ],
)
def test_places_outside_are_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def broken_blocks(path, **changes):
    solved = blockwise.solve(path, cliques.cover(path, 2), KERNEL, 1)
    return solved._replace(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"coordinates": np.zeros((1, 1))}, "solved.coordinates must be a table of floats with 4"),
        ({"coordinates": np.full((4, 1), np.nan)}, "solved.coordinates must be finite"),
        ({"precision": np.ones(2)}, "solved.precision must be 4 finite numbers"),
        ({"blocks": Blocks(np.array([0, 9]), np.arange(3))}, "rise from 0 to the number"),
        (
            {"blocks": Blocks(np.array([0, 4]), np.arange(4))},
            "members of solved.blocks must lie from 0",
        ),
    ],
)
def test_inconsistent_blocks_are_refused(path, changes, message):
    solved = broken_blocks(path, **changes)
    for merge in (blockwise.merge_greedy, blockwise.merge):
        with pytest.raises(ValueError, match=message):
            merge(solved, 3)
    with pytest.raises(ValueError, match=message):
        blockwise.residuals(solved, np.zeros((3, 1)))
