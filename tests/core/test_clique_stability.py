"""Cliques that stay, communities, and files for other programs."""

import json
import tracemalloc

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from sklearn.metrics import adjusted_rand_score

from ikd_graph import IKD, cliques, datasets, graph, inspect_cliques
from ikd_graph.cli import main


def modules(n_columns=200, seed=0, strength=0.5, n=40):
    """Three modules of six rows that correlate by ``strength``, the other rows unrelated."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)) * np.sqrt(1 - strength)
    X[:18] += np.sqrt(strength) * np.repeat(rng.normal(size=(3, n_columns)), 6, axis=0)
    X[18:] /= np.sqrt(1 - strength)
    return X


# Stability ----------------------------------------------------------------------------------------


def test_strong_modules_stay_and_chance_edges_do_not():
    found = cliques.stability(modules(strength=0.7), 0.18, n_resamples=50)
    low, high, _ = graph.edges(found.graph)
    within = (low // 6 == high // 6) & (high < 18)
    assert found.edges[within].min() > 0.99
    assert within.sum() < low.size
    assert found.edges[~within].mean() < 0.5
    assert found.expected(5) == 0.0 < found.expected(2)


def test_stability_is_what_fresh_columns_show():
    said, came = [], []
    for seed in range(8):
        # The truth is at the threshold: every edge above it is there by luck.
        X = modules(120, seed, strength=0.35, n=30)
        found = cliques.stability(X, 0.35, n_resamples=60, n_shifted=1)
        low, high, _ = graph.edges(found.graph)
        fresh = (modules(120, 100 + 10 * seed + k, strength=0.35, n=30) for k in range(10))
        said.append(found.edges)
        came.append(np.mean([np.corrcoef(Y)[low, high] > 0.35 for Y in fresh], axis=0))
    # The frequency of halves alone is .77.
    assert abs(np.concatenate(said).mean() - np.concatenate(came).mean()) < 0.15


def test_null_tables_have_as_many_cliques_as_expected():
    counts = []
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(50, 60))
        found = cliques.stability(X, 0.25, n_resamples=2)
        counts.append((len(found.cliques), found.expected(2)))
    observed, expected = np.mean(counts, axis=0)
    assert observed < 1.15 * expected
    assert expected < 1.15 * observed


def test_columns_that_follow_in_time_are_taken_in_runs():
    # Each value four times: as many columns, a quarter of the knowledge.
    X = modules(60, strength=0.45)
    once = cliques.stability(X, 0.4, n_resamples=80)
    repeated = cliques.stability(np.repeat(X, 4, axis=1), 0.4, n_resamples=80)
    assert repeated.n_columns < 120
    assert abs(repeated.edges.mean() - once.edges.mean()) < 0.15


@pytest.mark.parametrize("rule", [0.3, 5, lambda corr: graph.threshold(corr, 0.3)])
def test_rules_make_the_graph_that_they_name(rule):
    X = modules()
    found = cliques.stability(X, rule, n_resamples=5, n_shifted=2)
    corr = np.corrcoef(X)
    expected = graph.neighbors(corr, 5) if rule == 5 else graph.threshold(corr, 0.3)
    assert {tuple(pair) for pair in zip(*graph.edges(found.graph)[:2], strict=True)} == {
        tuple(pair) for pair in zip(*graph.edges(expected)[:2], strict=True)
    }
    assert found.edges.shape == (expected.n_edges,)


def test_a_clique_stays_no_more_often_than_its_weakest_edge():
    found = cliques.stability(modules(100), 0.3, n_resamples=40, n_shifted=1)
    weight = found.weighted()
    stays = graph.to_sparse(weight).toarray()
    for members, value in zip(found.cliques, found.of_cliques, strict=True):
        pairs = stays[np.ix_(members, members)][np.triu_indices(members.size, 1)]
        assert value <= pairs.min() + 1e-12


def test_given_graphs_and_cliques_are_followed():
    X = modules()
    g = graph.threshold(np.corrcoef(X), 0.3)
    found = cliques.stability(X, g, n_resamples=5, cliques=[[0, 1, 2]], n_shifted=1)
    assert found.graph is g
    assert found.of_cliques.tolist() == [1.0]
    table = found.to_pandas([f"row {k}" for k in range(40)])
    assert table.members.tolist() == ["row 0, row 1, row 2"]
    with pytest.raises(ValueError, match="cliques must be those of the graph"):
        cliques.stability(X, g, n_resamples=2, cliques=[[0, 30]], n_shifted=1)


@pytest.mark.parametrize("bad", [0.0, 1.5, -1, True, "strong", None])
def test_a_graph_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="graph must"):
        cliques.stability(modules(), bad)


def test_two_rows_and_equal_rows_are_no_obstacle():
    rng = np.random.default_rng(0)
    two = rng.normal(size=60) + 0.3 * rng.normal(size=(2, 60))
    assert cliques.stability(two, 0.5, n_resamples=20).of_cliques.tolist() == [1.0]
    equal = np.vstack([two, two, rng.normal(size=(5, 60))])
    found = cliques.stability(equal, 0.5, n_resamples=20)
    assert found.of_cliques[found.cliques.sizes == 4].tolist() == [1.0]
    with pytest.raises(ValueError, match="at least 2 rows, got 1"):
        cliques.stability(two[:1], 0.5)
    with pytest.raises(ValueError, match="at least 8 columns"):
        cliques.stability(two[:, :5], 0.5)


def test_a_graph_without_edges_is_stable():
    found = cliques.stability(modules(60), 0.999, n_resamples=5, n_shifted=2)
    assert len(found.cliques) == found.edges.size == found.of_cliques.size == 0


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_stability_does_not_depend_on_the_unit(unit):
    X = modules(60)
    there, here = (cliques.stability(t, 0.3, n_resamples=9, n_shifted=2) for t in (X, X * unit))
    np.testing.assert_allclose(here.edges, there.edges)
    assert here.expected_false == there.expected_false


def test_what_a_function_must_return_is_said():
    X = modules(60)
    with pytest.raises(ValueError, match="must be or return a CsrGraph of 40 points, got nd"):
        cliques.stability(X, lambda corr: corr > 0.3)
    with pytest.raises(ValueError, match="of 40 points, got one of 5"):
        cliques.stability(X, lambda corr: graph.threshold(corr[:5, :5], 0.3))


def test_a_graph_is_no_list_of_cliques():
    g = graph.threshold(np.corrcoef(modules(60)), 0.3)
    with pytest.raises(TypeError, match=r"got CsrGraph; pass cliques.maximal_cliques\(graph\)"):
        cliques.communities(g)
    cliques.communities(cliques.maximal_cliques(g))


@pytest.mark.parametrize(
    ("levels", "scales", "past", "least"),
    [(0.0, 0.5, 0.0, 1.0), (0.0, 0.7, 0.0, 5.0), (0.4, 0.0, 0.0, 10.0), (0.0, 0.6, 0.6, 5.0)],
)
def test_false_cliques_are_as_many_as_unrelated_rows_have(levels, scales, past, least):
    """Columns of unequal level and scale, or that follow one another, make rows correlate."""
    found, expected = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = lfilter([1.0], [1.0, -past], rng.normal(size=(50, 200)), axis=1)[:, 50:]
        X = (X + levels * rng.normal(size=150)) * np.exp(scales * rng.normal(size=150))
        stable = cliques.stability(X, 0.25, n_resamples=2)
        found.append(int((stable.cliques.sizes >= 3).sum()))
        expected.append(stable.expected(3))
    assert np.mean(found) > least
    assert np.mean(expected) == pytest.approx(np.mean(found), rel=0.3)


def test_what_some_rows_share_is_no_level_of_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 100))
    X[:25] += rng.normal(size=100)
    stable = cliques.stability(X, 0.3, n_resamples=2)
    assert stable.cliques.sizes.max() > 10
    assert stable.expected(3) < 2.0


# Communities --------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_communities_are_those_of_networkx(k):
    for seed in range(50):
        G = nx.gnp_random_graph(25, 0.15 + 0.1 * k, seed=seed)
        found = cliques.communities(cliques.maximal_cliques(graph.as_graph(G, weight=None)), k)
        expected = {frozenset(c) for c in nx.community.k_clique_communities(G, k)}
        assert {frozenset(members.tolist()) for members in found} == expected
        assert len(found) == len(expected)
        assert [m.size for m in found] == sorted((m.size for m in found), reverse=True)


def test_communities_of_many_cliques_do_not_hold_all_pairs_of_them():
    fan = [[0, 1, point] for point in range(2, 5002)]
    tracemalloc.start()
    found = cliques.communities(fan, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [members.size for members in found] == [5002]
    assert peak < 5e8


def test_communities_are_compared_with_labels():
    X = modules(400, strength=0.6)
    found = cliques.communities(cliques.maximal_cliques(graph.threshold(np.corrcoef(X), 0.3)))
    labels = [f"m{k // 6}" if k < 18 else None for k in range(40)]
    score = found.compare(labels)
    assert score == {"adjusted_rand": 1.0, "purity": 1.0, "covered": 1.0}
    shuffled = np.random.default_rng(0).permutation(labels[:18]).tolist() + labels[18:]
    assert found.compare(shuffled)["adjusted_rand"] == pytest.approx(
        adjusted_rand_score(shuffled[:18], found.labels[:18])
    )
    table = found.to_pandas(labels=labels)
    assert table.labels.tolist() == ["m0 × 6", "m1 × 6", "m2 × 6"]


def test_no_large_cliques_are_no_communities():
    found = cliques.communities(cliques.Cliques([[0, 1], [2, 3]], 5), k=3)
    assert (len(found), repr(found)) == (0, "0 communities of 3-cliques, 0 of 5 points")
    assert found.labels.tolist() == [-1] * 5
    assert found.compare(list("aabbc"))["covered"] == 0.0


# Files --------------------------------------------------------------------------------------------


@pytest.fixture
def exported():
    X = modules()
    found = cliques.stability(X, 0.3, n_resamples=5, n_shifted=1)
    names = [f"row & <{k}> é\x1b[31m" for k in range(40)]
    nodes = {"kind": np.repeat(["a", "b"], 20), "x": np.arange(40) / 2.0, "n": np.arange(40)}
    return found, {"names": names, "stability": found, "nodes": nodes}


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_exports_are_opened_again_with_all_attributes(exported, ending, tmp_path):
    found, attributes = exported
    path = cliques.export(tmp_path / f"g.{ending}", found.graph, **attributes)
    read = nx.read_graphml if ending == "graphml" else nx.read_gexf
    G = read(path, node_type=int)
    assert set(G) == set(range(40))
    low, high, weights = graph.edges(found.graph)
    assert G.number_of_edges() == low.size
    for a, b, weight, stays in zip(low, high, weights, found.edges, strict=True):
        data = G.edges[int(a), int(b)]
        assert (data["weight"], data["stability"]) == (weight, stays)
    data = G.nodes[3]
    assert (data["kind"], data["x"], data["n"]) == ("a", 1.5, 3)
    assert data["name"] == "row & <3> é\\x1b[31m"
    if ending == "gexf":
        assert data["label"] == data["name"]


@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("tsv", "\t")])
def test_a_list_of_edges_is_a_table(exported, ending, separator, tmp_path):
    found, attributes = exported
    path = cliques.export(tmp_path / f"g.{ending}", found.graph, **attributes)
    table = pd.read_csv(path, sep=separator)
    assert table.columns.tolist() == ["source", "target", "weight", "stability"]
    loops = table.source == table.target
    np.testing.assert_allclose(table.weight[~loops], graph.edges(found.graph)[2])
    # Points without edges are not lost.
    assert (table.weight[loops] == 1.0).all()
    assert {*table.source, *table.target} == {*attributes["names"]}
    assert table.source[0] == attributes["names"][0]


def test_equal_names_stay_apart_in_networkx():
    pair = graph.from_edges(2, np.array([0]), np.array([1]), np.array([0.9]))
    G = graph.to_networkx(pair, names=["same", "same"])
    assert dict(G.nodes(data="name")) == {0: "same", 1: "same"}
    with pytest.raises(ValueError, match="names must be one for each of 2 nodes"):
        graph.to_networkx(pair, names=["one"])


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("g.dot", {}, "the end of path must be one of '.graphml'"),
        ("g.gexf", {"names": ["a"]}, "names must be one for each of 40 points"),
        ("g.gexf", {"nodes": {"x": [1]}}, "x must be one for each of 40 points"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    name, change, message, exported, tmp_path
):
    found, _ = exported
    with pytest.raises(ValueError, match=message):
        cliques.export(tmp_path / name, found.graph, **change)
    assert not list(tmp_path.iterdir())
    other = graph.threshold(np.corrcoef(modules(seed=5)), 0.15)
    with pytest.raises(ValueError, match="stability must be that of this graph"):
        cliques.export(tmp_path / "g.gexf", other, stability=found)


# Command and page ---------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    frame = pd.DataFrame(modules(96, strength=0.6)).add_prefix("c")
    frame.insert(0, "row", [f"gene {k}" for k in range(40)])
    frame["kind"] = [f"m{k // 6}" if k < 18 else "none" for k in range(40)]
    frame.to_csv(tmp_path / "genes.csv", index=False)
    return tmp_path


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_command_tells_what_stays_and_exports_it(table, capsys):
    given = ["cliques", str(table / "genes.csv"), "-o", str(table), "--quiet", "--labels", "kind"]
    flags = ["--graph", "0.3", "--stability", "30", "--export", "graphml"]
    assert main([*given, *flags]) == 0, capsys.readouterr().err
    listed = pd.read_csv(table / "genes_cliques.csv")
    assert listed.stability.between(0.0, 1.0).all()
    strong = listed[listed.member == "gene 0"]
    assert strong.stability.max() > 0.8
    record = json.loads((table / "genes_cliques.json").read_text())
    assert record["communities"][0]["labels"] == {"m0": 6}
    assert all(0.0 <= clique["stability"] <= 1.0 for clique in record["cliques"])
    G = nx.read_graphml(table / "genes_graph.graphml", node_type=int)
    assert {data["name"] for _, data in G.nodes(data=True)} == {f"gene {k}" for k in range(40)}
    assert G.nodes[0]["kind"] == "m0"
    assert all(0.0 <= stays <= 1.0 for *_, stays in G.edges(data="stability"))
    page = (table / "genes_cliques.html").read_text()
    assert "expected_false" in page
    assert "adjusted Rand index 1.00" in page


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_an_exported_list_of_edges_is_the_same_graph_again(table, capsys, ending):
    def run(file, *flags):
        given = ["cliques", str(table / file), "-o", str(table), "--json", "--export", ending]
        assert main([*given, *flags]) == 0, capsys.readouterr().err
        record = json.loads(capsys.readouterr().out)
        found, name = record["cliques"], f"{record['data']['name']}_graph.{ending}"
        sizes = {key: found[key] for key in ("n_points", "n_edges", "components")}
        edges = pd.read_csv(table / name, sep=None, engine="python")
        pairs = map(frozenset, zip(edges.source, edges.target, strict=True))
        weights = dict(zip(pairs, edges.weight, strict=True))
        return sizes, {frozenset(each["members"]) for each in found["cliques"]}, weights

    first = run("genes.csv", "--drop", "kind", "--affinity", "correlation", "--graph", "0.4")
    file = f"genes_graph.{ending}"
    assert first[0]["components"]["count"] > 2
    assert run(file) == first
    for flags in (["--affinity", "correlation"], ["--graph", "5"], ["--signed"]):
        assert main(["cliques", str(table / file), *flags]) == 2
        assert "as it is" in (said := capsys.readouterr().err) or "--affinity must be" in said
    assert main(["embed", str(table / file)]) == 2
    assert "got a list of edges; --edges (of cliques) takes it" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_stability_is_that_of_correlations_alone():
    data = datasets.half_moons(60)
    model = IKD(strategy="blockwise", affinity="cosine", graph=0.9, refine=None).fit(data.X + 2)
    with pytest.raises(ValueError, match="stability is that of correlations, got affinity='cos"):
        inspect_cliques(model, stability=5)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "rule", [5, graph.Threshold(0.3, n_neighbors=3), graph.Threshold(fdr=0.05)]
)
def test_equal_rows_and_every_rule_have_their_stability(rule):
    X = modules(strength=0.6)
    data = datasets.Dataset(np.vstack([X, X[:4]]), name="table")
    model = IKD(strategy="blockwise", affinity="correlation", graph=rule, refine=None).fit(data.X)
    view = inspect_cliques(model, stability=10)
    assert view.stability.of_cliques.shape == (len(view.cliques),)


def test_labels_count_by_position_and_may_be_unknown():
    found = cliques.communities([[0, 1, 2], [1, 2, 3]], n_points=6)
    plain = ["a", "a", "a", "b", None, "c"]
    series = pd.Series(plain, index=[5, 4, 3, 2, 1, 0], dtype="string")
    assert found.compare(series) == found.compare(plain)
    assert found.to_pandas(labels=series).labels[0] == "a × 3, b × 1"


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_an_attribute_of_several_kinds_is_text(ending, tmp_path):
    g = graph.threshold(np.full((4, 4), 0.5), 0.2)
    mixed = np.array([1, 2.5, "a", True], dtype=object)
    path = cliques.export(tmp_path / f"g.{ending}", g, nodes={"x": mixed, "n": [1, 2, 3, 4.5]})
    read = nx.read_graphml if ending == "graphml" else nx.read_gexf
    nodes = read(path).nodes
    assert [nodes[str(k)]["x"] for k in range(4)] == ["1", "2.5", "a", "True"]
    assert [nodes[str(k)]["n"] for k in range(4)] == [1.0, 2.0, 3.0, 4.5]
