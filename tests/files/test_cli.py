"""The command line, called as the console script calls it."""

import csv
import inspect
import json
import re
import shlex
import subprocess
import sys
import warnings
from html import unescape

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from commands import without_stages

from ikd_graph import IKD, datasets, graph, missing, refine, strategies
from ikd_graph.cli import main, objects
from ikd_graph.cli.parser import METHOD, build_parser, flags_of
from ikd_graph.jobs.diagnose import diagnose
from ikd_graph.kernels import Matern, RationalQuadratic
from ikd_graph.metrics import affine_r2, knn_accuracy
from ikd_graph.report import page

N_POINTS, N_FEATURES = 36, 24


def made_data(seed=0):
    """Points on a line of two bends, seen through smooth random functions."""
    rng = np.random.default_rng(seed)
    at = np.linspace(0, 6, N_POINTS)[:, None]
    X = np.sin(at * rng.uniform(0.5, 1.5, N_FEATURES) + rng.uniform(0, 6, N_FEATURES))
    return X + 0.01 * rng.normal(size=X.shape), np.array(["low", "high"])[
        (at[:, 0] > 3).astype(int)
    ]


@pytest.fixture
def table(tmp_path):
    X, labels = made_data()
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"gene{k}" for k in range(N_FEATURES)), "label"])
        writer.writerows([*row, name] for row, name in zip(X.tolist(), labels, strict=True))
    return path


def run(*arguments):
    return main([str(part) for part in arguments])


def one_line(capsys):
    said = without_stages(capsys.readouterr().err)
    assert said.count("\n") == 1
    return said


