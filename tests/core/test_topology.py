"""How many pieces, loops and voids there are, where loops run, and who is refused."""

import builtins
import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits, load_iris

import ikd_graph
from ikd_graph import IKD, datasets, graph

gudhi = pytest.importorskip("gudhi", reason="the extra 'test' brings it")


def circle(n, seed=0, radius=1.6):
    """Angles at random, and points there on a circle."""
    angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return angle, radius * np.column_stack([np.cos(angle), np.sin(angle)])


def sample(points, n_columns=150, noise=0.5, seed=0):
    """Rows of the model over points."""
    rng = np.random.default_rng(seed)
    cov = np.exp(-0.5 * squareform(pdist(points, "sqeuclidean")))
    rows = np.linalg.cholesky(cov + 1e-9 * np.eye(len(cov))) @ rng.normal(
        size=(len(points), n_columns)
    )
    return rows + noise * rng.normal(size=rows.shape)


def errors(angle, truth):
    """Absolute errors of angles, turned and mirrored as fits best."""
    turns = [np.exp(1j * (sign * angle - truth)) for sign in (1, -1)]
    return min((np.abs(np.angle(turn / turn.mean())) for turn in turns), key=np.mean)


# The barcode --------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2])
def test_the_barcode_is_that_of_gudhi(degree):
    X = np.random.default_rng(1).normal(size=(60, 3))
    found = ikd_graph.topology(X, affinity="euclidean")
    of = "rows" if degree == 1 else "map"
    own = found.features[(found.features.degree == degree) & (found.features.of == of)]
    points = X if degree == 1 else found.embedding
    tree = gudhi.RipsComplex(points=points).create_simplex_tree(max_dimension=degree + 1)
    tree.compute_persistence()
    expected = tree.persistence_intervals_in_dimension(degree)
    ours = own[["birth", "death"]].to_numpy()
    assert len(ours) == len(expected) > 3
    assert np.allclose(np.sort(ours, axis=0), np.sort(expected, axis=0), rtol=1e-5)


def test_distances_of_correlations_are_those_of_their_rows():
    X = sample(circle(60)[1])
    births = ikd_graph.topology(X, affinity="correlation", voids=False).features
    rows = X - X.mean(axis=1, keepdims=True)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    tree = gudhi.RipsComplex(points=rows).create_simplex_tree(max_dimension=2)
    tree.compute_persistence()
    expected = tree.persistence_intervals_in_dimension(1)
    ours = births[(births.degree == 1) & (births.of == "rows")]
    assert np.allclose(np.sort(ours.birth), np.sort(expected[:, 0]), rtol=1e-5)


# Graphs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (nx.cycle_graph(4), (1, 1, 0)),
        (nx.cycle_graph(9), (1, 1, 0)),
        (nx.complete_graph(6), (1, 0, 0)),
        (nx.octahedral_graph(), (1, 0, 1)),
        (nx.path_graph(5), (1, 0, 0)),
        (nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(4)), (2, 2, 0)),
        (nx.empty_graph(4), (4, 0, 0)),
    ],
)
def test_a_graph_without_weights_has_the_betti_numbers_of_its_cliques(made, expected):
    assert ikd_graph.topology(made).betti_numbers == expected
    if made.number_of_edges():
        assert ikd_graph.topology(nx.to_scipy_sparse_array(made)).betti_numbers == expected
        assert ikd_graph.topology(graph.as_graph(made, weight=None)).betti_numbers == expected


@pytest.mark.parametrize("seed", range(4))
def test_betti_numbers_of_random_graphs_are_those_of_gudhi(seed):
    made = nx.gnp_random_graph(40, 0.15, seed=seed)
    tree = gudhi.SimplexTree()
    for node in made:
        tree.insert([node])
    for edge in made.edges:
        tree.insert([*edge])
    tree.expansion(4)
    tree.compute_persistence()
    expected = np.pad(tree.betti_numbers(), (0, 4))[:3].tolist()
    found = ikd_graph.topology(made)
    assert list(found.betti_numbers) == expected
    assert found.features.p_value[found.features.death == np.inf].isna().all()
    loops = found.features[(found.features.degree == 1) & (found.features.death == np.inf)]
    for rows in loops.rows:
        around = [int(name) for name in rows]
        ends = zip(around, [*around[1:], around[0]], strict=True)
        assert len(set(around)) == len(around) > 3
        assert all(made.has_edge(*each) for each in ends)


