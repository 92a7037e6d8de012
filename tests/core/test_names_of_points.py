"""Points that have names: graphs and frames of pairs go with the rows of these names."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

import ikd_graph
from ikd_graph import IKD, cliques, datasets, graph, inspect_cliques, metrics
from ikd_graph.metrics import affine_r2
from ikd_graph.plotting import plot

N = 60
ROWS = {"strategy": "geodesic", "refine": None, "affinity": "correlation"}


def sheet(seed=0):
    """Points of a plane, and a smooth table of them with noise."""
    rng = np.random.default_rng(seed)
    plane = rng.uniform(0, 1, (N, 2))
    X = np.sin(2.0 * plane @ rng.normal(size=(2, 200)) + rng.uniform(0, 6, 200))
    return plane, X + 0.05 * rng.normal(size=X.shape)


def network(names, seed=0):
    """Strong correlations of the rows of a sheet, added edge by edge in a random order."""
    corr = np.corrcoef(sheet(seed)[1])
    low, high = np.nonzero(np.triu(corr > 0.6, 1))
    G = nx.Graph()
    for k in np.random.default_rng(1).permutation(len(low)):
        G.add_edge(names[low[k]], names[high[k]], weight=float(corr[low[k], high[k]]))
    assert list(G) != [*names]
    return G


def shuffled(names, seed=2):
    return [names[k] for k in np.random.default_rng(seed).permutation(len(names))]


NAMES = {
    "text": [f"cell{k}" for k in range(N)],
    "from 1": list(range(1, N + 1)),
    "numbers with gaps": list(range(0, 7 * N, 7)),
    "text of numbers": [str(k) for k in range(1, N + 1)],
}


@pytest.mark.parametrize("kind", NAMES)
def test_a_graph_goes_with_rows_of_the_same_names_in_any_order(kind):
    plane, X = sheet()
    frame = pd.DataFrame(X, index=NAMES[kind]).loc[shuffled(NAMES[kind])]
    Z = IKD(graph=network(NAMES[kind]), **ROWS).fit_transform(frame)
    truth = pd.DataFrame(plane, index=NAMES[kind]).loc[frame.index].to_numpy()
    assert affine_r2(truth, Z) > 0.98
    renamed = nx.relabel_nodes(
        network(NAMES[kind]), {name: k for k, name in enumerate(frame.index)}
    )
    numbered = IKD(graph=renamed, **ROWS)
    np.testing.assert_allclose(Z, numbered.fit_transform(frame.to_numpy()), atol=1e-10)


@pytest.mark.parametrize(
    "names",
    [
        list(range(N)), list(range(1, N + 1)), [str(k) for k in range(N)],
        [float(k) for k in range(N)],
    ],
)  # fmt: skip
def test_whole_numbers_without_gaps_are_in_numerical_order(names):
    plane, X = sheet(3)
    for rows in (X, pd.DataFrame(X)):
        Z = IKD(graph=network(names, 3), **ROWS).fit_transform(rows)
        assert affine_r2(plane, Z) > 0.98
    G, C = network(names, 3), network(list(range(N)), 3)
    assert graph.as_graph(G).indices.tolist() == graph.as_graph(C).indices.tolist()
    assert [*map(list, cliques.cover(G, 3))] == [*map(list, cliques.cover(C, 3))]


def test_numbers_in_two_orders_are_refused_with_both_cures():
    plane, X = sheet()
    order = shuffled(list(range(N)))
    frame, G = pd.DataFrame(X, index=list(range(N))).loc[order], network(list(range(N)))
    with pytest.raises(ValueError, match=r"X\.loc.*relabel_nodes.*reset_index"):
        IKD(graph=G, **ROWS).fit(frame)
    assert affine_r2(plane, IKD(graph=G, **ROWS).fit_transform(frame.loc[sorted(G)])) > 0.98
    by_position = pd.DataFrame(X, index=order).reset_index(drop=True)
    assert affine_r2(plane, IKD(graph=G, **ROWS).fit_transform(by_position)) > 0.98


def test_names_that_no_row_has_are_refused():
    frame = pd.DataFrame(sheet()[1], index=[f"row {k}" for k in range(N)])
    with pytest.raises(ValueError, match=r"names of the rows.*'row 0'.*relabel_nodes"):
        IKD(graph=network(NAMES["text"]), **ROWS).fit(frame)


def test_nodes_from_0_are_counted_and_nodes_from_1_are_named():
    plane, X = sheet(3)
    frame = pd.DataFrame(X, index=[f"row {k}" for k in range(N)])
    Z = IKD(graph=network(list(range(N)), 3), **ROWS).fit_transform(frame)
    assert affine_r2(plane, Z) > 0.98
    with pytest.raises(ValueError, match="names of the rows"):
        IKD(graph=network(NAMES["from 1"], 3), **ROWS).fit(frame)


def test_a_graph_may_have_further_nodes():
    plane, X = sheet()
    frame = pd.DataFrame(X, index=NAMES["text"]).iloc[5:]
    Z = IKD(graph=network(NAMES["text"]), **ROWS).fit_transform(frame)
    assert affine_r2(plane[5:], Z) > 0.98


INDEXES = {
    **NAMES,
    "dates": pd.date_range("2020", periods=N),
    "levels": pd.MultiIndex.from_product([list("abcdef"), range(10)]),
    "mixed": [*range(5, 35), *(f"cell{k}" for k in range(30))],
}
FAST = {"strategy": "geodesic", "affinity": "euclidean", "refine": None}


def cliques_of(X, labels):
    found = ikd_graph.inspect_cliques(X, labels=labels, affinity="correlation", graph=0.6)
    return found.to_pandas()["labels"].tolist()


def colors_of(ax):
    return np.vstack([each.get_facecolor() for each in ax.collections])


@pytest.mark.parametrize("kind", INDEXES)
def test_labels_go_with_rows_of_the_same_names_in_any_order(kind):
    plane, X = sheet()
    frame = pd.DataFrame(X, INDEXES[kind])
    labels = pd.Series(np.where(plane[:, 0] > 0.5, "left", "right"), frame.index)
    wanted = cliques_of(frame, labels)
    order = np.random.default_rng(2).permutation(N)
    assert wanted != cliques_of(X, labels.to_numpy()[order])
    assert wanted == cliques_of(frame, labels.iloc[order]) == cliques_of(X, labels)
    assert wanted == cliques_of(frame, labels.to_numpy())
    more = pd.concat([labels, labels.set_axis([f"another {k}" for k in range(N)])])
    assert wanted == cliques_of(frame, more.iloc[::-1])


def test_names_of_one_kind_of_number_are_those_of_another():
    plane, X = sheet()
    labels = pd.Series(plane[:, 0] > 0.5, range(1, N + 1))
    wanted = cliques_of(X, labels.to_numpy())
    for index in (labels.index.astype(str), labels.index.astype(float)):
        assert cliques_of(pd.DataFrame(X, labels.index), labels.set_axis(index)[::-1]) == wanted


def test_labels_that_rows_do_not_have_are_refused_with_both_cures():
    X = sheet()[1]
    frame, labels = pd.DataFrame(X, NAMES["text"]), pd.Series(["a", "b"] * 30, NAMES["text"])
    counted = labels.reset_index(drop=True)
    cures = r"reindex labels to match by name, or pass labels\.to_numpy\(\) to go by position"
    for rows, wrong, what in (
        (frame, labels.rename({"cell3": "cell4"})[::-1], "'cell3', 'cell4' missing or twice"),
        (frame, labels[:-1], "'cell59' missing or twice"),
        (frame.reset_index(drop=True), counted[::-1], "the numbers from 0 in two orders"),
    ):
        with pytest.raises(ValueError, match=f"rows of X, each once, got {what}; {cures}"):
            cliques_of(rows, wrong)
    # Rows of arrays have no names, and none are needed where both are in one order.
    assert cliques_of(X, counted[::-1]) == cliques_of(X, counted.to_numpy()[::-1])
    twice = ["a"] * N
    assert cliques_of(frame.set_axis(twice), labels.set_axis(twice)) == cliques_of(X, counted)


def test_truth_and_labels_of_a_comparison_go_by_name():
    plane, X = sheet()
    frame, order = pd.DataFrame(X, NAMES["text"]), np.random.default_rng(2).permutation(N)
    truth = pd.DataFrame(plane, NAMES["text"])
    given = {"methods": ("geodesic",), "noise": 0.0, "refine": None}
    found = [
        ikd_graph.compare(frame, truth=one, labels=one[0], **given).rows[0]
        for one in (truth, truth.iloc[order])
    ]
    assert found[0].score == found[1].score > 0.9
    assert found[0].labels == found[1].labels


def test_rows_of_a_map_and_of_a_table_go_by_name():
    plane, X = sheet()
    frame, order = pd.DataFrame(X[:, :40], NAMES["text"]), np.random.default_rng(2).permutation(N)
    Z, errors = (pd.DataFrame(each, NAMES["text"]) for each in (plane, 0.01 + 0.0 * plane))
    where = Z[0] > 0.5
    plain = ikd_graph.columns(plane, frame.to_numpy(), errors=errors, where=where.to_numpy())
    found = ikd_graph.columns(
        Z, frame.iloc[order], errors=errors.iloc[order], where=where.iloc[order]
    )
    np.testing.assert_array_equal(found.r2, plain.r2)
    np.testing.assert_array_equal(found.fraction_se, plain.fraction_se)
    slopes = [ikd_graph.loadings(Z, X).values for X in (frame, frame.iloc[order])]
    np.testing.assert_array_equal(*slopes)
    model = IKD(**FAST).fit(frame)
    np.testing.assert_array_equal(
        model.columns(frame.iloc[order], maps=()).r2, model.columns(frame, maps=()).r2
    )
    with pytest.raises(ValueError, match="X must have the names of the rows of the fit"):
        model.columns(frame.add_prefix("x", axis=0))
    assert metrics.affine_r2(Z, Z.iloc[order]) == pytest.approx(1.0)


def test_colors_go_by_name():
    plane, X = sheet()
    frame, order = pd.DataFrame(X, NAMES["text"]), np.random.default_rng(2).permutation(N)
    color = pd.Series(plane[:, 0], NAMES["text"])
    model, Z = IKD(**FAST).fit(frame), pd.DataFrame(plane, NAMES["text"])
    for draw in (model.plot, lambda color: plot.embedding(Z, color)):
        np.testing.assert_array_equal(*(colors_of(draw(c)) for c in (color, color.iloc[order])))
    with pytest.raises(ValueError, match=r"names of the rows of the map.*color\.to_numpy\(\)"):
        model.plot(labels=color[:-1])


def test_colors_of_results_go_by_name():
    plane, X = sheet()
    frame, order = pd.DataFrame(X, NAMES["text"]), np.random.default_rng(2).permutation(N)
    Z, color = pd.DataFrame(plane, NAMES["text"]), pd.Series(plane[:, 0], NAMES["text"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        results = [
            IKD(**FAST).fit(frame).loadings(columns=[0]), ikd_graph.loadings(Z, frame, columns=[0]),
            ikd_graph.columns(Z, frame.iloc[:, :20]), ikd_graph.diagnose(frame),
            ikd_graph.compare(frame, ("geodesic",), noise=0.0, refine=None),
            ikd_graph.align([frame.iloc[:35], frame.iloc[35:]], columns="same", refine=None),
        ]  # fmt: skip
    for result in results:
        drawn = []
        for values in (color, color.iloc[order]):
            axes = result.plot(color=values).figure.axes
            drawn.append(np.vstack([colors_of(ax) for ax in axes if ax.collections]))
        np.testing.assert_array_equal(*drawn)


def test_coordinates_go_by_name():
    model = IKD(2, **FAST).set_output(transform="pandas")
    Z = model.fit_transform(sheet()[1])
    wanted = model.inverse_transform(Z)
    np.testing.assert_array_equal(model.inverse_transform(Z[["ikd1", "ikd0"]]), wanted)
    with pytest.raises(ValueError, match=r"names of the embedding.*Z\.to_numpy\(\)"):
        model.inverse_transform(Z.set_axis(["x", "y"], axis=1))


def test_rows_of_sessions_are_placed_by_names_of_their_columns():
    frame = pd.DataFrame(sheet()[1][:, :30]).add_prefix("c")
    halves = [frame[:35].reset_index(drop=True), frame[25:].reset_index(drop=True)]
    found, new = ikd_graph.align(halves, refine=None), frame[:5] + 0.01
    wanted = found.transform(0, new)
    np.testing.assert_array_equal(found.transform(0, new.iloc[:, ::-1]), wanted)
    np.testing.assert_array_equal(found.transform(0, new.to_numpy()), wanted)
    for wrong, what in ((new.iloc[:, 1:], "'c0' missing"), (new.assign(z=1.0), "got 31; pass")):
        with pytest.raises(ValueError, match=what):
            found.transform(0, wrong)
    turned = [halves[0], halves[1].iloc[:, ::-1]]
    again = ikd_graph.align(turned, columns="same", refine=None)
    np.testing.assert_array_equal(np.vstack(again.coordinates), np.vstack(found.coordinates))


def test_frames_of_pairs_with_other_names_in_rows_than_in_columns_are_refused():
    pairs = pd.DataFrame(squareform(pdist(sheet()[0])), NAMES["text"], NAMES["text"])
    given = {"affinity": "precomputed_distance", "strategy": "geodesic", "refine": None}
    with pytest.raises(ValueError, match="columns of pairs must have the names of their rows"):
        IKD(**given).fit(pairs.add_prefix("other "))
    model = IKD(**given).fit(pairs)
    new = pairs.add_prefix("new ", axis=0).iloc[:, ::-1]
    np.testing.assert_array_equal(model.transform(new), model.embedding_)


@pytest.mark.parametrize("affinity", ["precomputed", "precomputed_distance"])
def test_columns_of_a_frame_of_pairs_go_with_its_rows(affinity):
    plane, X = sheet()
    pairs = squareform(pdist(plane)) if "distance" in affinity else np.corrcoef(X)
    frame = pd.DataFrame(pairs, NAMES["text"], NAMES["text"])
    given = {"affinity": affinity, "strategy": "geodesic", "refine": None}
    wanted = IKD(**given).fit_transform(frame)
    moved = frame[shuffled(NAMES["text"])]
    np.testing.assert_array_equal(IKD(**given).fit_transform(moved), wanted)
    numbers = pd.DataFrame(pairs, range(N), range(N))[shuffled(list(range(N)))]
    with pytest.raises(ValueError, match=r"X\[X\.index\].*X\.to_numpy\(\)"):
        IKD(**given).fit(numbers)


@pytest.mark.parametrize("half", [np.tril, np.triu])
def test_no_cure_halves_a_triangle(half):
    T = half(np.corrcoef(sheet()[1]))
    for call in (IKD(affinity="precomputed").fit, lambda T: graph.threshold(T, 0.5)):
        with pytest.raises(ValueError, match=r"K \+ K.T - .* fills the empty triangle"):
            call(T)


@pytest.mark.parametrize("half", [np.tril, np.triu])
@pytest.mark.parametrize("settings", [{}, {"affinity": "precomputed"}])
def test_a_triangle_in_memory_has_the_words_of_a_file(half, settings):
    C = np.corrcoef(sheet()[1])
    D = pd.DataFrame(C).where(half(np.ones(C.shape)).astype(bool))
    for call in (IKD(**settings).fit, lambda D: inspect_cliques(D, **settings)):
        with pytest.raises(ValueError, match=r"both triangles.*D\.fillna\(D\.T\)"):
            call(D)
    np.testing.assert_allclose(D.fillna(D.T), C)


def test_correlations_that_are_fitted_as_rows_are_asked_about_once():
    corr = np.corrcoef(sheet()[1])
    given = {"strategy": "geodesic", "refine": None, "affinity": "euclidean", "graph": 8}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        IKD(**given).fit(corr)
    asked = [str(each.message) for each in heard if "affinity='precomputed'" in str(each.message)]
    assert len(asked) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IKD(**given).fit(sheet()[1])
        IKD(**{**given, "affinity": "precomputed"}).fit(corr)


@pytest.mark.parametrize("half", [np.tril, np.triu])
def test_a_triangle_in_a_file_is_not_imputed(half, tmp_path):
    D = squareform(pdist(sheet()[0]))
    frame = pd.DataFrame(np.where(half(np.ones(D.shape)), D, np.nan)).rename(columns="p{}".format)
    frame.to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(ValueError, match=r"both triangles.*D\.fillna\(D\.T\)") as error:
        datasets.load(str(tmp_path / "d.csv"))
    assert "impute" not in str(error.value)
