"""Edges that the others speak against: naive twins, planted faults, and clean graphs left alone."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from reference_graph import naive_shares_against, naive_short_cuts
from scipy.sparse.csgraph import dijkstra
from sklearn.datasets import make_s_curve, make_swiss_roll
from test_graph import dense

from ikd_graph import IKD, _limits, covariance, graph, kernels, similarity
from ikd_graph._jit import suspicion
from ikd_graph.graph import _short_cuts
from ikd_graph.model import _closed
from ikd_graph.model._edges import graph_for
from ikd_graph.study.datasets import gp_mapping
from ikd_graph.study.metrics import affine_r2

MANY_POINTS = (1 + suspicion.MANY * sum(suspicion.EFFORTS), 800, 0)


def roll(n, noise, seed):
    """Noisy swiss roll and the latent it was rolled up from."""
    X, t = make_swiss_roll(n, noise=noise, random_state=seed)
    height = make_swiss_roll(n, noise=0.0, random_state=seed)[0][:, 1]
    return X, np.column_stack([0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t)), height])


def sheet_covariance(n, seed, n_false=0, n_observed=200):
    """Sample correlations of a sheet with false pairs of .9 to .99, the latent, and the pairs."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 1.0, (n, 2)) * [6.0, 4.0]
    corr = covariance.correlation(gp_mapping(latent, n_observed, "squared_exponential", seed=seed))
    left, right = np.nonzero(np.triu(corr < 0.3, 1))
    taken = rng.choice(left.size, n_false, replace=False)
    left, right = left[taken], right[taken]
    corr[left, right] = corr[right, left] = rng.uniform(0.9, 0.99, n_false)
    return corr, latent, set(zip(left.tolist(), right.tolist(), strict=True))


def found_pairs(suspicion):
    return {tuple(pair) for pair in suspicion.pairs.tolist()}


def jumps(g, latent):
    """Edges between different turns of a roll."""
    left, right, _ = graph.edges(g)
    return int(np.count_nonzero(np.abs(latent[left, 0] - latent[right, 0]) > 12.0))


