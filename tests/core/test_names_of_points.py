"""Points that have names: graphs and frames of pairs go with the rows of these names."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from ikd_graph import IKD, cliques, datasets, graph, inspect_cliques
from ikd_graph.metrics import affine_r2

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
    "names", [list(range(N)), list(range(1, N + 1)), [str(k) for k in range(N)]]
)
@pytest.mark.parametrize("index", [None, [f"row {k}" for k in range(N)]])
def test_whole_numbers_without_gaps_are_in_numerical_order(names, index):
    plane, X = sheet(3)
    frame = pd.DataFrame(X, index=index)
    for rows in (X, frame):
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
    K = D.fillna(-1.0)
    with pytest.raises(ValueError, match=r"numpy\.where\(K == -1\.0, K\.T, K\) fills"):
        IKD(affinity="precomputed").fit(K)
    np.testing.assert_allclose(np.where(K == -1.0, K.T, K), C)


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
