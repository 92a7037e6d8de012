"""Graphs and pairs that users bring: of any library, unit, precision, with or without weights."""

import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import kneighbors_graph

from ikd_graph import IKD, cliques, compare, diagnose, graph, inspect_cliques, kernels

PRE = {"refine": None, "strategy": "geodesic", "affinity": "precomputed", "graph": 8}
DIS = {**PRE, "affinity": "precomputed_distance"}


def smooth(n=60, p=30, seed=0):
    r = np.random.default_rng(seed)
    t = r.uniform(0, 1, (n, 2))
    return t, np.sin(2.0 * t @ r.normal(size=(2, p)) + r.uniform(0, 6, p)) + 0.05 * r.normal(
        size=(n, p)
    )


def correlations():
    C = np.corrcoef(smooth()[1])
    return (C + C.T) / 2


def r2(Z, T):
    A = np.c_[Z, np.ones(len(Z))]
    W, *_ = np.linalg.lstsq(A, T, rcond=None)
    return float(1 - ((T - A @ W) ** 2).sum() / ((T - T.mean(0)) ** 2).sum())


def inspect_pairs(X):
    return inspect_cliques(X, affinity="precomputed")


def compare_one(X):
    return compare(X, ["eigen"], noise=0, n_draws=2, refine=None)


