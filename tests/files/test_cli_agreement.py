"""The commands name one similarity and graph for a table, and what they print can be pasted."""

import html
import json
import re
import shlex
import warnings

import numpy as np
import pandas as pd
import pytest

from ikd_graph import datasets
from ikd_graph.cli import main

COMMANDS = {
    "embed": (),
    # Cliques are those of a graph, which principal components do without.
    "blockwise": ("--strategy", "blockwise", "--refine", "none"),
    # Strategies are compared on a graph too.
    "geodesic": ("--strategy", "geodesic"),
    "cliques": (),
    "diagnose": (),
    "compare": ("--methods", "geodesic", "--noise", 0),
}


def run(capsys, *words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def pasted(text):
    line = next(line for line in text.splitlines() if line.strip().startswith("ikd-graph embed"))
    return shlex.split(line)[1:]


@pytest.mark.parametrize("name", [pytest.param("model", marks=pytest.mark.slow), "roll"])
def test_commands_agree_on_similarity_and_graph(name, tmp_path, capsys):
    latent = datasets.fixed_latent("medium", 30)
    data = (
        datasets.gplvm_data(latent, 120, noise=0.1) if name == "model" else datasets.swiss_roll(80)
    )
    path = tmp_path / "table.npy"
    np.save(path, data.X)
    texts = {}
    for key, words in COMMANDS.items():
        command = key if key in ("cliques", "diagnose", "compare") else "embed"
        texts[key] = run(capsys, command, path, "--output", tmp_path / key, *words)
    references = {
        "diagnose": "embed",
        "compare": "geodesic",
        "cliques": "blockwise",
        "embed": "embed",
    }
    for command, reference in references.items():
        words, expected = pasted(texts[command]), pasted(texts[reference])
        for flag in ("--affinity", "--graph"):
            values = [line[line.index(flag) + 1] for line in (words, expected) if flag in line]
            assert len(values) in (0, 2)
            assert len(set(values)) <= 1
        again = tmp_path / f"again_{command}"
        text = run(capsys, *words, "--output", again)
        if command == "cliques":
            assert "--strategy blockwise" in text
            continue
        coordinates = (again / "table_embedding.csv").read_text()
        assert coordinates == (tmp_path / reference / "table_embedding.csv").read_text(), command


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A table with names, labels and holes, a whole one, its map and its model."""
    folder, rng = tmp_path_factory.mktemp("written"), np.random.default_rng(0)
    X = datasets.surface(60, 25).X
    table = pd.DataFrame(X, [f"row {k}" for k in range(60)]).add_prefix("x y")
    table["kind"] = np.where(rng.random(60) < 0.5, "a", "b")
    table.to_csv(folder / "whole.csv", index_label="name")
    table.iloc[3, 4] = np.nan
    table.to_csv(folder / "holes.csv", index_label="name")
    words = ("embed", folder / "whole.csv", "-q", "-o", folder, "--labels", "kind", "--save-model")
    assert main([*map(str, words), "--refine", "none"]) == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        ("diagnose", "holes.csv", "--missing", "pairwise"),
        ("cliques", "holes.csv", "--missing", "pairwise"),
        ("topology", "holes.csv", "--missing", "pairwise"),
        ("dubious", "whole_embedding.csv", "holes.csv"),
        ("compare", "holes.csv", "--impute", "mean", "--noise", "0", "--methods", "geodesic"),
        ("place", "whole_model.ikd", "whole.csv"),
        ("align", "whole.csv", "holes.csv"),
    ],
)
def test_the_command_that_every_command_prints_runs(typed, written, capsys, monkeypatch):
    monkeypatch.chdir(written)
    line = json.loads(run(capsys, *typed, "--labels", "kind", "--json"))["again"]
    program, *words = shlex.split(line)
    assert program == "ikd-graph"
    run(capsys, *words)


@pytest.mark.parametrize(
    "typed",
    [
        ("--strategy", "blockwise", "--graph", "6", "--refine", "none"),
        ("--missing", "pairwise:min_columns=25", "--affinity", "correlation"),
    ],
)
def test_what_embed_prints_next_is_about_the_fit_that_was_typed(typed, tmp_path, capsys):
    X = datasets.swiss_roll(50).X @ np.random.default_rng(0).normal(size=(3, 40))
    if "--missing" in typed:
        X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    np.save(tmp_path / "table.npy", X)
    out = tmp_path / "out"
    first = run(capsys, "embed", tmp_path / "table.npy", "--output", out, *typed)
    page = html.unescape((out / "table_report.html").read_text(encoding="utf-8"))
    steps = {words.split()[1]: words for words in re.findall(r"ikd-graph \w+ /[^<]*", page)}
    assert {"embed", "diagnose", "cliques"} <= set(steps)
    assert ("compare" in steps) == ("--missing" not in typed)
    for command, words in steps.items():
        text = run(capsys, *shlex.split(words)[1:])
        if command in ("embed", "diagnose"):
            assert text.splitlines()[1:3] == first.splitlines()[1:3]