def test_nodes_go_around_a_cycle_by_name_and_others_have_no_angle():
    made = nx.relabel_nodes(nx.cycle_graph(6), dict(enumerate("abcdef")))
    made.add_edge("x", "y")
    found = ikd_graph.topology(made)
    around = found.features[found.features.degree == 1].rows.iloc[0]
    assert sorted(around) == [*"abcdef"]
    assert all(made.has_edge(a, b) for a, b in itertools.pairwise(around))
    angle = found.circular_coordinate()
    steps = np.diff(np.unwrap(angle[:6]))
    assert np.allclose(np.abs(steps), np.pi / 3)
    assert np.isnan(angle[6:]).all()
    assert found.sentence == "one loop"


def test_strong_edges_come_first_in_any_unit():
    made = nx.cycle_graph(5)
    nx.set_edge_attributes(made, 4.0, "weight")
    made.add_edge(0, 2, weight=2.0)
    made.add_edge(0, 3, weight=1.0)
    loop = ikd_graph.topology(made).features.query("degree == 1").iloc[0]
    assert loop.death / loop.birth == pytest.approx(4.0)
    for *_, data in made.edges(data=True):
        data["weight"] *= 1e-3
    assert ikd_graph.topology(made).features.query("degree == 1").iloc[0].p_value == loop.p_value


# Counts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_a_ring_has_one_loop_an_eight_two_and_an_arc_none(seed):
    t = circle(150, seed)[0]
    shapes = {
        "ring": (circle(150, seed)[1], 1),
        "eight": (np.column_stack([2.2 * np.sin(t), 1.6 * np.sin(2 * t)]), 2),
        "arc": (1.6 * np.column_stack([np.cos(0.8 * t), np.sin(0.8 * t)]), 0),
    }
    for points, loops in shapes.values():
        found = ikd_graph.topology(sample(points, 200, seed=seed), voids=False)
        assert found.betti_numbers == (1, loops, 0)


def test_clouds_and_noise_rarely_have_a_loop():
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        for X in (sample(rng.normal(size=(80, 2)), 100, seed=seed), rng.normal(size=(80, 100))):
            found.append(ikd_graph.topology(X, voids=False).n_loops)
    assert sum(found) <= 1


def test_a_loop_has_one_p_value_whether_voids_are_sought_or_not():
    X = sample(circle(80)[1], 100)
    found = [ikd_graph.topology(X, voids=voids).features for voids in (False, True)]
    of_loops, also = (each[each.degree == 1].p_value.to_numpy() for each in found)
    assert 0.0 < of_loops.min() < 1.0
    np.testing.assert_array_equal(of_loops, also)


def test_two_rings_far_apart_are_two_pieces_and_two_loops():
    points = np.vstack([circle(150)[1], circle(150, 1)[1] + [8.0, 0.0]])
    found = ikd_graph.topology(sample(points, 400, noise=0.3), voids=False)
    assert found.betti_numbers == (2, 2, 0)
    parts = found.features[(found.features.degree == 0) & (found.features.p_value <= 0.05)]
    assert all(rows in ([*range(150)], [*range(150, 300)]) for rows in parts.rows)
    assert found.sentences()[0].startswith("2 connected components, p = ")


def test_an_outlying_row_is_no_piece():
    points = np.vstack([np.random.default_rng(0).normal(size=(100, 2)), [[50.0, 50.0]]])
    assert ikd_graph.topology(points, voids=False).betti_numbers[0] == 1


def test_a_sphere_has_a_void_and_no_loop():
    points = np.random.default_rng(0).normal(size=(200, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    found = ikd_graph.topology(points)
    assert found.betti_numbers == (1, 0, 1)
    assert found.sentences()[2].startswith("one void, p = ")
    assert ikd_graph.topology(points, voids=False).betti_numbers[2] == 0


def test_few_features_have_no_small_p_value_by_themselves():
    # A square is a loop, but so are the four nearest of any points.
    found = ikd_graph.topology(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.1], [0.0, 1.0]]))
    assert found.n_loops == 0
    assert found.features.query("degree == 1").p_value.min() > 0.05


def test_p_values_of_noise_are_no_smaller_than_chance():
    least = []
    for seed in range(20):
        X = np.random.default_rng(seed).uniform(size=(60, 2))
        loops = ikd_graph.topology(X, voids=False).features.query("degree == 1")
        least.append(loops.p_value.min())
    assert np.mean(np.array(least) <= 0.2) <= 0.35