@pytest.mark.parametrize("seed", range(4))
def test_short_cuts_agree_with_the_naive_twin(seed):
    turn = np.linspace(6.0**2, 14.0**2, 60) ** 0.5  # steps of about 1.3 along the spiral
    X = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
    X += np.random.default_rng(seed).normal(scale=0.3, size=X.shape)
    g = similarity.compare(X, "euclidean").graph_of(None, 10)
    found = graph.short_cut_edges(g, g)
    assert found_pairs(found) == naive_short_cuts(dense(g))
    assert found.n_condemned > 0
    np.testing.assert_array_equal(found.scores[found.condemned], 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_short_cuts_of_many_points_are_those_of_few(seed, monkeypatch):
    turn = np.linspace(6.0**2, 14.0**2, 60) ** 0.5
    X = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
    X += np.random.default_rng(seed).normal(scale=0.3, size=X.shape)
    made = similarity.compare(X, "euclidean")
    g, wide = made.graph_of(None, 8), made.graph_of(None, 10)
    few = graph.short_cut_edges(g, wide)
    # Points that are numbered anew.
    monkeypatch.setattr(_limits, "SOLVED_WHOLE", 10)
    many = graph.short_cut_edges(g, wide)
    assert few.n_condemned > 0
    for one, other in zip(few, many, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def a_ring_with_chords(n, n_chords, seed):
    """Edges with their lengths as the search has them, and which of them are chords."""
    rng = np.random.default_rng(seed)
    step = rng.integers(3, 12, size=n_chords)
    left = np.concatenate([np.arange(n), rng.integers(n, size=n_chords)])
    right = (left + np.concatenate([np.ones(n, dtype=int), step])) % n
    lengths = np.concatenate([rng.uniform(0.8, 1.2, n), step * rng.uniform(0.2, 0.4, n_chords)])
    ends = np.sort(np.column_stack([left, right]), axis=1)
    ends, first = np.unique(ends, axis=0, return_index=True)
    lengths = lengths[first]
    values = sp.coo_array((np.exp(-lengths), tuple(ends.T)), shape=(n, n))
    ground = _short_cuts._ground(graph.from_sparse(sp.csr_array(values + values.T)))
    ground = ground._replace(edges=ground.edges._replace(lengths=lengths))
    ground.graph.lengths[:] = lengths[ground.graph.edges]
    return ground, first >= n


def those_that_no_way_replaces(edges, n, longest, condemned):
    """Edges that are left condemned, by searches of the whole graph until nothing changes."""
    condemned = condemned.copy()
    while True:
        kept = edges.lengths[~condemned], (edges.left[~condemned], edges.right[~condemned])
        doubtful = np.flatnonzero(condemned)
        most = longest * edges.lengths[doubtful]
        starts, row = np.unique(edges.left[doubtful], return_inverse=True)
        ways = dijkstra(sp.csr_array(kept, shape=(n, n)), False, starts, limit=most.max())
        short = ways[row, edges.right[doubtful]] <= most
        if not short.any():
            return condemned
        condemned[doubtful[short]] = False


# The last graph is one of those that are first searched with little effort.
@pytest.mark.parametrize(
    ("n", "n_chords", "seed"), [*((150, 40, s) for s in range(6)), MANY_POINTS]
)
def test_edges_that_no_long_way_replaces_are_acquitted_and_no_others(n, n_chords, seed):
    ground, condemned = a_ring_with_chords(n, n_chords, seed)
    expected = those_that_no_way_replaces(ground.edges, n, _short_cuts._LONGEST, condemned)
    assert 0 < np.count_nonzero(expected) < np.count_nonzero(condemned)
    _short_cuts._acquit(ground, np.empty(0, dtype=np.int64), condemned)
    np.testing.assert_array_equal(condemned, expected)


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_shares_against_agree_with_the_naive_twin(seed, share):
    corr, _, _ = sheet_covariance(60, seed, n_false=6)
    g = graph.threshold_graph(corr, 0.3)
    reach = np.full(60, np.sqrt(2.0 - 0.6))
    left, right, _ = graph.edges(g)
    condemned = np.random.default_rng(seed).random(left.size) < share
    unknown = np.zeros((60, 60), dtype=bool)
    unknown[left[condemned], right[condemned]] = unknown[right[condemned], left[condemned]] = True
    naive = naive_shares_against(dense(g), reach, unknown)
    found = graph._suspicion._shares_against(g, g, 0.3, 3, condemned)
    np.testing.assert_allclose(found, naive[left, right], rtol=0, atol=1e-12)
    assert found.max() > 0.5


@pytest.mark.parametrize(("n", "noise"), [(500, 0.3), (500, 0.5), (1000, 0.3)])
@pytest.mark.parametrize("seed", [10, 11])
def test_all_short_cuts_of_a_roll_are_found_and_nothing_else(n, noise, seed):
    X, latent = roll(n, noise, seed)
    made = similarity.compare(X, "euclidean")
    for k in (7, 10, 20, 30):
        kept, found = made.protected_graph_of(None, k)
        before = jumps(made.graph_of(None, k), latent)
        assert jumps(kept, latent) == 0
        assert found.n_condemned == before


@pytest.mark.parametrize("seed", [102, 110])
def test_no_long_edge_across_the_innermost_turn_acquits_the_others(seed):
    X, latent = roll(500, 0.1, seed)
    kept, _ = similarity.compare(X, "euclidean").protected_graph_of(None, 30)
    assert jumps(kept, latent) == 0


@pytest.mark.parametrize("seed", [408, 412, 424])
def test_the_first_edge_between_two_sheets_does_not_acquit_the_others(seed, monkeypatch):
    # It is there before a neck of its own sheet is joined.
    X, latent = roll(500, 0.5, seed)
    made = similarity.compare(X, "euclidean")
    kept, found = made.protected_graph_of(None, 20)
    assert jumps(kept, latent) == 0
    np.testing.assert_array_equal(found.scores[found.condemned], 1.0)
    monkeypatch.setattr(
        _short_cuts, "_reaching", lambda ground, *_: np.zeros(len(ground.edges[0]), bool)
    )
    assert jumps(made.protected_graph_of(None, 20)[0], latent) > 200


@pytest.mark.parametrize("seed", range(4))
def test_edges_around_a_gap_are_kept_where_the_first_joins_what_was_apart(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    turn, around = rng.uniform(0.0, 2.0 * np.pi, (2, 300))
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) + 0.02 * rng.normal(size=(300, 2))
    out = 2.0 + 0.7 * np.cos(around)
    torus = np.column_stack([out * np.cos(turn), out * np.sin(turn), 0.7 * np.sin(around)])
    monkeypatch.setattr(_short_cuts, "_close_gaps", lambda *_: None)
    monkeypatch.setattr(_short_cuts, "_LEG", _short_cuts._SHORTER)
    strict = [
        similarity.compare(X, "euclidean").protected_graph_of(None, 15)[1] for X in (ring, torus)
    ]
    assert min(found.n_condemned for found in strict) > 0
    monkeypatch.undo()
    for X in (ring, torus):
        assert similarity.compare(X, "euclidean").protected_graph_of(None, 15)[1].n_condemned == 0


def a_random_ring(seed):
    rng = np.random.default_rng(seed)
    turn = rng.uniform(0.0, 2.0 * np.pi, 100)
    frame = np.linalg.qr(rng.standard_normal((20, 2)))[0]
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    return ring, ring @ frame.T + 0.02 * rng.standard_normal((100, 20))


def test_a_ring_is_not_torn_at_its_widest_gap(monkeypatch):
    settings = {"affinity": "euclidean", "n_neighbors": 15, "refine": None, "keep_edges": False}
    rings = [a_random_ring(seed) for seed in range(20)]
    for ring, X in rings:
        assert affine_r2(ring, IKD(2, **settings).fit_transform(X)) > 0.99
    monkeypatch.setattr(_short_cuts, "_close_gaps", lambda *_: None)
    torn = [affine_r2(ring, IKD(2, **settings).fit_transform(X)) < 0.95 for ring, X in rings]
    assert sum(torn) > 3


def a_torus_in_noise(seed):
    """Points of a torus seen by waves, with noise of the size of the distances of neighbours."""
    rng = np.random.default_rng(seed)
    tube, turn = 2.0 * np.pi * rng.random((2, 1200))
    wide = 3.0 + np.cos(tube)
    torus = np.column_stack([wide * np.cos(turn), wide * np.sin(turn), np.sin(tube)])
    waves = torus @ rng.standard_normal((3, 100)) + 2.0 * np.pi * rng.random(100)
    return torus, np.sqrt(2.0) * np.cos(waves) + 0.3 * rng.standard_normal((1200, 100))


@pytest.mark.parametrize("strategy", ["blockwise", "geodesic"])
def test_edges_that_close_a_torus_are_kept_though_the_others_speak_against_them(strategy):
    settings = {"strategy": strategy, "affinity": "euclidean", "refine": None}
    torus, X = a_torus_in_noise(2)
    found, torn = IKD(3, **settings).fit(X), IKD(3, keep_edges=False, **settings).fit(X)
    assert affine_r2(torus, found.embedding_) > 0.9
    assert affine_r2(torus, torn.embedding_) < 0.8
    assert found.edge_suspicion_.n_condemned == 0
    assert found.edge_suspicion_.scores.max() == 1.0
    count = torn.edge_suspicion_.n_condemned
    assert found.graph_.n_edges == torn.graph_.n_edges + count
    said = found.choices_["keep_edges"]
    assert f"{count} of {found.graph_.n_edges} edges were kept that look like short cuts" in said


@pytest.mark.parametrize("k", [4, 7, 10, 20])
def test_nothing_of_a_clean_surface_is_condemned(k):
    rng = np.random.default_rng(0)
    flat = rng.uniform(0.0, 1.0, (400, 2)) * [5.0, 2.0]
    line = np.linspace(0.0, 3.0, 200)[:, None] * np.ones((1, 2))
    grid = np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), axis=2).reshape(-1, 2)
    plate = rng.uniform(-1.0, 1.0, (900, 2))
    plate = plate[np.hypot(plate[:, 0], plate[:, 1]) > 0.5]
    for X in (make_s_curve(600, random_state=1)[0], flat, line, grid, plate):
        _, found = similarity.compare(X, "euclidean").protected_graph_of(None, k)
        assert found.n_condemned == 0


