"""The backend of networkx: what networkx returns itself, for every kind of graph."""

import copy
import inspect
import itertools
import logging
import os
import pickle
import re
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from importlib.metadata import entry_points

import networkx as nx
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    "ikd_graph" not in nx.utils.backends.backends,
    reason="networkx knows the backend of an installed package: pip install -e .",
)

KINDS = [nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph]
UNDIRECTED = KINDS[:2]
FUNCTIONS = [
    "all_pairs_dijkstra_path_length",
    "find_cliques",
    "find_cliques_recursive",
    "k_clique_communities",
    "node_clique_number",
]


@pytest.fixture(autouse=True)
def kept_conversions():
    with nx.config(warnings_to_ignore={"cache"}):
        yield


def random_graph(kind, seed, weights=()):
    """A graph with names of several types, loops, parallel edges and isolated nodes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    names = [[i, f"node {i}", (i, "b"), frozenset([i]), i + 0.5][rng.integers(5)] for i in range(n)]
    rng.shuffle(names := [*range(n)] if seed % 3 == 0 else names)
    G = kind()
    G.add_nodes_from(names)
    for a, b in rng.integers(n, size=(int(rng.integers(0, 4 * n)), 2)):
        given = {"weight": weights[rng.integers(len(weights))]} if weights else {}
        G.add_edge(names[a], names[b], **({} if rng.random() < 0.1 else given))
    return G


def as_sets(cliques):
    """Cliques, which are lists that networkx gives in any order, with their numbers."""
    cliques = [*cliques]
    assert all(type(clique) is list for clique in cliques)
    return Counter(frozenset((type(node), node) for node in clique) for clique in cliques)


@pytest.mark.parametrize("kind", UNDIRECTED)
@pytest.mark.parametrize("seed", range(12))
def test_cliques_are_those_of_networkx(kind, seed):
    G = random_graph(kind, seed)
    for H in (G, G.subgraph([*G][::2])):
        for find in (nx.find_cliques, nx.find_cliques_recursive):
            cliques = as_sets(find(H, backend="ikd_graph"))
            assert cliques == as_sets(find(H))
            assert set(cliques.values()) == {1}


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_edges_are_not_there(kind):
    G = random_graph(kind, 0)
    names = [*G]
    low = nx.subgraph_view(G, filter_edge=lambda a, b, *_: (a in names[:9]) == (b in names[:9]))
    assert 0 < low.size() < G.size()
    expected = dict(nx.all_pairs_dijkstra_path_length(low))
    assert dict(nx.all_pairs_dijkstra_path_length(low, backend="ikd_graph")) == expected
    if not G.is_directed():
        assert as_sets(nx.find_cliques(low, backend="ikd_graph")) == as_sets(nx.find_cliques(low))


@pytest.mark.parametrize("find", [nx.find_cliques, nx.find_cliques_recursive])
@pytest.mark.parametrize("seed", range(6))
def test_cliques_that_hold_some_nodes(find, seed):
    G = random_graph(nx.Graph, seed)
    for nodes in [[], *map(list, itertools.permutations([*G][:7], 2)), [*G][:1], [*G][:3]]:
        before = [*nodes]
        try:
            expected = [*find(G, nodes)]
        except ValueError as error:
            with pytest.raises(ValueError, match=f"^{re.escape(str(error))}$"):
                list(find(G, nodes, backend="ikd_graph"))
        else:
            cliques = [*find(G, nodes, backend="ikd_graph")]
            assert as_sets(cliques) == as_sets(expected)
            assert all(clique[: len(nodes)] == nodes for clique in cliques)
        assert nodes == before


def test_nodes_that_are_none_or_come_twice_are_refused_as_by_networkx():
    G = nx.path_graph(3)
    for nodes in (["nobody"], [0, 0], [0, 2]):
        with pytest.raises(ValueError, match="do not form a clique"):
            list(nx.find_cliques(G, nodes, backend="ikd_graph"))
        # find_cliques refuses when it is asked for a clique, the other when it is called.
        nx.find_cliques(G, nodes, backend="ikd_graph")
        with pytest.raises(ValueError, match="do not form a clique"):
            nx.find_cliques_recursive(G, nodes, backend="ikd_graph")


def test_cliques_come_one_by_one_out_of_more_than_fit_in_memory():
    G = nx.complete_multipartite_graph(*[3] * 40)
    cliques = nx.find_cliques(G, backend="ikd_graph")
    assert {len(clique) for clique in itertools.islice(cliques, 5000)} == {40}


@pytest.mark.parametrize("G", [nx.empty_graph(0), nx.empty_graph(3), nx.complete_graph(2)])
def test_graphs_of_few_nodes(G):
    assert as_sets(nx.find_cliques(G, backend="ikd_graph")) == as_sets(nx.find_cliques(G))
    assert [*nx.find_cliques(nx.Graph(), ["a"], backend="ikd_graph")] == []
    assert nx.node_clique_number(G, backend="ikd_graph") == nx.node_clique_number(G)
    assert [*nx.community.k_clique_communities(G, 2, backend="ikd_graph")] == (
        [*nx.community.k_clique_communities(G, 2)]
    )
    assert [*nx.all_pairs_dijkstra_path_length(G, backend="ikd_graph")] == (
        [*nx.all_pairs_dijkstra_path_length(G)]
    )


@pytest.mark.parametrize("kind", UNDIRECTED)
@pytest.mark.parametrize("seed", range(12))
def test_what_is_made_of_cliques_is_that_of_networkx(kind, seed):
    G = random_graph(kind, seed)
    sizes = nx.node_clique_number(G, backend="ikd_graph")
    assert sizes == nx.node_clique_number(G)
    assert {*map(type, sizes.values())} == {int}
    for k in (2, 2.5, 3, 4):
        communities = [*nx.community.k_clique_communities(G, k, backend="ikd_graph")]
        assert {*map(type, communities)} <= {frozenset}
        assert Counter(communities) == Counter(nx.community.k_clique_communities(G, k))


def test_a_community_needs_cliques_of_two_as_in_networkx():
    communities = nx.community.k_clique_communities(nx.path_graph(3), 1, backend="ikd_graph")
    with pytest.raises(nx.NetworkXError, match="k=1, k must be greater than 1"):
        next(communities)


WEIGHTS = {
    "none": [],
    "integers": [1, 2, 3, 0, np.int64(7)],
    "floats": [0.1, 0.2, 0.3, 1e-9, np.float64(0.7)],
    "both": [1, 0.1, 0.25, 2],
    "hidden": [None, 1.5, 2.0, 0.1],
}


# Of parallel edges networkx itself compares the weights, which None has not.
COMPARED = [
    (kind, weights)
    for kind, weights in itertools.product(KINDS, WEIGHTS)
    if not (weights == "hidden" and kind().is_multigraph())
]


@pytest.mark.parametrize(("kind", "weights"), COMPARED)
@pytest.mark.parametrize("seed", range(4))
def test_path_lengths_are_those_of_networkx_to_the_last_bit(kind, weights, seed):
    G = random_graph(kind, seed, WEIGHTS[weights])
    for cutoff, weight in [(None, "weight"), (0.4, "weight"), (-1, "weight"), (2, None)]:
        arguments = {"cutoff": cutoff, "weight": weight}
        expected = dict(nx.all_pairs_dijkstra_path_length(G, **arguments))
        lengths = [*nx.all_pairs_dijkstra_path_length(G, **arguments, backend="ikd_graph")]
        assert [node for node, _ in lengths] == [*G]
        assert dict(lengths) == expected
        for node, of_node in lengths:
            assert next(iter(of_node)) == node
            assert [*of_node.values()] == sorted(of_node.values())
            assert {*map(type, of_node.values())} <= {int, float}
        if weights in ("none", "integers"):
            assert all(type(length) is int for _, of in lengths for length in of.values())


def test_attributes_of_one_graph_are_told_apart():
    G = nx.Graph()
    G.add_edge("a", "b", weight=2.0, time=5)
    for weight, length in [("weight", 2.0), ("time", 5), (None, 1), ("absent", 1), ("weight", 2.0)]:
        lengths = dict(nx.all_pairs_dijkstra_path_length(G, weight=weight, backend="ikd_graph"))
        assert lengths["a"] == {"a": 0, "b": length}


NOT_TAKEN = {
    "a function": ([1.0], lambda a, b, edge: 2.0),
    "negative": ([-1.0], "weight"),
    "not a number": ([float("nan")], "weight"),
    "infinite": ([float("inf")], "weight"),
    "decimal": ([Decimal("0.1")], "weight"),
    "single precision": ([np.float32(0.1)], "weight"),
    "large integers": ([2**60], "weight"),
    "large sums": ([2**50], "weight"),
    "integers beyond doubles": ([10**400], "weight"),
    "sums beyond doubles": ([1e307], "weight"),
}


@pytest.mark.parametrize("case", NOT_TAKEN)
def test_lengths_that_doubles_do_not_hold_are_left_to_networkx(case):
    weights, weight = NOT_TAKEN[case]
    G = nx.DiGraph((2 * i, 2 * i + 1) for i in range(1000))
    nx.set_edge_attributes(G, dict.fromkeys(G.edges, weights[0]), "weight")
    expected = dict(nx.all_pairs_dijkstra_path_length(G, weight=weight, backend="networkx"))
    with pytest.raises(NotImplementedError, match="ikd_graph"):
        nx.all_pairs_dijkstra_path_length(G, weight=weight, backend="ikd_graph")
    with nx.config.backend_priority(algos=["ikd_graph"]):
        got = dict(nx.all_pairs_dijkstra_path_length(G, weight=weight))
    assert repr(got) == repr(expected)


@pytest.mark.parametrize("find", [nx.find_cliques, nx.find_cliques_recursive])
def test_directed_graphs_have_no_cliques_as_in_networkx(find):
    with pytest.raises(nx.NetworkXNotImplemented, match="not implemented for directed type"):
        find(nx.DiGraph([(0, 1)]), backend="ikd_graph")


def ran_by(caplog, function, G, *arguments, **keywords):
    """Backend that ran a function where ours comes first."""
    caplog.clear()
    with (
        nx.config.backend_priority(algos=["ikd_graph"]),
        caplog.at_level(logging.DEBUG, logger="networkx.utils.backends"),
    ):
        result = function(G, *arguments, **keywords)
        _ = [*result] if inspect.isgenerator(result) else result
    ours = [line for line in caplog.messages if line.startswith("Using backend 'ikd_graph'")]
    return "ikd_graph" if ours else "networkx"


def test_what_gains_nothing_is_left_to_networkx(caplog):
    small, large = nx.path_graph(100), nx.gnm_random_graph(500, 2000, seed=0)
    directed = nx.DiGraph(large)
    paths, communities = nx.all_pairs_dijkstra_path_length, nx.community.k_clique_communities
    assert ran_by(caplog, nx.find_cliques, large) == "ikd_graph"
    assert ran_by(caplog, nx.number_of_cliques, large) == "ikd_graph"
    assert ran_by(caplog, nx.find_cliques, small) == "networkx"
    assert ran_by(caplog, nx.find_cliques, large, [0]) == "networkx"
    assert ran_by(caplog, paths, large) == "ikd_graph"
    assert ran_by(caplog, paths, directed) == "ikd_graph"
    assert ran_by(caplog, paths, large, cutoff=0.5) == "networkx"
    assert ran_by(caplog, nx.node_clique_number, large) == "ikd_graph"
    assert ran_by(caplog, nx.node_clique_number, large, cliques=[[0, 1]]) == "networkx"
    assert ran_by(caplog, communities, large, 3) == "ikd_graph"
    assert ran_by(caplog, communities, large, 3, cliques=[[0, 1, 2]]) == "networkx"
    with pytest.raises(nx.NetworkXNotImplemented, match="not implemented for directed type"):
        ran_by(caplog, communities, directed, 3)


def test_a_conversion_is_kept_until_the_graph_changes():
    G = nx.cycle_graph(5)
    assert len([*nx.find_cliques(G, backend="ikd_graph")]) == 5
    kept = G.__networkx_cache__["backends"]["ikd_graph"]
    (first,) = kept.values()
    assert nx.node_clique_number(G, backend="ikd_graph") == dict.fromkeys(range(5), 2)
    assert [*kept.values()] == [first]
    part = G.subgraph([0, 1, 2])
    assert len([*nx.find_cliques(part, backend="ikd_graph")]) == 2
    G.add_edge(0, 2)
    assert len([*nx.find_cliques(G, backend="ikd_graph")]) == 4
    assert len([*nx.find_cliques(part, backend="ikd_graph")]) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda G: pickle.loads(pickle.dumps(G))])
def test_copies_and_files_of_a_graph_are_without_its_conversion(kind, copied):
    G = kind([(0, 1), (1, 2)])
    lengths = dict(nx.all_pairs_dijkstra_path_length(G, backend="ikd_graph"))
    assert b"_networkx_backend" not in pickle.dumps(G)  # it can be read without this package
    H = copied(G)
    assert nx.utils.graphs_equal(G, H)
    assert dict(nx.all_pairs_dijkstra_path_length(H, backend="ikd_graph")) == lengths


def test_a_converted_graph_runs_what_the_backend_has_and_nothing_else():
    G = nx.cycle_graph(5)
    (backend,) = entry_points(group="networkx.backends", name="ikd_graph")
    converted = backend.load().convert_from_nx(G)
    assert as_sets(nx.find_cliques(converted)) == as_sets(nx.find_cliques(G))
    with pytest.raises(NotImplementedError, match="'triangles' is not implemented by"):
        nx.triangles(converted)


def test_nothing_is_loaded_before_a_function_is_called():
    code = (
        "import sys, networkx, ikd_graph\n"
        "assert 'ikd_graph' in networkx.utils.backends.backends\n"
        "assert 'ikd_graph._networkx_backend' not in sys.modules\n"
        "networkx.config.backend_priority.algos = ['ikd_graph']\n"
        "networkx.density(networkx.path_graph(3))\n"
        "[*networkx.find_cliques(networkx.path_graph(3))]\n"
        "heavy = {'numba', 'numpy', 'scipy', 'sklearn', 'pandas'} & {*sys.modules}\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


SUITES = [
    "networkx.algorithms.tests.test_clique",
    "networkx.algorithms.community.tests.test_kclique",
    "networkx.algorithms.shortest_paths.tests.test_weighted",
]
"""Tests of networkx that come with it."""


def test_the_tests_of_networkx_pass(tmp_path):
    switches = {"NETWORKX_TEST_BACKEND": "ikd_graph", "NETWORKX_FALLBACK_TO_NX": "True"}
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "log_cli=true"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--log-cli-level=DEBUG", "--pyargs", *SUITES],
        cwd=tmp_path, env={**os.environ, **switches}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    # Of networkx's own runs there would be no such lines.
    ran = set(re.findall(r"Using backend 'ikd_graph' for call to '(\w+)'", done.stdout))
    assert ran == {*FUNCTIONS}