# What a table is does not hang on its form --------------------------------------------------------


def test_unit_and_order_of_rows_change_nothing():
    X = sample(circle(100)[1])
    order = np.random.default_rng(0).permutation(100)
    first = ikd_graph.topology(X, voids=False)
    for other in (X * 1e6, X[order], X + 0.0):
        found = ikd_graph.topology(other, voids=False)
        assert found.betti_numbers == first.betti_numbers
        assert found.sentence == first.sentence
    angle = ikd_graph.topology(X[order], voids=False).circular_coordinate()
    assert np.median(errors(angle, first.circular_coordinate()[order])) < 0.01


def test_kinds_of_input_agree():
    X = sample(circle(100)[1])
    before = X.copy()
    corr = np.corrcoef(X)
    frame = pd.DataFrame(X, index=[f"row {k}" for k in range(100)])
    model = IKD(refine=None, affinity="correlation").fit(X)
    named = ikd_graph.topology(frame, affinity="correlation", voids=False)
    kinds = [
        ikd_graph.topology(X, affinity="correlation", voids=False),
        ikd_graph.topology(datasets.Dataset(X), affinity="correlation", voids=False),
        ikd_graph.topology(sp.csr_array(X), affinity="correlation", voids=False),
        ikd_graph.topology(corr, affinity="precomputed", voids=False),
        ikd_graph.topology(model, voids=False),
    ]
    ends = [found.features.query("degree == 1 and of == 'rows'").death.iloc[0] for found in kinds]
    assert np.allclose(ends, named.features.query("degree == 1 and of == 'rows'").death.iloc[0])
    assert {found.n_loops for found in kinds} == {1}
    around = named.features.query("degree == 1 and p_value <= 0.05").rows.iloc[0]
    assert len(around) > 5
    assert all(name.startswith("row ") for name in around)
    assert (before == X).all()


def test_distances_and_their_model_have_the_loop_of_their_points():
    distances = squareform(pdist(circle(200)[1]))
    model = IKD(affinity="precomputed_distance").fit(distances)
    for found in (
        ikd_graph.topology(distances, affinity="precomputed_distance"), ikd_graph.topology(model)
    ):  # fmt: skip
        assert found.betti_numbers == (1, 1, 0)


def test_equal_rows_are_one_point_and_have_one_angle():
    X = sample(circle(80)[1])
    found = ikd_graph.topology(np.vstack([X, X[:20]]), voids=False)
    alone = ikd_graph.topology(X, voids=False)
    assert found.sentence == alone.sentence
    angle = found.circular_coordinate()
    assert (angle[80:] == angle[:20]).all()


def test_rows_with_holes_are_compared_over_what_they_share():
    X = sample(circle(120)[1], noise=0.3)
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.1] = np.nan
    assert ikd_graph.topology(X, missing="pairwise", voids=False).n_loops == 1


# The circular coordinate --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_circular_coordinate_follows_the_truth(seed):
    truth, points = circle(150, seed)
    found = ikd_graph.topology(sample(points, 150, seed=seed), voids=False)
    angle = found.circular_coordinate()
    assert angle.dtype == np.float64
    assert 0.0 <= angle.min() <= angle.max() < 2 * np.pi
    assert np.median(errors(angle, truth)) < 0.2
    around = found.features.query("degree == 1 and p_value <= 0.05").rows.iloc[0]
    turn = np.angle(np.exp(1j * np.diff(truth[[*around, around[0]]]))).sum()
    assert abs(turn) == pytest.approx(2 * np.pi)


def test_uneven_rows_do_not_take_the_angle():
    # Nine tenths of the rows lie on one side.
    rng = np.random.default_rng(0)
    truth = np.concatenate([rng.uniform(0, np.pi, 180), rng.uniform(np.pi, 2 * np.pi, 60)])
    points = np.column_stack([np.cos(truth), np.sin(truth)])
    angle = ikd_graph.topology(points, voids=False).circular_coordinate()
    assert np.median(errors(angle, truth)) < 0.15


def test_each_loop_of_an_eight_has_its_own_coordinate():
    t = circle(150)[0]
    eight = np.column_stack([2.2 * np.sin(t), 1.6 * np.sin(2 * t)])
    found = ikd_graph.topology(sample(eight, 200), voids=False)
    right = eight[:, 0] > 0.5
    sides = set()
    for k in range(2):
        turned = np.exp(1j * found.circular_coordinate(k))
        sides.add(bool(abs(turned[right].mean()) < abs(turned[~right].mean())))
    assert sides == {True, False}


