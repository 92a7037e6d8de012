"""Cliques of windows of columns that are times."""

import networkx as nx
import numpy as np
import pytest

from ikd_graph import cliques, graph
from ikd_graph.cli import main


def switching(seed=0, n=24):
    """Rows 0 to 5 move together for 300 columns, rows 6 to 11 from column 200 on, of 500."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 500))
    X[:6, :300] += 1.5 * rng.normal(size=300)
    X[6:12, 200:] += 1.5 * rng.normal(size=300)
    return X


def test_cliques_appear_stay_and_vanish():
    found = cliques.over_time(switching(), 0.45, window=100, step=100)
    story = {}
    for one in found.followed:
        story.setdefault(tuple(one.members.tolist()), []).append((one.window, one.status))
    assert story[0, 1, 2, 3, 4, 5] == [
        (0, "appears"),
        (1, "stays"),
        (2, "stays"),
        (3, "vanishes"),
    ]
    assert story[6, 7, 8, 9, 10, 11] == [(2, "appears"), (3, "stays"), (4, "stays")]
    numbers = {one.clique for one in found.followed if 0 in one.members}
    assert len(numbers) == 1


def test_counts_are_those_of_each_window_alone():
    X = switching(1)
    found = cliques.over_time(X, 0.3, window=120, step=90)
    assert found.starts.tolist() == [0, 90, 180, 270, 360]
    for k, (start, stop) in enumerate(zip(found.starts, found.stops, strict=True)):
        part = X[:, start:stop]
        g = graph.threshold(np.corrcoef(part), 0.3)
        assert found.n_edges[k] == g.n_edges
        assert found.n_significant[k] == graph.significant_graph(part).n_edges
        listed = [c for c in nx.find_cliques(graph.to_networkx(g)) if len(c) >= 3]
        assert found.n_cliques[k] == len(listed)


def test_the_table_has_names():
    found = cliques.over_time(switching(), 0.45, window=100, step=100)
    table = found.to_pandas([f"row {k}" for k in range(24)])
    assert table.members[0] == "row 0, row 1, row 2, row 3, row 4, row 5"
    assert table[["start", "stop", "size"]].iloc[0].tolist() == [0, 100, 6]
    with pytest.raises(ValueError, match="names must be one for each of 24 points"):
        found.table(["a"])


@pytest.mark.parametrize(("window", "step"), [(501, 10), (4, 10), (100, 0)])
def test_windows_that_do_not_fit_are_refused(window, step):
    with pytest.raises(ValueError, match="must be an integer"):
        cliques.over_time(switching(), 0.4, window, step)


def test_one_graph_is_no_rule_of_windows():
    X = switching()
    with pytest.raises(ValueError, match="must make a graph of each window, got CsrGraph"):
        cliques.over_time(X, graph.threshold(np.corrcoef(X), 0.3), 100, 50)
    with pytest.raises(ValueError, match="must return a CsrGraph of 24 points, got ndarray"):
        cliques.over_time(X, lambda corr: corr, 100, 50)


def test_rows_that_are_constant_in_a_window_are_named_with_it():
    X = switching()
    X[3, 90:210] = 1.0
    with pytest.raises(ValueError, match=r"1 constant row\(s\) in columns 100 to 199: 3; drop"):
        cliques.over_time(X, 0.3, 100, 100)
    X[3] = 1.0
    with pytest.raises(ValueError, match=r"1 constant row\(s\): 3; drop them$"):
        cliques.stability(X, 0.3, 5)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--stability 1", "--stability must be an integer at least 2, got 1"),
        ("--stability 9 --affinity cosine", "--stability must be of correlations"),
        ("--stability 9 --missing pairwise", "--stability must have complete rows"),
        ("--stability 9", "got 1 constant row(s): 3; drop them, or leave --stability out"),
    ],
)
def test_flags_of_correlations_are_refused_by_their_names(words, told, tmp_path, capsys):
    X = switching()[:, :60]
    X[3] = 1.0
    np.savetxt(tmp_path / "table.csv", X, delimiter=",")
    out = tmp_path / "out"
    assert main(["cliques", str(tmp_path / "table.csv"), *words.split(), "-o", str(out)]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
    assert not out.exists()