def test_embed_writes_coordinates_picture_and_report(table, tmp_path, capsys):
    out = tmp_path / "deep" / "results"
    assert run("embed", table, "-o", out, "--strategy", "eigen") == 0
    said = capsys.readouterr()
    names = ["table_columns.csv", "table_embedding.csv"]
    names += ["table_embedding.png", "table_report.html"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert all(str(out / name) in said.out for name in names)
    # The answer, the files, one command, and then all else.
    told = [said.out.index(text) for text in ("table: ", "How far to trust", "Wrote", "Details")]
    assert told == sorted(told)
    assert f"{N_POINTS} points of {N_FEATURES} columns" in said.out
    assert (out / names[2]).read_bytes().startswith(b"\x89PNG")
    html = (out / names[3]).read_text(encoding="utf-8")
    assert "embed" in html
    assert "--strategy eigen" in html
    assert html.count('"type":"scatter","mode":"markers"') == len(set(made_data()[1]))
    assert "What to do next" in html
    assert "ikd-graph diagnose" in html
    assert "data:image/png;base64," in html


def test_the_coordinates_of_embed_are_those_of_the_estimator(table, tmp_path, capsys):
    assert run("embed", table, "-o", tmp_path, "-q", "--components", 3, "--graph", 5) == 0
    assert capsys.readouterr() == ("", "")
    with (tmp_path / "table_embedding.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    X, labels = made_data()
    expected = IKD(3, graph=5).fit_transform(X)
    assert head == ["row", "ikd0", "ikd1", "ikd2", "dubious_p", "label"]
    assert [row[-1] for row in rows] == labels.tolist()
    np.testing.assert_array_equal([[float(c) for c in row[1:4]] for row in rows], expected)


SLIPS = {
    "embd digits": "'embed'",
    "embed digit": "'digits'",
    "embed digits --strategie eigen": "'--strategy'",
    "embed digits --lables kind": "'--labels'",
    "embed digits --strategy geodesik": "'geodesic'",
    "embed digits --kernel matem": "'matern'",
    "embed digits --impute medan": "'median'",
    "embed tabel.csv": "'table.csv'",
    "embed table.csv --labels gene02": "'gene2'",
    "embed table.csv --drop gene02": "'gene2'",
}


@pytest.mark.parametrize("words", SLIPS)
def test_what_a_misspelt_word_may_mean_is_said(words, table, monkeypatch, capsys):
    monkeypatch.chdir(table.parent)
    assert run(*words.split()) == 2
    assert f"; did you mean {SLIPS[words]}?" in one_line(capsys)


def test_no_command_and_a_wrong_flag_end_with_two(capsys):
    assert run() == 2
    assert run("embed", "digits", "--no-such-flag") == 2
    assert run("--version") == run("--help") == 0
    assert "embed" in capsys.readouterr().out


def test_ctrl_c_says_which_stage_was_running_and_leaves_nothing(
    table, tmp_path, capsys, monkeypatch
):
    def interrupted(self, X):
        raise KeyboardInterrupt("stopped during the stage 'graph'")

    monkeypatch.setattr(IKD, "fit", interrupted)
    assert run("embed", table, "-o", tmp_path / "out") == 130
    expected = "interrupted: stopped during the stage 'graph'; nothing was written"
    assert one_line(capsys) == f"ikd-graph: {expected}\n"
    assert not (tmp_path / "out").exists()


MISSING = {
    "matplotlib": ("no picture: ", "table_embedding.png"),
    "plotly.offline": ("no HTML: ", "table_report.html"),
    "jinja2": ("no HTML: ", "table_report.html"),
}


@pytest.mark.parametrize("library", MISSING)
def test_without_a_library_all_else_is_written_and_the_cure_is_named(
    table, tmp_path, capsys, monkeypatch, library
):
    words, absent = MISSING[library]
    page._templates.cache_clear()
    monkeypatch.setitem(sys.modules, library, None)
    assert run("embed", table, "-o", tmp_path / "out", "--strategy", "eigen", "-q") == 0
    text = capsys.readouterr().err
    assert text.count(words) == 1
    assert 'pip install "ikd_graph[plot]"' in text
    names = {"table_columns.csv", "table_embedding.csv", "table_embedding.png"}
    names = (names | {"table_report.html"}) - {absent}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names


def test_standard_errors_stand_beside_the_coordinates(table, tmp_path, capsys):
    words = ("--affinity", "correlation", "--refine", "likelihood:descent=annealed")
    words = (*words, "--seed", 0)
    assert run("embed", table, "-o", tmp_path, "--json", "--save-model", *words) == 0
    record = json.loads(capsys.readouterr().out)
    with (tmp_path / "table_embedding.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    X, _ = made_data()
    search = refine.Likelihood(descent="annealed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = IKD(affinity="correlation", refine=search, random_state=0).fit(X)
    assert head == ["row", "ikd0", "ikd1", "ikd0_se", "ikd1_se", "dubious_p", "label"]
    errors = np.array([[float(cell) for cell in row[3:5]] for row in rows])
    np.testing.assert_allclose(errors, model.standard_errors_)
    mean = np.sqrt((errors**2).mean(axis=0))
    np.testing.assert_allclose(record["standard_errors"], mean)
    new = pd.DataFrame(X[:4] + 0.1, columns=[f"gene{k}" for k in range(N_FEATURES)])
    new.to_csv(tmp_path / "new.csv", index=False)
    assert run("place", tmp_path / "table_model.ikd", tmp_path / "new.csv", "-o", tmp_path) == 0
    placed = pd.read_csv(tmp_path / "new_placed.csv")
    _, errors = model.transform(X[:4] + 0.1, return_std=True)
    np.testing.assert_allclose(placed[["ikd0_se", "ikd1_se"]], errors)


def test_the_page_repeats_what_was_warned_of(tmp_path, capsys):
    X = np.vstack([made_data(seed)[0][:16] for seed in range(2)])
    np.save(tmp_path / "two.npy", X)
    assert run("embed", tmp_path / "two.npy", "-o", tmp_path, "--graph", 2, "-q") == 0
    said = one_line(capsys)
    assert said.startswith("ikd-graph: warning: the graph has 2 connected components")
    assert ".py" not in said
    said = said.removeprefix("ikd-graph: warning: ").strip()
    page = (tmp_path / "two_report.html").read_text(encoding="utf-8")
    assert said in unescape(re.sub("</?span[^>]*>", "", page))


JSON = {
    "embed": ("--strategy", "geodesic", "--refine", "none", "--graph", 9),
    "cliques": ("--graph", 9),
    "compare": ("--graph", 9, "--noise", 0),
    "diagnose": (),
}


@pytest.mark.parametrize("command", JSON)
def test_standard_output_is_one_json_object(command, table, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(command, table, "-o", out, *JSON[command], "--json") == 0
    text = capsys.readouterr().out
    record = json.loads(text)
    assert "NaN" not in text
    assert record["command"] == command
    assert (record["data"]["rows"], record["data"]["columns"]) == (N_POINTS, N_FEATURES)
    assert record["data"]["labels"][0]["classes"] == ["high", "low"]
    assert sorted(record["outputs"]) == sorted(str(path) for path in out.iterdir())
    assert shlex.split(record["again"])[:2] == ["ikd-graph", "embed"]
    assert f"--output {out}" in record["again"]
    assert ("neighbors:k=9" in record["again"]) == (command != "diagnose")
    if command == "embed":
        assert record["settings"]["graph"].startswith("neighbors:k=9")
        assert set(record["scores"]) == {"label"}
        first = (out / "table_embedding.csv").read_bytes()
        assert run(*shlex.split(record["again"])[1:], "-q", "-o", out) == 0
        assert (out / "table_embedding.csv").read_bytes() == first
        place = tmp_path / "folder" / "found.json"
        assert run("embed", table, "--json", place, "-o", tmp_path, *JSON["embed"]) == 0
        assert "  36 points of 24 columns" in capsys.readouterr().out
        assert json.loads(place.read_text(encoding="utf-8"))["data"]["name"] == "table"


def typed(*words):
    return objects.method_parameters(vars(build_parser().parse_args(["embed", "digits", *words])))


OBJECTS = {
    "--graph 0.3": {"graph": 0.3},
    "--graph 10": {"graph": 10},
    "--graph neighbors:k=10,mutual=yes,prune=no": {
        "graph": graph.Neighbors(10, mutual=True, prune=False)
    },
    "--graph threshold:s0=0.3,n_neighbors=6": {"graph": graph.Threshold(0.3, 6)},
    "--graph threshold": {"graph": graph.Threshold()},
    "--strategy geodesic:path=covariance,reference=min_max": {
        "strategy": strategies.Geodesic.paper()
    },
    "--strategy blockwise:merge=greedy,max_cliques=40": {
        "strategy": strategies.Blockwise("greedy", 40)
    },
    "--strategy linear --refine none": {"strategy": "linear", "refine": None},
    "--refine likelihood:restarts=3": {"refine": refine.Likelihood(restarts=3)},
    "--refine stress:noise=0.1": {"refine": refine.Stress(noise=0.1)},
    "--kernel matern:nu=2.5": {"kernel": Matern(nu=2.5)},
    "--kernel rational_quadratic:length_scale=0.1,alpha=2": {
        "kernel": RationalQuadratic(alpha=2, length_scale=0.1)
    },
    "--missing pairwise:min_columns=30": {"missing": missing.Pairwise(30)},
    "--components auto --landmarks 50 --jobs 2 --seed 1 --missing pairwise": {
        "n_components": "auto",
        "n_landmarks": 50,
        "n_jobs": 2,
        "random_state": 1,
        "missing": "pairwise",
    },
}


@pytest.mark.parametrize("words", OBJECTS)
def test_words_stand_for_objects_and_are_written_as_they_are_read(words):
    parameters = typed(*words.split())
    expected = {name: OBJECTS[words][name] for name in parameters}
    assert repr(parameters) == repr(expected)
    again = typed(*objects.settings_flags(flags_of("embed"), parameters))
    assert {name: repr(value) for name, value in again.items()} == {
        name: repr(value) for name, value in parameters.items() if name in again
    }


def test_every_parameter_of_a_fit_is_in_the_help(capsys):
    assert run("embed", "--help") == 0
    said = re.sub(r"\s", "", capsys.readouterr().out)
    assert {*inspect.signature(IKD).parameters} - {"verbose"} == {*METHOD}
    for name, kinds in objects.CLASSES.items():
        for word, kind in kinds.items():
            # Callables, and what a flag of reading sets.
            parameters = [p for p in inspect.signature(kind).parameters if p != "length_scale"]
            listed = ",".join(p for p in parameters if p not in ("cliques", "n_removed"))
            assert (f"{word}[:{listed}]" if listed else word) in said, name


def test_cliques_counts_what_networkx_counts(table, tmp_path, capsys):
    assert run("cliques", table, "-o", tmp_path, "--graph", "threshold:s0=0.6,n_neighbors=4") == 0
    found = json.loads((tmp_path / "table_cliques.json").read_text())
    model = IKD(strategy="blockwise", graph=graph.Threshold(0.6, 4), refine=None)
    model.fit(made_data()[0])
    reference = graph.to_networkx(model.graph_)
    sizes = sorted(len(clique) for clique in nx.find_cliques(reference))
    counted = found["maximal_cliques"]["size_distribution"]
    assert found["maximal_cliques"]["complete"] is True
    assert sorted(int(s) for s, c in counted.items() for _ in range(c)) == sizes
    assert found["n_edges"] == reference.number_of_edges()
    assert found["components"]["count"] == nx.number_connected_components(reference)
    drawn = found["listed_cliques"]["degrees"]["histogram"]
    degrees = sorted(d for _, d in reference.degree)
    assert sorted(int(d) for d, c in drawn.items() for _ in range(c)) == degrees
    said = capsys.readouterr().out
    assert re.search(rf"  maximal cliques +{len(sizes)}\n", said)
    assert "low × " in (tmp_path / "table_cliques.html").read_text(encoding="utf-8")
    assert (tmp_path / "table_cliques.png").read_bytes().startswith(b"\x89PNG")


def test_cliques_are_listed_by_the_names_of_their_members(tmp_path, capsys):
    X, y = made_data()
    names = [f"cell{k}" for k in range(len(X))]
    table = pd.DataFrame(X, index=pd.Index(names, name="id")).add_prefix("g")
    table.assign(label=y).to_csv(tmp_path / "named.csv")
    words = ["cliques", tmp_path / "named.csv", "-o", tmp_path, "--affinity", "correlation"]
    assert run(*words, "--graph", 0.6, "--json") == 0
    told = json.loads(capsys.readouterr().out)["cliques"]["cliques"]
    found = pd.read_csv(tmp_path / "named_cliques.csv")
    assert found.columns.tolist() == ["clique", "member", "label", "disagreement"]
    groups = dict(iter(found.groupby("clique")))
    assert set(found.member) == set(names)
    reference = nx.from_numpy_array(np.triu(np.corrcoef(X), 1) > 0.6)
    maximal = {frozenset(names[k] for k in clique) for clique in nx.find_cliques(reference)}
    for clique in told:
        part = groups[clique["clique"]]
        assert clique["members"] == part.member.tolist()
        assert clique["labels"] == part.label.value_counts(sort=False).to_dict()
        assert clique["disagreement"] == pytest.approx(part.disagreement.mean())
    assert {frozenset(clique["members"]) for clique in told} <= maximal
    assert len(told) == len(groups)


def test_cliques_beyond_the_limit_are_counted_not_listed(table, tmp_path, capsys):
    assert run("cliques", table, "-o", tmp_path, "--limit", 3) == 0
    assert "more than 3" in capsys.readouterr().out
    found = json.loads((tmp_path / "table_cliques.json").read_text())
    assert found["maximal_cliques"]["count"] == 3
    assert found["maximal_cliques"]["complete"] is False


def test_datasets_lists_every_built_in_name(capsys):
    assert run("datasets") == 0
    said = capsys.readouterr().out
    assert all(f"  {name} " in said for name in datasets.BUILTIN)


def test_compare_leaves_scores_points_picture_and_page(table, tmp_path, capsys):
    out = tmp_path / "out"
    flags = ["--noise", "0,0.5", "--refine", "none", "--plotly", "shared"]
    assert run("compare", table, "-o", out, *flags) == 0
    text = capsys.readouterr().out
    said = text.splitlines()
    command = said[next(k for k, line in enumerate(said) if line.startswith("To embed")) + 1]
    assert command.split()[:2] == ["ikd-graph", "embed"]
    names = ["table_compare.csv", "table_compare.html", "table_compare.png"]
    points = "table_compare_points.csv"
    assert {path.name for path in out.iterdir()} == {*names, points, "plotly.min.js"}
    with (out / names[0]).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["noise"] for row in rows] == ["0.0", "0.5"] * 2
    assert len({row["graph"] for row in rows}) == len({row["similarity"] for row in rows}) == 1
    page = (out / names[1]).read_text(encoding="utf-8")
    for name in ("similarity", "graph", "kernel"):
        assert rows[0][name] in text
        assert rows[0][name] in page
    assert "Against noise" in page
    # Its picture for browsers without scripts is in it.
    assert len(page) < 1_000_000
    with (out / points).open(newline="") as file:
        gaps = [float(row["disagreement"]) for row in csv.DictReader(file)]
    assert len(gaps) == len(made_data()[0])
    assert (out / names[2]).read_bytes().startswith(b"\x89PNG")


def test_what_there_is_to_beware_of_is_said(table, tmp_path, capsys):
    noise = np.random.default_rng(1).normal(size=(40, 30))
    np.save(tmp_path / "noise.npy", noise)
    assert run("embed", tmp_path / "noise.npy", "-o", tmp_path) == 0
    heard = capsys.readouterr()
    assert "there may be nothing to see" in heard.out
    assert "warning: no method predicts held-out columns" in heard.err


def test_diagnose_writes_its_files(table, tmp_path, capsys):
    out, words = tmp_path / "out", ("--components", 1, "--seed", 3)
    assert run("diagnose", table, "-o", out, *words) == 0
    text = capsys.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        diagnosis = diagnose(made_data()[0], 1, random_state=3)
    found = [
        words.replace("null='permute'", "--null permute") for words in diagnosis.findings().values()
    ]
    assert all(words in text.out for words in found)
    assert all(step.words in text.out for step in diagnosis.steps)
    names = [f"table_{end}" for end in ("diagnosis.html", "diagnosis.json", "diagnosis.png")]
    assert sorted(file.name for file in out.iterdir()) == [*names, "table_pairs.csv"]
    numbers = json.loads((out / names[1]).read_text())
    assert numbers["agreement"] == diagnosis.agreement
    with (out / "table_pairs.csv").open(newline="") as file:
        pairs = [(int(a), int(b)) for a, b, _ in list(csv.reader(file))[1:]]
    assert pairs == [tuple(pair) for pair in diagnosis.trusted_pairs.tolist()]
    html = (out / names[0]).read_text(encoding="utf-8")
    assert f"agreement of halves {diagnosis.agreement:.2f}" in html
    assert ("Warnings" in html) == bool(without_stages(text.err))


BAD = {
    "embed nowhere.csv": "the data file must exist",
    "embed TABLE --graph 1.5": r"must lie in \(0, 1\), got 1.5",
    "embed TABLE --strategy best": "--strategy must be one of 'auto'",
    "embed TABLE --kernel matern:mu=2": "must be one of 'length_scale', 'nu', got 'mu'",
    "embed TABLE --kernel matern:nu=x": "nu must be positive and finite, got 'x'",
    "embed TABLE --strategy geodesic:merge=greedy": "must be one of 'path', 'reference', got",
    "embed TABLE --graph threshold:mutual=yes": "a parameter of threshold must be one of",
    "embed TABLE --refine stres:noise=1": "--refine must be one of .*did you mean 'stress'",
    "embed TABLE --components 99": "--components must be .* less than the number of points",
    "embed TABLE --components two": "--components must be an integer",
    "embed TABLE --strategy eigen:reference=far": "reference must be one of",
    "embed TABLE --labels nothing": "--labels asks for 'nothing', which table.csv lacks",
    "embed TABLE --affinity precomputed": "must be square",
    "embed TABLE --affinity hellinger": "for --affinity hellinger, .* use --affinity cosine",
    "embed TABLE --affinity shared_neighbors --strategy eigen": "for --affinity shared_neighbors",
    "embed TABLE --output TABLE": "a file is where a folder should be",
    "embed TWO --graph neighbors:k=2,disconnected=raise": "for disconnected=.raise",
    "cliques TABLE --limit 0": "--limit must be an integer at least 1",
    "cliques TABLE --refine none": "unrecognized arguments",
    "diagnose TABLE --json table.csv": "argument --json: must end in .json, got",
    "diagnose TABLE --fdr 2": r"--fdr must",
    "compare TABLE --methods magic": "--methods must be one of",
    "compare TABLE --n-draws 0": "--n-draws must be an integer",
    "compare TABLE --noise=-1": "noise must be finite fractions",
    "compare TABLE --noise ,": "argument --noise: invalid",
    "compare TABLE --components 1.5": "--components must be an integer",
}


@pytest.mark.parametrize("words", BAD)
def test_an_error_is_one_line_and_writes_nothing(words, table, tmp_path, capsys):
    out, two = tmp_path / "out", tmp_path / "two.npy"
    np.save(two, np.vstack([made_data(seed)[0][:16] for seed in range(2)]))
    places = {"TABLE": table, "TWO": two}
    given = [places.get(word, word) for word in words.split()]
    assert run(given[0], *(() if "--output" in given else ("--output", out)), *given[1:]) == 2
    said = one_line(capsys)
    assert said.startswith("ikd-graph: error: ")
    assert re.search(BAD[words], said)
    assert not out.exists()
    assert table.read_text().startswith("gene0")


@pytest.mark.parametrize(
    "command",
    ["embed", "compare", "cliques", "diagnose", "place", "align", "dubious", "topology"],
)
def test_help_is_one_screen_with_choices_and_defaults(command, capsys):
    assert run(command, "--help") == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) <= 55
    assert max(map(len, said.splitlines())) <= 100
    assert all(word in said for word in ("--transpose", "default: the first"))
    assert ("{mean,median}" in said) == (command != "place")


def test_sessions_are_aligned_from_files(tmp_path, capsys):
    rng = np.random.default_rng(0)
    z = rng.uniform(size=(80, 2)) * [4.0, 2.5]
    cov = np.exp(-0.5 * ((z[:, None] - z) ** 2).sum(axis=-1)) + 1e-6 * np.eye(80)
    X = np.linalg.cholesky(cov) @ rng.normal(size=(80, 160))
    for name, part in {"a": X[:40, :100], "b": X[40:, 60:]}.items():
        start = 0 if name == "a" else 60
        names = [f"n{k}" for k in range(start, start + 100)]
        pd.DataFrame(part, columns=names).to_csv(tmp_path / f"{name}.csv", index=False)
    assert run("align", tmp_path / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "out") == 0
    assert "compared by their columns: a and b" in capsys.readouterr().out
    placed = pd.read_csv(tmp_path / "out" / "aligned_sessions.csv")
    assert placed.shape == (80, 5)
    assert (placed["fixed"] == "fixed").all()
    assert affine_r2(z, placed[["ikd0", "ikd1"]].to_numpy()) > 0.95
    assert run("align", tmp_path / "a.csv", "-o", tmp_path) == 2
    assert "two files or more, got 1" in capsys.readouterr().err


def test_labels_of_sessions_are_scored_once_a_row_and_stored(tmp_path, capsys):
    X = np.random.default_rng(1).normal(size=(60, 80))
    label = np.random.default_rng(2).permutation(np.repeat(["x", "y"], 30))
    frame = pd.DataFrame(X, [f"r{k}" for k in range(60)], [f"n{k}" for k in range(80)])
    frame.assign(kind=label).to_csv(tmp_path / "a.csv", index_label="row")
    frame.assign(kind=label).to_csv(tmp_path / "b.csv", index_label="row")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    out = ["-o", tmp_path / "out", "--json", "-"]
    assert run("align", *files, "--labels", "kind", *out, "--refine", "stress") == 0
    shown = capsys.readouterr().out
    told = json.loads(shown)
    assert told["answer"][0].endswith("by the rows that they share, and agree.")
    assert told["mixing"]["found"] == [None, None]
    placed = pd.read_csv(tmp_path / "out" / "aligned_sessions.csv")
    assert placed["kind"].tolist() == [*label, *label]
    assert run("align", *files, "--labels", "kind", "-o", tmp_path, "--refine", "stress") == 0
    (line,) = [each for each in capsys.readouterr().out.splitlines() if "kind: " in each]
    # Labels at random: a row that sessions share is no neighbor of itself.
    points = placed[["ikd0", "ikd1"]].to_numpy()[:60]
    codes = np.unique(label, return_inverse=True)[1]
    assert f"{knn_accuracy(points, codes):.3f}" in line


def test_sessions_of_one_file_name_are_told_apart(tmp_path, capsys):
    X, _ = made_data()
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "day.csv"
        pd.DataFrame(X, columns=[f"n{k}" for k in range(N_FEATURES)]).to_csv(file, index=False)
    files = [tmp_path / folder / "day.csv" for folder in ("one", "two")]
    assert run("align", *files, files[1], "-o", tmp_path / "out") == 0
    placed = pd.read_csv(tmp_path / "out" / "aligned_sessions.csv")
    assert sorted(placed["session"].unique()) == sorted(
        [f"{files[0]} (1)", f"{files[1]} (2)", f"{files[1]} (3)"]
    )
    np.savetxt(tmp_path / "other.csv", X, delimiter=",")
    capsys.readouterr()
    assert run("align", files[0], tmp_path / "other.csv") == 2
    assert "name what they share alike (in Python by" in (line := one_line(capsys))
    assert "or lower --min-columns" in line


@pytest.mark.parametrize("word", ["0", "1-3", "first"])
def test_a_wrong_header_is_told_by_its_flag(word, table, capsys):
    assert run("embed", table, "--header", word) == 2
    told = one_line(capsys)
    assert "--header must be the number of a line, the first being 1, got" in told
    assert "'none' says that there are no names" in told


def test_a_wrong_flag_is_told_before_anything_is_imported(tmp_path):
    code = (
        "import sys; from ikd_graph.cli import main; code = main(['embed', 'digits', '--grahp=5']);"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba'} & sys.modules.keys(); print(code, heavy)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "2 set()"
    assert run.stderr == (
        "ikd-graph: error: unrecognized arguments: --grahp=5; did you mean '--graph'?; "
        "ikd-graph embed --help lists what there is\n"
    )


def test_what_is_pasted_from_a_comparison_has_its_number_of_coordinates(table, tmp_path, capsys):
    words = ("--components", 3, "--methods", "eigen,pca", "--noise", 0, "--refine", "none")
    assert run("compare", table, "-o", tmp_path, *words, "--json") == 0
    again = shlex.split(json.loads(capsys.readouterr().out)["again"])
    assert again[again.index("--components") + 1] == "3"
    assert again[again.index("--strategy") + 1] == "eigen"


@pytest.mark.parametrize(
    ("data", "method", "row"),
    [
        # R² 0.981 plain and 0.963 refined; 0.983 and 0.976, which is within the error; refined.
        ("figure_eight", "blockwise", "blockwise"),
        ("surface", "blockwise", "blockwise + stress"),
        ("figure_eight", "geodesic", "geodesic + stress"),
    ],
)
def test_what_is_pasted_from_a_comparison_makes_the_row_that_it_names(
    tmp_path, capsys, data, method, row
):
    words = ("--methods", f"{method},pca", "--noise", 0, "--refine", "stress", "-o", tmp_path)
    assert run("compare", data, *words) == 0
    said = capsys.readouterr().out
    command = said.split(f"To embed with these settings ({row}):\n", 1)[1].splitlines()[0]
    again = shlex.split(command)
    assert again[again.index("--strategy") + 1] == method
    assert (again[again.index("--refine") + 1] == "none") == (row == method)