def test_a_search_in_a_sparse_graph_alone_condemns_rims_of_holes():
    # Why short cuts are looked for among many neighbours.
    X = make_s_curve(1000, random_state=0)[0]
    g = similarity.compare(X, "euclidean").graph_of(None, 5)
    assert graph.short_cut_edges(g, g).n_condemned > 0


@pytest.mark.parametrize("seed", [20, pytest.param(21, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n_false", [0, 50, 200, 900, 2200])
@pytest.mark.parametrize("rule", [(0.354, None), (None, 7), (0.5, 6)])
def test_false_pairs_of_a_covariance_are_found_and_nothing_else(seed, n_false, rule):
    corr, _, false = sheet_covariance(300, seed, n_false)
    made = similarity.compare(corr, "precomputed")
    left, right, _ = graph.edges(made.graph_of(*rule))
    kept, found = made.protected_graph_of(*rule, trusted=True)
    assert found_pairs(found) == false & set(zip(left.tolist(), right.tolist(), strict=True))
    left, right, _ = graph.edges(kept)
    assert not false & set(zip(left.tolist(), right.tolist(), strict=True))
    if rule[1] is not None:
        # The next neighbours take the places of those that were dropped.
        assert np.diff(kept.indptr).min() >= rule[1]


def test_false_pairs_are_found_whatever_the_variances():
    corr, _, false = sheet_covariance(300, 3, n_false=60)
    spread = np.random.default_rng(0).uniform(0.8, 1.2, 300)
    made = similarity.compare(corr * np.outer(spread, spread), "precomputed")
    _, found = made.protected_graph_of(0.4, None, trusted=True)
    assert found_pairs(found) <= false
    assert found.n_condemned > 55


def test_false_pairs_of_a_stored_graph_are_found():
    corr, _, false = sheet_covariance(300, 4, n_false=60)
    stored = sp.csr_array(np.where(corr > 0.4, corr, 0.0))
    made = similarity.compare(stored, "precomputed")
    kept, found = made.protected_graph_of(None, None, trusted=True)
    assert found_pairs(found) == false
    assert kept.n_edges == made.graph_of(None, None).n_edges - len(false)


@pytest.mark.parametrize("power", [2, 3, 4])
def test_values_that_contradict_one_another_throughout_are_left_alone(power):
    # 1 - d^4 and so on are large for near points, as a covariance is, and no distance comes of it.
    corr = sheet_covariance(300, 10 + power)[0]
    values = 1.0 - np.maximum(2.0 - 2.0 * corr, 0.0) ** power / 2.0**power
    made = similarity.compare(values, "precomputed")
    kept, found = made.protected_graph_of(0.3, None, trusted=True)
    assert np.mean(found.scores > 0.5) > 0.2
    assert found.n_condemned == 0
    assert kept.n_edges == made.graph_of(0.3, None).n_edges


@pytest.mark.parametrize("strategy", ["blockwise", "geodesic"])
def test_a_fit_drops_short_cuts_says_so_and_can_be_told_not_to(strategy):
    X, latent = roll(500, 0.3, 30)
    settings = {"strategy": strategy, "affinity": "euclidean", "n_neighbors": 20, "refine": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        safe, open_ = IKD(**settings).fit(X), IKD(**settings, keep_edges=True).fit(X)
    assert affine_r2(latent, safe.embedding_) > 0.98
    assert affine_r2(latent, open_.embedding_) < 0.5
    count = safe.edge_suspicion_.n_condemned
    assert count == open_.graph_.n_edges - safe.graph_.n_edges > 0
    assert f"{count} of {open_.graph_.n_edges} edges were dropped" in safe.choices_["keep_edges"]
    assert open_.edge_suspicion_ is None
    assert "keep_edges" not in open_.choices_
    assert open_._model.settings["keep_edges"] is True


def test_cliques_find_the_same_place_in_a_frame_that_is_known(monkeypatch):
    X = roll(300, 0.3, 2)[0]
    settings = {"strategy": "blockwise", "affinity": "euclidean", "refine": None}
    known = IKD(2, n_neighbors=14, **settings).fit(X)
    assert known.edge_suspicion_.n_condemned > 0
    frames = []

    def forgetful(*given):
        found = graph_for(*given)
        frames.append(found.frame)
        return found._replace(frame=None)

    monkeypatch.setattr(_closed, "graph_for", forgetful)
    anew = IKD(2, n_neighbors=14, **settings).fit(X)
    assert frames[0] is not None
    np.testing.assert_array_equal(anew.embedding_, known.embedding_)


def test_what_became_of_edges_is_said_too_where_the_number_of_coordinates_is_found():
    settings = {"affinity": "euclidean", "n_neighbors": 20, "refine": None}
    found = IKD("auto", **settings).fit(roll(500, 0.3, 30)[0])
    assert found.edge_suspicion_.n_condemned > 0
    assert "were dropped" in found.choices_["keep_edges"]


@pytest.mark.parametrize("strategy", ["blockwise", "geodesic"])
def test_a_fit_of_a_damaged_covariance_is_that_of_the_whole_one(strategy):
    settings = {"strategy": strategy, "affinity": "precomputed", "refine": None}
    for n_false in (0, 450, 2200):
        corr, latent, _ = sheet_covariance(300, 31, n_false)
        found = IKD(**settings).fit(corr)
        assert affine_r2(latent, found.embedding_) > 0.97
        assert (found.edge_suspicion_.n_condemned > 0) == (n_false > 0)


def test_suspicion_names_rows_as_they_were_given():
    X, _ = roll(400, 0.3, 32)
    twice = np.vstack([X[:5], X])
    settings = {"strategy": "geodesic", "affinity": "euclidean", "n_neighbors": 25, "refine": None}
    one, two = IKD(**settings).fit(X), IKD(**settings).fit(twice)
    pairs = two.edge_suspicion_.pairs
    # A row that is there twice is named by its first place.
    moved = {tuple(sorted(int(i) - 5 if i >= 5 else int(i) for i in pair)) for pair in pairs}
    assert moved == found_pairs(one.edge_suspicion_)


def test_measurements_of_a_process_are_no_short_cuts():
    X = gp_mapping(sheet_covariance(150, 33)[1], 300, "squared_exponential", seed=1)
    assert IKD(strategy="geodesic", refine=None).fit(X).edge_suspicion_ is None


def test_two_points_and_equal_points():
    pair = np.array([[0.0, 1.0], [1.0, 0.0]])
    two = IKD(1, strategy="geodesic", affinity="euclidean", refine=None).fit(pair)
    assert two.edge_suspicion_.n_condemned == 0
    ones = np.ones((6, 6))
    assert (
        similarity.compare(ones, "precomputed").protected_graph_of(0.5, None)[1].scores.max() == 0
    )
    kernel = kernels.SquaredExponential()
    line = np.repeat(np.arange(4.0), 3)[:, None]
    exact = kernel.covariance((line - line.T) ** 2)
    assert (
        similarity.compare(exact, "precomputed").protected_graph_of(0.1, None)[1].n_condemned == 0
    )


def test_keep_edges_must_be_auto_or_a_flag():
    with pytest.raises(ValueError, match="must be one of 'auto', True or False; got 'yes'"):
        IKD(keep_edges="yes").fit(np.eye(4))


@pytest.mark.parametrize("call", [graph.contradicted_edges, graph.short_cut_edges])
def test_graphs_of_other_points_are_refused(call):
    g = graph.from_edges(3, [0, 1], [1, 2], [0.5, 0.5])
    with pytest.raises(ValueError, match="must have the 3 nodes of g, got 0"):
        call(g, graph.from_edges(0, [], [], []))
