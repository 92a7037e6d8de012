"""`inspect_cliques`: what it is given, what it lists, and whether what it says is so."""

import re
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ikd_graph
from ikd_graph import IKD, cliques, datasets, graph, inspect_cliques
from ikd_graph.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def of_names(found):
    return {frozenset(members) for members in found.to_pandas().members}


def factors(n_turned=0, seed=0, n=24, n_columns=200):
    """Rows of three factors with the first ``n_turned`` rows of each negated, by names."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(3, n_columns)), n // 3, axis=0)
    X = X + 0.6 * rng.normal(size=X.shape)
    turned = np.arange(n) % (n // 3) < n_turned
    X[turned] *= -1.0
    names = [f"item {k}" for k in range(n)]
    return pd.DataFrame(X, names), [names[k] for k in np.flatnonzero(turned)]


@pytest.mark.parametrize("block", range(10))
def test_cliques_and_communities_are_those_of_networkx(block):
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        G = nx.gnp_random_graph(int(rng.integers(1, 30)), rng.uniform(0.02, 0.6), seed=seed)
        for a, b in G.edges:
            G.edges[a, b]["weight"] = float(rng.normal())
        G = nx.relabel_nodes(G, {k: f"n{k}" for k in G})
        found = inspect_cliques(G)
        expected = [c for c in nx.find_cliques(G) if len(c) > 1]
        assert of_names(found) == {frozenset(c) for c in expected}
        assert len(found.cliques) == len(expected) == found.n_maximal
        names = np.array(found.data.names, dtype=object)
        for k in (2, 3, 4):
            ours = {frozenset(names[each]) for each in cliques.communities(found.cliques, k)}
            assert ours == {*nx.community.k_clique_communities(G, k)}
        assert {frozenset(names[each]) for each in found.communities} == {
            *nx.community.k_clique_communities(G, 3)
        }
        for row in found.to_pandas().itertuples():
            weights = [G.edges[pair]["weight"] for pair in combinations(row.members, 2)]
            assert row.size == len(row.members)
            np.testing.assert_allclose([row.smallest, row.mean], [min(weights), np.mean(weights)])


def test_names_labels_and_communities_survive_graphml(tmp_path):
    G = nx.karate_club_graph()
    odd = ["a;b", "x, y", '"q"', "<tag>&", "Zürich", "", " blank ", "1", "new\nline", "bell\x07"]
    G = nx.relabel_nodes(G, dict(enumerate(odd)))
    clubs = [G.nodes[node]["club"] for node in G]
    found = inspect_cliques(G, labels=pd.Series(clubs, name="club"))
    again = nx.read_graphml(found.export(tmp_path / "club.graphml"), node_type=int)
    names = nx.get_node_attributes(again, "name")
    spelt = [str(node).replace("\x07", "\\x07") for node in found.data.names]
    assert [names[k] for k in range(34)] == spelt
    assert [again.nodes[k]["club"] for k in range(34)] == [
        G.nodes[next(v for v in G if str(v) == name)]["club"] for name in found.data.names
    ]
    for k in range(34):
        community = again.nodes[k]["community"]
        assert community == -1 or k in found.communities[community]
    whole = {(names[a], names[b], w) for a, b, w in again.edges(data="weight")}
    own = found.to_networkx()
    assert whole == {(spelt[a], spelt[b], w) for a, b, w in own.edges(data="weight")}
    assert own.number_of_edges() == G.number_of_edges()
    with pytest.raises(ValueError, match="the end of path must be"):
        found.export(tmp_path / "club.gml")


def test_graphs_come_as_they_are_and_need_no_weights():
    G = nx.path_graph(4)
    plain = inspect_cliques(G)
    assert plain.model is None
    assert plain.to_pandas()["mean"].tolist() == [1.0, 1.0, 1.0]
    matrix = sp.csr_array(nx.to_scipy_sparse_array(G, dtype=float) * 7.0)
    assert inspect_cliques(matrix).to_pandas().smallest.tolist() == [7.0, 7.0, 7.0]
    kept = inspect_cliques(graph.as_graph(G, weight=None))
    assert of_names(kept) == of_names(plain) == of_names(inspect_cliques(matrix))
    assert plain.plot().get_title() is not None
    assert "disagreement" not in plain.members()
    none = inspect_cliques(nx.empty_graph(3))
    assert "no two of 3 points are joined" in str(none)
    assert none.to_pandas().empty
    none.plot()
    with pytest.raises(ValueError, match="must be undirected"):
        inspect_cliques(nx.DiGraph(G))
    for options in ({"graph": 0.5}, {"stability": 5}, {"signed": True}):
        with pytest.raises(ValueError, match=f"got a Graph with {next(iter(options))}"):
            inspect_cliques(G, **options)


@pytest.mark.parametrize("copies", [0, 3])
def test_tables_similarities_and_models_have_the_cliques_of_their_graph(copies):
    table, _ = factors()
    if copies:
        twins = table.iloc[:copies].rename(index=lambda name: f"twin of {name}")
        table = pd.concat([table, twins]).sample(frac=1.0, random_state=0)
    corr = table.T.corr()
    reference = nx.Graph([pair for pair in combinations(table.index, 2) if corr.loc[pair] > 0.6])
    expected = {frozenset(c) for c in nx.find_cliques(reference)}
    settings = {"affinity": "correlation", "graph": 0.6}
    found = inspect_cliques(table, **settings)
    assert of_names(found) == expected
    assert found.n_links > 0
    assert f"has {len(expected)} maximal cliques" in found.answer[0]
    data = datasets.Dataset(table.to_numpy(), name="items", row_names=tuple(table.index))
    named = inspect_cliques(data, **settings)
    assert of_names(named) == expected
    assert named.answer[0].startswith("items has ")
    shuffled = corr.sample(frac=1.0, axis=1, random_state=1)
    assert of_names(inspect_cliques(shuffled, affinity="precomputed", graph=0.6)) == expected
    for strategy in ("blockwise", "geodesic"):
        model = IKD(strategy=strategy, refine=None, **settings).fit(table)
        of_model = inspect_cliques(model)
        assert {frozenset(table.index[each]) for each in of_model.cliques} == expected
        table_of_model = of_model.to_pandas()
        rows = np.asarray(corr)[np.ix_(of_model.cliques[0], of_model.cliques[0])]
        assert table_of_model.smallest[0] == pytest.approx(rows.min())
        assert of_model.levels.attrs["n_points"] == len(table)
        at = of_model.levels.threshold.searchsorted(0.6)
        assert of_model.levels.edges[at] == of_model.graph.n_edges


def test_no_clique_holds_a_link_between_components():
    table, _ = factors()
    model = IKD(strategy="blockwise", affinity="correlation", graph=0.6, refine=None).fit(table)
    low, high, _ = graph.edges(model.graph_)
    labels = model.component_labels_
    links = {frozenset(pair) for pair in zip(low, high, strict=True) if len({*labels[[*pair]]}) > 1}
    assert links

    def holding(found):
        pairs = ({frozenset(pair) for pair in combinations(each, 2)} for each in found)
        return sum(bool(links & each) for each in pairs)

    # What is solved may hold links, what is inspected does not.
    assert holding(model.cliques_) > 0
    assert holding(inspect_cliques(model).cliques) == 0


@pytest.mark.parametrize("seed", range(3))
def test_signed_turns_the_rows_that_are_reversed(seed):
    table, turned = factors(2, seed)
    corr = np.abs(table.T.corr())
    reference = nx.Graph([pair for pair in combinations(table.index, 2) if corr.loc[pair] > 0.5])
    expected = {frozenset(c) for c in nx.find_cliques(reference)}
    plain = {f"{k}": name for k, name in enumerate(table.index)}
    sparse = inspect_cliques(sp.csr_matrix(table.to_numpy()), graph=0.5, signed=True)
    assert {frozenset(plain[name] for name in each) for each in of_names(sparse)} == expected
    for X, options in ((table, {}), (table.T.corr(), {"affinity": "precomputed"})):
        found = inspect_cliques(X, graph=0.5, signed=True, **options)
        assert [found.data.names[row] for row in found.turned] == turned
        assert of_names(found) == expected
        assert f"Rows that were turned, their values negated: {', '.join(turned)}." in found.answer
        assert found.to_pandas().smallest.min() > 0.5
        nodes = found.to_networkx().nodes
        assert [nodes[k]["turned"] for k in range(24)] == [n in turned for n in table.index]
    assert of_names(inspect_cliques(table, affinity="correlation", graph=0.5)) != expected
    with pytest.raises(ValueError, match="signed rows are those of correlations, got affinity"):
        inspect_cliques(table, affinity="euclidean", signed=True)


def test_signed_rows_with_holes_are_turned_by_the_correlations_of_known_pairs():
    table, turned = factors(2)
    table = table.mask(np.random.default_rng(0).random(table.shape) < 0.2)
    corr = np.abs(table.T.corr())
    reference = nx.Graph([pair for pair in combinations(table.index, 2) if corr.loc[pair] > 0.5])
    found = inspect_cliques(table, graph=0.5, signed=True, missing="pairwise")
    assert [found.data.names[row] for row in found.turned] == turned
    assert of_names(found) == {frozenset(c) for c in nx.find_cliques(reference)}
    with pytest.raises(ValueError, match="contains NaN: got 24 rows with missing values"):
        inspect_cliques(table, graph=0.5, signed=True)


def test_the_answer_counts_what_is_there_and_what_chance_would_give():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    X[:6] += 2.0 * rng.normal(size=30)
    found = inspect_cliques(X, affinity="correlation", graph=0.25)
    reference = nx.from_numpy_array(np.triu(np.corrcoef(X), 1) > 0.25)
    sizes = [len(c) for c in nx.find_cliques(reference) if len(c) > 1]
    (first,) = found.answer
    assert first.startswith(f"The graph has {len(sizes)} maximal cliques of two points or more")
    assert f"the largest holds {max(sizes)}: 0, 1, 2, 3, 4, 5" in first
    assert f"; {sum(size >= 3 for size in sizes)} hold 3 points or more" in first
    null = []
    for _ in range(40):
        made = nx.from_numpy_array(np.triu(np.corrcoef(rng.normal(size=X.shape)), 1) > 0.25)
        null.append(sum(len(c) >= 3 for c in nx.find_cliques(made)))
    told = float(re.search(r"rows have ([\d.]+) in the mean", first)[1])
    assert told == pytest.approx(np.mean(null), rel=0.35)
    assert str(found).startswith("\n".join(found.answer))
    sure = inspect_cliques(X, affinity="correlation", graph=0.25, stability=20)
    stays = sure.to_pandas().query("size >= 3 and stability >= 0.8")
    assert f"of 3 points or more {len(stays)} would be there again" in sure.answer[1]


@pytest.mark.filterwarnings("ignore")  # of components
def test_links_between_components_are_no_level_of_chance():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(6, 200)), 8, axis=0) + 0.7 * rng.normal(size=(48, 200))
    found = inspect_cliques(X, affinity="correlation", graph=graph.Threshold(fdr=0.01))
    assert found.n_links > 0
    assert np.sum(found.cliques.sizes >= 3) >= 6
    assert found.expected_false.get(3, 0.0) < 0.5


@pytest.mark.filterwarnings("ignore:no two of 50 rows are correlated more than unrelated rows")
def test_chance_has_the_cliques_that_levels_of_columns_make():
    rng = np.random.default_rng(0)
    found = inspect_cliques(rng.normal(size=(50, 120)) + 0.7 * rng.normal(size=120))
    large = np.sum(found.cliques.sizes >= 3)
    assert large > 50
    assert found.expected_false[3] == pytest.approx(large, rel=0.25)


def test_rows_of_chance_are_turned_as_those_of_the_table_are():
    # Of unrelated rows there are as many cliques as chance is said to give, turned or not.
    for signed in (False, True):
        counted, told = [], []
        for seed in range(6):
            X = np.random.default_rng(seed).normal(size=(50, 30))
            found = inspect_cliques(X, affinity="correlation", graph=0.25, signed=signed)
            counted.append(np.count_nonzero(found.cliques.sizes >= 3))
            told.append(found.expected_false[3])
        error = np.hypot(np.std(counted), np.std(told)) / np.sqrt(6.0)
        assert abs(np.mean(counted) - np.mean(told)) < 3.0 * error


def test_beyond_the_limit_a_cover_is_listed_and_said_to_be_one():
    table, _ = factors()
    noisy = table + np.random.default_rng(1).normal(size=table.shape)
    found = inspect_cliques(noisy, affinity="correlation", graph=0.4, limit=5)
    assert not found.complete
    assert found.communities is None
    assert "has more than 5 maximal cliques" in found.answer[0]
    assert (
        f"; of {len(found.cliques)} that hold every joined point the largest holds"
        in found.answer[0]
    )
    assert found.summary["edge_coverage"] == 1.0


def test_the_command_says_nothing_of_joints_that_nobody_asked_for(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    np.save(tmp_path / "D.npy", np.linalg.norm(X[:, None] - X, axis=2))
    given = ["--affinity", "precomputed_distance", "--graph", "6"]
    assert main(["cliques", str(tmp_path / "D.npy"), "-o", str(tmp_path), *given]) == 0
    said = capsys.readouterr()
    assert "joints left open" not in said.out + said.err + (tmp_path / "D_cliques.html").read_text()
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 60)) + rng.normal(size=(60, 60))
    X[rng.random(X.shape) < 0.05] = np.nan
    np.save(tmp_path / "holes.npy", X)
    given = ["--missing", "pairwise", "--graph", "0.4"]
    assert main(["cliques", str(tmp_path / "holes.npy"), "-o", str(tmp_path), *given]) == 0
    assert "joint" not in capsys.readouterr().out


def test_the_command_turns_rows_and_answers_as_the_record_does(tmp_path, capsys):
    table, turned = factors(2)
    table.to_csv(tmp_path / "items.csv")
    flags = ["--signed", "--graph", "0.5", "-o", str(tmp_path)]
    assert main(["cliques", str(tmp_path / "items.csv"), *flags]) == 0
    said = capsys.readouterr().out
    data = datasets.load(str(tmp_path / "items.csv"))
    answer = inspect_cliques(data, graph=0.5, signed=True).answer
    assert "\n".join(answer) in said
    assert turned[0] in answer[-1]
    assert answer[0] in (tmp_path / "items_cliques.html").read_text()


def test_it_is_a_name_of_the_package():
    assert "inspect_cliques" in dir(ikd_graph)
    assert ikd_graph.inspect_cliques is inspect_cliques


def test_a_graph_without_edges_has_a_stability():
    noise = np.random.default_rng(0).normal(size=(30, 40))
    found = inspect_cliques(noise, graph=0.95, stability=2)
    assert found.stability.edges.shape == (0,)
    assert "edges that stay" not in str(found)
    assert len(found.to_pandas()) == 0


def test_signed_pairs_that_are_none_are_refused_as_a_fit_refuses_them():
    corr = np.corrcoef(factors()[0])
    for X in (corr * (1.0 - np.eye(24)), np.tril(corr), np.where(np.tril(corr) != 0, corr, np.nan)):
        said = []
        for signed in (False, True):
            with pytest.raises(ValueError, match=";") as error:
                inspect_cliques(X, affinity="precomputed", signed=signed)
            said.append(str(error.value))
        assert said[0] == said[1]
