"""Maximal cliques, covers of cliques, and what is said about them."""

import itertools
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from ikd_graph import cliques, graph
from ikd_graph._base.threads import limit_threads


def csr(adjacent, weights=0.5):
    """Graph of a boolean matrix, whose diagonal is ignored."""
    adjacent = np.array(adjacent, dtype=bool)
    np.fill_diagonal(adjacent, False)
    return graph.from_scipy(sp.csr_array(np.where(adjacent, weights, 0.0)))


def dense(g):
    return graph.to_sparse(g).toarray() > 0.0


def random_graph(n, density, seed):
    upper = np.triu(np.random.default_rng(seed).random((n, n)), 1)
    corr = upper + upper.T
    return csr(corr > 1 - density, corr)


def planted_graph(n, size, seed):
    """Points on a line, all near ones adjacent, with a few edges taken out and a few put in."""
    rng = np.random.default_rng(seed)
    place = np.sort(rng.random(n)) * n
    corr = np.exp(-(((place[:, None] - place) / size) ** 2))
    adjacent = corr > np.exp(-1)
    i, j = rng.integers(0, n, (2, n // 4))
    adjacent[i, j] = adjacent[j, i] = ~adjacent[i, j]
    return csr(adjacent, np.maximum(corr, 1e-9))


def as_set(found):
    listed = [tuple(clique.tolist()) for clique in found]
    assert len(set(listed)) == len(listed), "a clique is listed twice"
    return set(listed)


def by_networkx(g):
    """Maximal cliques of a graph, as a set of sorted tuples."""
    return {tuple(sorted(c)) for c in nx.find_cliques(nx.from_numpy_array(dense(g)))}


def incidence(found, n_points):
    """Which clique has which point, (cliques, points) of zeros and ones."""
    inside = np.zeros((len(found), n_points), dtype=int)
    for row, clique in zip(inside, found, strict=True):
        row[clique] = 1
    return inside


def digits_graph(digits, threshold, n=None):
    corr = np.corrcoef(digits[0][:n])
    return csr(corr > threshold, corr)


adjacencies = st.integers(1, 13).flatmap(
    lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n).map(
        lambda bits: np.triu(np.array(bits).reshape(n, n), 1)
    )
).map(lambda upper: upper | upper.T)  # fmt: skip


# Maximal cliques


@settings(max_examples=80, deadline=None)
@given(adjacencies)
def test_maximal_cliques_of_small_graphs_agree_with_networkx(adjacent):
    g = csr(adjacent)
    assert as_set(cliques.maximal_cliques(g)) == by_networkx(g)


@pytest.mark.parametrize(
    ("n", "density", "seed"), [(30, 0.1, 0), (40, 0.5, 1), (25, 0.9, 2), (200, 0.05, 3)]
)
def test_maximal_cliques_agree_with_networkx(n, density, seed):
    g = random_graph(n, density, seed)
    assert as_set(cliques.maximal_cliques(g)) == by_networkx(g)


def test_many_excluded_nodes_make_the_stack_of_masks_grow():
    rng = np.random.default_rng(0)
    adjacent = np.zeros((2524, 2524), dtype=bool)
    adjacent[:24, :24] = rng.random((24, 24)) < 0.7
    adjacent[:24, 24:] = rng.random((24, 2500)) < 0.5
    g = csr(np.triu(adjacent) | np.triu(adjacent).T)
    assert as_set(cliques.maximal_cliques(g)) == by_networkx(g)


def test_each_clique_is_sorted_and_results_do_not_depend_on_threads(digits):
    g = digits_graph(digits, 0.6, 300)
    with limit_threads(1):
        alone = cliques.maximal_cliques(g)
    with limit_threads(2):
        together = cliques.maximal_cliques(g)
    assert len(alone) == 22457
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))
    assert all((np.diff(clique) > 0).all() for clique in alone)


def three_to_the(power):
    """Moon and Moser's graph: ``power`` triples, adjacent unless in the same triple."""
    triple = np.arange(3 * power) // 3
    return csr(triple[:, None] != triple)


def test_the_first_of_billions_of_cliques_cost_little():
    first = list(itertools.islice(cliques.iter_cliques(three_to_the(30)), 1000))
    assert len(as_set(first)) == 1000
    assert {clique.size for clique in first} == {30}