@pytest.mark.slow
def test_standard_errors_of_angles_hold_the_truth():
    truth, points = circle(120)
    model = IKD().fit(sample(points, 200))
    angle, std = ikd_graph.topology(model, voids=False).circular_coordinate(return_std=True)
    held = np.mean(errors(angle, truth) < 2 * std)
    assert np.isfinite(std).all()
    assert held > 0.7


# Many rows ----------------------------------------------------------------------------------------


def test_a_thousand_rows_and_one_more_say_the_same():
    truth, points = circle(1001)
    X = sample(points, 60, noise=0.3)
    whole, more = (ikd_graph.topology(X[:n], voids=False) for n in (1000, 1001))
    assert whole.sentence == more.sentence
    assert more.sentences()[2:] == ["seen on 1000 of 1001 rows, evenly spaced"]
    assert len(whole.sentences()) == 2
    angle = more.circular_coordinate()
    assert angle.shape == (1001,)
    assert np.median(errors(angle[:1000], whole.circular_coordinate())) < 0.1
    assert np.median(errors(angle, truth)) < 0.1


def test_rows_that_were_left_out_have_an_angle():
    truth, points = circle(3000)
    X = points @ np.random.default_rng(1).normal(size=(2, 10))
    found = ikd_graph.topology(X, voids=False)
    assert found.n_loops == 1
    assert np.quantile(errors(found.circular_coordinate(), truth), 0.9) < 0.15
    assert found.embedding.shape == (3000, 3)


@pytest.mark.parametrize("kind", ["holes", "filled", "sparse", "distances"])
def test_rows_that_were_left_out_have_an_angle_whatever_they_come_as(kind):
    truth, points = circle(1020)
    X, settings = sample(points, 60, noise=0.3), {}
    if kind == "sparse":
        X = sp.csr_array(np.maximum(X, 0.0))
    elif kind == "distances":
        X, settings = squareform(pdist(X)), {"affinity": "precomputed_distance"}
    else:
        X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
        settings = {"missing": "pairwise" if kind == "holes" else "impute"}
    for n in (1000, 1020):
        part = X[:n] if kind != "distances" else X[:n, :n]
        angle = ikd_graph.topology(part, voids=False, **settings).circular_coordinate()
        assert np.median(errors(angle, truth[:n])) < 0.2
        assert np.isfinite(angle).all()