def fitted(X, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return IKD(**settings).fit(X).embedding_


def unweighted(kind):
    A = kneighbors_graph(smooth(80)[1], 8)
    whole = nx.from_scipy_sparse_array(A.maximum(A.T))
    for _, _, data in whole.edges(data=True):
        data.clear()
    return {
        "one way": A,
        "both ways": A.maximum(A.T),
        "mean": 0.5 * (A + A.T),
        "networkx": whole,
        "bool": A.maximum(A.T).astype(bool),
    }[kind]


@pytest.mark.parametrize("kind", ["one way", "both ways", "mean", "networkx", "bool"])
@pytest.mark.parametrize("strategy", ["geodesic", "blockwise"])
def test_edges_without_weights_are_weighted_by_the_rows(kind, strategy):
    t, X = smooth(80)
    Z = fitted(X, graph=unweighted(kind), strategy=strategy, affinity="euclidean", refine=None)
    assert r2(Z, t) > 0.9


def test_weights_that_were_given_stay():
    A = kneighbors_graph(smooth(80)[1], 8)
    G = 0.7 * A.maximum(A.T)
    model = IKD(graph=G, strategy="geodesic", refine=None, affinity="euclidean").fit(smooth(80)[1])
    assert set(model.graph_.weights.round(12)) == {0.7}


@pytest.mark.parametrize("factor", [1e-100, 1e-12, 1e12, 1e40, 1e100])
def test_covariances_in_any_unit_give_one_embedding(factor):
    C = correlations()
    want = fitted(C, **PRE)
    for X in (C * factor, sp.csr_array(C * factor)):
        if sp.issparse(X):
            want = fitted(sp.csr_array(C), **{**PRE, "graph": "auto"})
            np.testing.assert_allclose(fitted(X, **{**PRE, "graph": "auto"}), want, atol=1e-6)
        else:
            np.testing.assert_allclose(fitted(X, **PRE), want, atol=1e-6)


@pytest.mark.parametrize("factor", [1e-60, 1e-12, 1e12, 1e60])
def test_distances_in_any_unit_keep_it(factor):
    D = squareform(pdist(smooth()[1]))
    np.testing.assert_allclose(fitted(D * factor, **DIS) / factor, fitted(D, **DIS), atol=1e-7)


@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_units_too_far_from_one_are_told(factor):
    D = squareform(pdist(smooth()[1]))
    for X, affinity in ((D * factor, "precomputed_distance"), (correlations() * factor, None)):
        with pytest.raises(ValueError, match="multiply it by a power of ten"):
            IKD(affinity=affinity or "precomputed").fit(X)


def test_rounding_of_float32_is_symmetric_and_other_differences_are_not():
    C = np.corrcoef(smooth()[1].astype(np.float32), dtype=np.float32)
    assert np.abs(C - C.T).max() > 0.0
    for X in (C, C.astype(np.float64), sp.csr_array(C)):
        assert np.isfinite(fitted(X, **{**PRE, "graph": "auto"})).all()
    wrong = correlations()
    wrong[3, 5] += 1e-5
    for X in (wrong, wrong * 1e-9):
        with pytest.raises(ValueError, match="must be symmetric"):
            IKD(**PRE).fit(X)


def test_what_is_stored_one_way_counts_for_both():
    C, D = correlations(), squareform(pdist(smooth()[1]))
    for X, settings in ((C, PRE), (D, DIS)):
        own = {**settings, "graph": "auto"}
        # A diagonal belongs to covariances.
        one_way = sp.csr_array(np.triu(X))
        want = fitted(sp.csr_array(X), **own)
        np.testing.assert_allclose(fitted(one_way, **own), want, atol=1e-9)


def test_points_without_variance_are_named():
    X = smooth()[1].copy()
    X[4] = 2.0
    with pytest.raises(ValueError, match=r"points 4\b.*constant"):
        IKD(affinity="precomputed").fit(np.cov(X))


@pytest.mark.parametrize(("weight", "said"), [("x", "real numbers"), (0.5 + 0.5j, "real numbers")])
def test_weights_that_are_no_real_numbers_are_refused(weight, said):
    G = nx.complete_graph(5)
    nx.set_edge_attributes(G, weight, "weight")
    with pytest.raises(ValueError, match=said):
        IKD(affinity="precomputed").fit(G)
    if not isinstance(weight, str):
        A = sp.csr_array(np.full((60, 60), weight))
        with pytest.raises(ValueError, match="real numbers"):
            IKD(graph=A).fit(smooth()[1])


def test_graphs_are_written_as_graphml_and_gexf_with_names(tmp_path):
    g = graph.threshold(correlations(), 0.5)
    names = [f"row {k}" for k in range(60)]
    found = list(cliques.maximal_cliques(g))
    for number, written in enumerate(
        (
            graph.to_networkx(g),
            graph.to_networkx(g, names=names),
            cliques.clique_graph(found),
            cliques.clique_graph(found, names=names),
        )
    ):
        nx.write_graphml(written, tmp_path / f"{number}.graphml")
        nx.write_gexf(written, tmp_path / f"{number}.gexf")
        again = nx.read_graphml(tmp_path / f"{number}.graphml")
        assert again.number_of_edges() == written.number_of_edges()
    named = graph.to_networkx(g, names=names).nodes(data="name")
    assert [name for _, name in named] == names
    assert "row 0" in {
        name
        for _, text in cliques.clique_graph(found, names=names).nodes(data="members")
        for name in text.split(";")
    }
    with pytest.raises(ValueError, match="names must be one for each of 60 nodes"):
        graph.to_networkx(g, names=["a"])


@pytest.mark.parametrize("affinity", ["precomputed", "precomputed_distance"])
def test_equally_long_axes_do_not_turn_with_rounding(affinity):
    k = np.kron(np.eye(3), np.ones((4, 4))) * 0.95 + 0.05
    X = k if affinity == "precomputed" else 1.0 - k
    a, b = (fitted(X.astype(t), refine=None, affinity=affinity) for t in (np.float32, float))
    np.testing.assert_allclose(a, b, atol=1e-5)


# Values of all pairs ------------------------------------------------------------------------------


def plane(n=300, seed=0):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    points[7] = points[3]
    return points, squareform(pdist(points))


@pytest.mark.parametrize("strategy", ["auto", "geodesic", "blockwise"])
def test_equal_rows_of_given_distances_share_a_place_and_are_placed_there(strategy):
    _, D = plane(80)
    model = IKD(affinity="precomputed_distance", strategy=strategy).fit(D)
    np.testing.assert_array_equal(model.embedding_[7], model.embedding_[3])
    np.testing.assert_array_equal(model.transform(D), model.embedding_)


def test_complete_distances_come_out_as_they_went_in_by_default():
    points, D = plane()
    model = IKD(affinity="precomputed_distance").fit(D)
    assert model.settings_.strategy.name == "eigen"
    off = D > 0.0
    np.testing.assert_allclose(squareform(pdist(model.embedding_))[off], D[off], rtol=1e-9)
    new = points[:5] + 0.1
    apart = np.linalg.norm(new[:, None] - points, axis=2)
    placed = np.linalg.norm(model.transform(apart)[:, None] - model.embedding_, axis=2)
    np.testing.assert_allclose(placed, apart, atol=0.02)
    # A graph, or a strategy that has one, asks for a manifold.
    for asked in ({"graph": 10}, {"strategy": "geodesic"}):
        model = IKD(affinity="precomputed_distance", **asked).fit(D)
        assert (model.settings_.strategy.name, model.settings_.refine) == ("geodesic", None)


def test_distances_of_no_plane_have_the_least_stress_over_all_pairs():
    D = squareform(pdist(np.random.default_rng(1).normal(size=(60, 5))))

    def missed(**settings):
        embedding = IKD(affinity="precomputed_distance", **settings).fit(D).embedding_
        return ((squareform(pdist(embedding)) - D) ** 2).sum()

    assert missed() < 0.8 * missed(refine=None) == 0.8 * missed(strategy="eigen")


@pytest.mark.parametrize("kernel", ["auto", "matern"])
@pytest.mark.parametrize("wide", [0.5, 3.0, 30.0])
def test_exact_covariances_are_solved_by_a_closed_form_that_reproduces_them(kernel, wide):
    rng = np.random.default_rng(2)
    points = np.c_[np.linspace(0.0, wide, 200), 0.3 * rng.normal(size=200)]
    exact = kernels.get("squared_exponential" if kernel == "auto" else kernel)
    # So wide that covariances of what is far apart are zero.
    cov = exact.covariance(squareform(pdist(points)) ** 2)
    model = IKD(affinity="precomputed", kernel=kernel).fit(7.0 * cov)
    assert model.settings_.strategy.name == ("blockwise" if cov.min() == 0.0 else "eigen")
    apart = squareform(pdist(model.embedding_))
    np.testing.assert_allclose(apart, squareform(pdist(points)), atol=1e-6 * max(wide, 1.0))


def test_covariances_of_columns_are_estimates():
    C = np.cov(smooth(80)[1])
    model = IKD(affinity="precomputed").fit(C)
    assert (model.settings_.strategy.name, model.settings_.refine) == ("geodesic", None)


def karate(weight):
    """A club whose edges weigh 1, or as often as its members met."""
    G = nx.karate_club_graph()
    if weight == 1.0:
        nx.set_edge_attributes(G, 1.0, "weight")
    return G


@pytest.mark.filterwarnings("ignore:.* covariances exceed the variances")
@pytest.mark.parametrize("weight", [1.0, "counts"])
@pytest.mark.parametrize("form", [lambda G: G, nx.to_scipy_sparse_array])
@pytest.mark.parametrize("call", [IKD(affinity="precomputed").fit, inspect_pairs])
def test_weights_that_are_no_correlations_are_told(call, form, weight):
    with pytest.warns(UserWarning, match=r"similarities are 1 .* IKD\(graph=G\).* S / S\.max\(\)"):
        call(form(karate(weight)))


def test_the_cures_of_weights_that_are_no_correlations_work():
    rows = smooth(n=34)[1]
    for Z in (
        fitted(rows, graph=karate(1.0)),
        fitted((S := nx.to_scipy_sparse_array(karate("counts"))) / S.max(), affinity="precomputed"),
    ):
        assert (np.ptp(Z, axis=0) > 0.1).all()


def test_a_loop_is_no_diagonal_and_loops_of_all_nodes_are_one():
    C = correlations()
    G = nx.from_numpy_array(np.where((C > 0.5) & ~np.eye(60, dtype=bool), C, 0.0))
    without = fitted(G, affinity="precomputed")
    G.add_edge(3, 3, weight=1.0)
    with pytest.raises(ValueError, match=r"variance above 0 .*selfloop_edges") as error:
        IKD(affinity="precomputed").fit(G)
    assert "G.remove_edges_from(list(nx.selfloop_edges(G)))" in str(error.value)
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    np.testing.assert_array_equal(fitted(G, affinity="precomputed"), without)
    # A covariance in other units has its variances as loops.
    scaled = nx.from_numpy_array(np.where(C > 0.5, 9.0 * C, 0.0))
    np.testing.assert_allclose(fitted(scaled, affinity="precomputed"), without, atol=1e-9)


def test_a_diagonal_of_zeros_or_of_nothing_has_a_cure_that_runs():
    C = correlations()
    X = C * (1.0 - np.eye(60))
    with pytest.raises(ValueError, match=r"diagonal of zeros; X \+ numpy\.eye\(X\.shape\[0\]\)"):
        IKD(affinity="precomputed").fit(X)
    np.testing.assert_allclose(X + np.eye(X.shape[0]), C)
    with pytest.raises(ValueError, match="sparse X leaves out pairs that are not known"):
        IKD(affinity="precomputed_distance").fit(np.where(C < 0.2, -1.0, 1.0 - C))
    np.fill_diagonal(X, np.nan)
    for affinity, own in (("precomputed", 1), ("precomputed_distance", 0)):
        with pytest.raises(ValueError, match=rf"numpy.where\(numpy.eye\(len\(X\)\), {own}, X\)"):
            IKD(affinity=affinity).fit(X)


@pytest.mark.parametrize("call", [IKD().fit, inspect_cliques, diagnose, compare_one])
@pytest.mark.parametrize("half", [np.asarray, np.tril])
def test_pairs_that_are_taken_for_rows_are_asked_about_by_every_door(call, half):
    places, C = smooth()[0], correlations()
    for X, name in ((squareform(pdist(places)), "precomputed_distance"), (C, "precomputed")):
        with pytest.warns(UserWarning, match=rf"table of rows; pass affinity='{name}' to embed"):
            call(half(X))


def test_a_graph_of_neighbors_is_not_asked_about():
    X = kneighbors_graph(smooth()[1], 8, include_self=False).toarray()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        IKD(refine=None).fit(np.maximum(X, X.T))
    assert not any("table of rows" in str(each.message) for each in heard)


@pytest.mark.parametrize("form", [graph.to_networkx, graph.to_sparse])
def test_what_is_read_on_a_map_does_not_hang_on_who_drew_its_graph(form):
    X = smooth(60, 40)[1]
    g = graph.threshold(np.corrcoef(X), 0.5)
    settings = {"affinity": "correlation", "refine": "stress", "random_state": 0}
    ours, theirs = (IKD(graph=each, **settings).fit(X) for each in (g, form(g)))
    assert repr(theirs.trust_) == repr(ours.trust_)
    np.testing.assert_array_equal(theirs.agreements_, ours.agreements_)