def test_more_cliques_than_memory_holds_are_not_listed_without_a_word():
    """Of 3^20 cliques; the same ones for any number of threads."""
    with pytest.warns(UserWarning, match=r"limit of \d+ maximal cliques, there are more.* cover"):
        found = cliques.maximal_cliques(three_to_the(20))
    assert 10**5 < len(found) < 10**7
    with pytest.warns(UserWarning, match="limit of 5000"):
        few = cliques.maximal_cliques(three_to_the(20), limit=5000)
    first = itertools.islice(cliques.iter_cliques(three_to_the(20)), 5000)
    assert all(np.array_equal(a, b) for a, b in zip(few, first, strict=True))


def test_a_limit_stops_with_a_warning_that_says_how_many_points_are_covered():
    g = graph.from_edges(6, [0, 2, 4], [1, 3, 5], [0.5] * 3)
    with pytest.warns(UserWarning, match=r"limit of 2 .* these cover 4 of 6 points; raise limit"):
        found = cliques.maximal_cliques(g, limit=2)
    assert len(found) == 2


@pytest.mark.parametrize(
    ("adjacent", "expected"),
    [
        (np.zeros((0, 0)), set()),
        (np.zeros((1, 1)), {(0,)}),
        (np.zeros((3, 3)), {(0,), (1,), (2,)}),
        (np.ones((130, 130)), {tuple(range(130))}),
        (np.ones((64, 64)), {tuple(range(64))}),
        (np.ones((65, 65)), {tuple(range(65))}),
        (np.kron(np.eye(3), np.ones((2, 2))), {(0, 1), (2, 3), (4, 5)}),
    ],
    ids=["empty", "one point", "isolated", "complete 130", "64", "65", "disconnected"],
)
def test_edge_cases_are_what_they_should_be(adjacent, expected):
    g = csr(adjacent)
    assert as_set(cliques.maximal_cliques(g)) == expected
    assert as_set(cliques.iter_cliques(g)) == expected
    assert as_set(cliques.cover(g, 3)) == expected
    assert as_set(cliques.covering_cliques(g)) == expected


def test_graphs_of_networkx_and_lists_of_cliques_are_taken():
    club = nx.karate_club_graph()
    found = cliques.maximal_cliques(club)
    assert as_set(found) == {tuple(sorted(clique)) for clique in nx.find_cliques(club)}
    facts = cliques.summary(club, nx.find_cliques(club))
    assert facts == cliques.summary(club, found)
    assert facts["edge_coverage"] == 1.0
    nx.set_edge_attributes(club, 0.5, "weight")
    assert as_set(cliques.cover(club, 3)) == as_set(cliques.cover(graph.from_networkx(club), 3))


def test_cliques_are_a_sequence_of_arrays():
    given = [[4, 0, 2], (1, 2), {3}]
    found = cliques.Cliques(given, n_points=6)
    assert [clique.tolist() for clique in found] == [[0, 2, 4], [1, 2], [3]]
    assert len(found) == 3
    assert found[-1].tolist() == [3]
    assert [clique.tolist() for clique in found[1:]] == [[1, 2], [3]]
    assert repr(found) == "3 cliques of 6 points, largest 3"
    assert [found.of_point(i).tolist() for i in range(6)] == [[0], [1], [0, 1], [2], [0], []]
    again = pickle.loads(pickle.dumps(found))
    assert (as_set(again), again.n_points) == (as_set(found), 6)
    with pytest.raises(IndexError):
        found[3]
    with pytest.raises(ValueError, match="point must be an integer from 0 to 5, got 6"):
        found.of_point(6)
    with pytest.raises(ValueError, match="whole numbers"):
        cliques.Cliques([["a", "b"]])


def test_cliques_are_a_table_of_names_and_labels():
    found = cliques.Cliques([[0, 2], [1, 2]])
    assert found.to_pandas().to_dict("list") == {"clique": [0, 0, 1, 1], "member": [0, 2, 1, 2]}
    table = found.to_pandas(names=["a", "b", "c"], labels=np.array([1.5, np.nan, 2.5]))
    assert table.member.tolist() == ["a", "c", "b", "c"]
    assert table.label.fillna(-1.0).tolist() == [1.5, 2.5, -1.0, 2.5]
    with pytest.raises(ValueError, match="labels must be one for each of 3 points, got 2"):
        found.to_pandas(labels=[0, 1])