def test_a_void_is_found_on_both_sides_of_three_hundred_rows():
    points = np.random.default_rng(0).normal(size=(301, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    for n in (300, 301):
        assert ikd_graph.topology(points[:n]).betti_numbers == (1, 0, 1)


def test_unrelated_rows_take_no_minutes():
    X = np.random.default_rng(0).normal(size=(600, 200))
    found = ikd_graph.topology(X, voids=False)
    assert found.n_loops == 0


# Real tables --------------------------------------------------------------------------------------


def test_digits_and_iris_have_no_loop():
    assert ikd_graph.topology(load_iris().data, voids=False).n_loops == 0
    assert ikd_graph.topology(load_digits().data[::5], voids=False).n_loops == 0


def test_the_days_of_the_year_are_a_ring(data_home):
    table = np.load(data_home / "canadian_weather.npz")
    found = ikd_graph.topology(table["X"], voids=False)
    day = 2 * np.pi * table["y"] / 365
    assert found.n_loops == 1
    a, b = (np.sin(each[:, None] - each) for each in (found.circular_coordinate(), day))
    # Winters and summers are short on the ring, springs long: the order counts.
    assert abs((a * b).sum()) > 0.6 * np.sqrt((a**2).sum() * (b**2).sum())


# What is said, drawn and refused ------------------------------------------------------------------


def test_the_record_says_what_it_counts():
    found = ikd_graph.topology(sample(circle(80)[1]), voids=False)
    assert found.n_loops == found.betti_numbers[1] == 1
    assert found.sentence.endswith(": time of day, heading, cell cycle?")
    assert repr(found) == "\n".join(found.sentences())
    assert repr(found).startswith("one connected component\none loop, p = 0.000")
    assert [*found.features] == ["degree", "of", "birth", "death", "p_value", "rows"]


@pytest.mark.parametrize("X", [nx.cycle_graph(6), nx.complete_graph(5)])
def test_a_graph_is_drawn(X):
    figure = ikd_graph.topology(X).plot().figure
    figure.draw_without_rendering()


def test_three_panels_are_drawn():
    found = ikd_graph.topology(sample(circle(80)[1]))
    ax = found.plot()
    assert ax.get_xlabel() == "dissimilarity"
    assert len(ax.lines) > 5
    whole = [each for each in ax.figure.axes if each.get_xlabel() == "dimension 1"]
    assert [len(each.lines) for each in whole] == [1, 0]
    no_loop = ikd_graph.topology(load_iris().data, voids=False).plot()
    no_loop.figure.draw_without_rendering()


def test_a_missing_extra_is_one_line_with_the_cure(monkeypatch):
    known = builtins.__import__

    def without(name, *args, **options):
        if name == "ripser":
            raise ImportError("No module named 'ripser'")
        return known(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'^topology needs ripser.*"ikd_graph\[topology\]"$'):
        ikd_graph.topology(np.random.default_rng(0).normal(size=(20, 3)))


def test_what_has_no_topology_is_refused_with_a_cure():
    X = np.random.default_rng(0).normal(size=(30, 5))
    with pytest.raises(ValueError, match=r"number of rows of X must be .* 4"):
        ikd_graph.topology(X[:3])
    with pytest.raises(ValueError, match="looked at as it is"):
        ikd_graph.topology(nx.cycle_graph(5), graph=0.5)
    with pytest.raises(ValueError, match="number of nodes must be an integer at least 4, got 0"):
        ikd_graph.topology(nx.Graph())
    with pytest.raises(ValueError, match=r"must have at most 1.000 nodes .*voids=False"):
        ikd_graph.topology(nx.path_graph(1200))
    with pytest.raises(ValueError, match="weights of edges must be positive"):
        ikd_graph.topology(nx.Graph([(k, (k + 1) % 4, {"weight": -1.0}) for k in range(4)]))
    with pytest.raises(ValueError, match="n_components must be"):
        ikd_graph.topology(X, n_components=0)
    with pytest.raises(ValueError, match="missing values"):
        ikd_graph.topology(np.where(X > 2, np.nan, X))


def test_there_is_no_angle_without_a_loop_and_no_error_without_a_model():
    none = ikd_graph.topology(np.random.default_rng(0).normal(size=(60, 2)), voids=False)
    with pytest.raises(ValueError, match="must have a loop"):
        none.circular_coordinate()
    ring = ikd_graph.topology(sample(circle(80)[1]), voids=False)
    with pytest.raises(ValueError, match="k must be"):
        ring.circular_coordinate(1)
    with pytest.raises(ValueError, match="fitted model with standard errors"):
        ring.circular_coordinate(return_std=True)


@pytest.mark.parametrize("weight", [0.3, 0.7, 1.0])
def test_nodes_of_a_cycle_go_around_whatever_its_edges_weigh(weight):
    ring = nx.cycle_graph(6)
    nx.set_edge_attributes(ring, weight, "weight")
    angle = ikd_graph.topology(ring).circular_coordinate()
    steps = np.angle(np.exp(1j * np.diff(angle)))
    np.testing.assert_allclose(np.abs(steps), np.pi / 3.0, atol=1e-6)


def test_a_loop_that_the_map_cuts_open_keeps_its_angles():
    angle = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 1100)
    rows = np.column_stack([np.cos(angle), np.sin(angle), np.sin(2.0 * angle)])
    for n in (1000, 1100):
        found = ikd_graph.topology(rows[:n], voids=False).circular_coordinate()
        agreed = [abs(np.mean(np.exp(1j * (found + sign * angle[:n])))) for sign in (1, -1)]
        assert max(agreed) > 0.98


def test_nodes_are_named_as_the_graph_names_them():
    rows = ikd_graph.topology(nx.cycle_graph(5)).features["rows"]
    assert sorted(rows[0]) == [0, 1, 2, 3, 4]


def test_pairs_that_are_not_known_are_never_joined():
    _, points = circle(60)
    away = np.linalg.norm(points[:, None] - points, axis=2)
    away[away > np.quantile(away, 0.4)] = 0.0
    found = ikd_graph.topology(sp.csr_array(away), affinity="precomputed_distance")
    assert found.betti_numbers[:2] == (1, 1)
    with pytest.raises(ValueError, match="must be square"):
        ikd_graph.topology(np.ones((20, 8)), affinity="precomputed")