def test_bad_arguments_are_refused_by_name():
    g = random_graph(5, 0.5, 0)
    with pytest.raises(TypeError, match=r"a graph must be a networkx graph, .* got list"):
        cliques.maximal_cliques([[0, 1]])
    with pytest.raises(ValueError, match="min_size must be an integer at least 1, got 0"):
        cliques.iter_cliques(g, min_size=0)
    with pytest.raises(ValueError, match=r"an integer from 1 to 2147483647, got 1000"):
        cliques.maximal_cliques(g, min_size=10**30)
    with pytest.raises(ValueError, match="limit must be an integer at least 1, got 0"):
        cliques.maximal_cliques(g, limit=0)
    with pytest.raises(ValueError, match=r"min_size must be .* at least 2, got 1; take M \+ 2"):
        cliques.cover(g, 1)
    with pytest.raises(ValueError, match="max_cliques must be an integer at least 1, got 0"):
        cliques.cover(g, 3, max_cliques=0)
    with pytest.raises(ValueError, match="n_components must be an integer at least 1, got 0"):
        cliques.summary(g, [], n_components=0)


# The paper's early stop


def around_each_point(adjacent, weights):
    """Cliques of a naive double: the strongest neighbor that knows all so far joins."""
    found = set()
    for point, row in enumerate(adjacent):
        clique = [point]
        for other in np.argsort(-weights[point], kind="stable"):
            if row[other] and adjacent[other, clique].all():
                clique.append(int(other))
        found.add(tuple(sorted(clique)))
    return found


@settings(max_examples=40, deadline=None)
@given(adjacencies, st.integers(0, 10**6))
def test_covering_cliques_grow_around_each_point_nearest_first(adjacent, seed):
    upper = np.triu(np.random.default_rng(seed).uniform(0.1, 0.9, adjacent.shape), 1)
    g = csr(adjacent, upper + upper.T)
    visited = cliques.covering_cliques(g)
    assert as_set(visited) == around_each_point(dense(g), upper + upper.T)
    assert as_set(visited) <= by_networkx(g)
    assert len(visited) <= g.n_nodes


def test_covering_cliques_of_a_helix_hang_together_on_m_plus_1_points():
    """networkx judges the cliques; each of them shares four points with the next ones."""
    turns = np.linspace(0.0, 4.0 * np.pi, 100)
    helix = np.column_stack([np.cos(turns), np.sin(turns), turns / 4.0])
    sq_dist = ((helix[:, None] - helix[None]) ** 2).sum(-1)
    found = cliques.covering_cliques(graph.threshold(np.exp(-sq_dist / 2.0), 0.6))
    inside = incidence(found, 100)
    assert nx.is_connected(nx.from_numpy_array(inside @ inside.T >= 4))


# The cover


def check_cover(g, min_size):
    """Assert all that `cover` promises where neither budget nor patience ends."""
    adjacent = dense(g)
    chosen = cliques.cover(g, min_size, max_cliques=10**6)
    maximal = by_networkx(g)
    assert as_set(chosen) <= maximal
    inside = incidence(chosen, g.n_nodes)
    assert np.all((inside.T @ inside)[adjacent] > 0)
    assert inside.any(axis=0).all()
    large = [clique for clique in maximal if len(clique) >= min_size]
    kept = [tuple(clique.tolist()) for clique in chosen if clique.size >= min_size]
    assert set(itertools.chain(*kept)) == set(itertools.chain(*large))


@settings(max_examples=80, deadline=None)
@given(adjacencies, st.integers(2, 5))
def test_a_cover_keeps_its_promises(adjacent, min_size):
    check_cover(csr(adjacent), min_size)


@pytest.mark.parametrize("min_size", [4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_a_cover_of_a_correlation_graph_keeps_its_promises(min_size, seed):
    rng = np.random.default_rng(seed)
    latent = np.cumsum(rng.standard_normal((90, 2)), axis=0) * 0.25
    sq_dist = ((latent[:, None] - latent) ** 2).sum(axis=-1)
    root = np.linalg.cholesky(np.exp(-sq_dist / 2) + 1e-9 * np.eye(90))
    corr = np.corrcoef(root @ rng.standard_normal((90, 100)))
    check_cover(csr(corr > 0.6, corr), min_size)


def test_a_point_whose_first_clique_is_small_gets_one_that_is_large_enough():
    # Point 0 has strong edges to the pair 1, 2; points 3 to 6 would rather stay with 7 and 8.
    six = list(itertools.combinations([3, 4, 5, 6, 7, 8], 2))
    edges = [(0, 1), (0, 2), (1, 2), *six, *[(0, i) for i in (3, 4, 5, 6)]]
    weights = [0.9, 0.9, 0.9, *[0.8] * len(six), *[0.1] * 4]
    blocks = cliques.cover(graph.from_edges(9, *np.transpose(edges), weights), 5, max_cliques=1)
    assert as_set(blocks) == {(0, 1, 2), (3, 4, 5, 6, 7, 8), (0, 3, 4, 5, 6)}


def test_a_budget_cuts_edges_and_never_points(digits):
    g = digits_graph(digits, 0.7, 300)
    whole = cliques.summary(g, cliques.cover(g, 4), 2)
    half = cliques.summary(g, cliques.cover(g, 4, max_cliques=whole["n_cliques"] // 2), 2)
    least = cliques.summary(g, cliques.cover(g, 4, max_cliques=1), 2)
    assert whole["point_coverage"] == half["point_coverage"] == least["point_coverage"] == 1.0
    assert whole["edge_coverage"] == 1.0
    assert 0.75 < half["edge_coverage"] < 1.0
    assert least["edge_coverage"] < half["edge_coverage"]
    assert half["n_cliques"] <= whole["n_cliques"] // 2 + 20


@pytest.mark.parametrize("seed", range(4))
def test_a_cover_does_not_depend_on_the_order_of_points(seed):
    g = planted_graph(80, 6, seed)
    order = np.random.default_rng(seed).permutation(g.n_nodes)
    plain = cliques.cover(g, 4)
    mixed = cliques.cover(graph.subgraph(g, order), 4)
    assert [frozenset(c) for c in plain] == [frozenset(order[c]) for c in mixed]


# What is said about cliques


@settings(max_examples=40, deadline=None)
@given(adjacencies, st.integers(1, 4))
def test_overlaps_are_products_of_members(adjacent, min_overlap):
    found = cliques.maximal_cliques(csr(adjacent))
    inside = incidence(found, len(adjacent))
    expected = inside @ inside.T
    expected[(expected < min_overlap) | np.eye(len(found), dtype=bool)] = 0
    assert np.array_equal(cliques.overlaps(found, min_overlap).toarray(), expected)


def test_a_summary_agrees_with_counts_by_hand():
    g = random_graph(40, 0.25, 8)
    found = cliques.maximal_cliques(g)[::2]
    facts = cliques.summary(g, found, n_components=1)
    inside = incidence(found, 40)
    overlap = np.triu(inside @ inside.T, 1)
    shared, member_of = overlap[overlap > 0], inside.sum(axis=0)
    counted = {
        "sizes": inside.sum(axis=1),
        "overlaps": shared,
        "degrees": dense(g).sum(axis=1),
        "cliques_per_point": member_of,
    }
    for name, values in counted.items():
        told = facts[name]
        assert (told["min"], told["max"]) == (values.min(), values.max())
        assert told["median"] == np.median(values)
        assert told["mean"] == pytest.approx(values.mean())
        kinds, counts = np.unique(values, return_counts=True)
        assert told["histogram"] == dict(zip(kinds.tolist(), counts.tolist(), strict=True))
    assert facts["overlapping_pairs"] == shared.size
    assert facts["points_covered"] == np.count_nonzero(member_of)
    assert facts["edges_covered"] == np.count_nonzero(np.triu(inside.T @ inside, 1))
    assert facts["graph_components"] == connected_components(dense(g))[0]
    assert facts["truncated"]
    large = inside.sum(axis=1) >= 3
    assert facts["n_solvable"] == large.sum()
    chained = (overlap >= 2)[np.ix_(large, large)]
    assert facts["merge_components"] == connected_components(chained, directed=False)[0]
    assert facts["solvable_coverage"] == inside[large].any(axis=0).mean()


def test_a_summary_of_nothing_is_zero():
    facts = cliques.summary(csr(np.zeros((0, 0))), [], n_components=2)
    assert facts["n_cliques"] == facts["graph_components"] == facts["merge_components"] == 0
    assert facts["sizes"] == {"min": 0, "median": 0.0, "mean": 0.0, "max": 0, "histogram": {}}
    assert facts["point_coverage"] == facts["edge_coverage"] == 1.0
    assert cliques.summary(csr(np.ones((3, 3))), [])["truncated"]


def test_the_graph_of_cliques_carries_members_and_overlaps():
    g = random_graph(25, 0.4, 10)
    found = cliques.maximal_cliques(g)
    joined = cliques.clique_graph(found, min_overlap=2)
    inside = incidence(found, 25)
    shared = np.triu(inside @ inside.T, 1)
    assert dict(joined.nodes(data="size")) == {i: c.size for i, c in enumerate(found)}
    assert dict(joined.nodes(data="members")) == {
        i: ";".join(map(str, c)) for i, c in enumerate(found)
    }
    expected = {(i, j, shared[i, j]) for i, j in zip(*np.nonzero(shared >= 2), strict=True)}
    assert set(joined.edges(data="overlap")) == expected
