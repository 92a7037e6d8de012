"""Every command as one JSON object: for programs, on standard output or in a file."""

import csv
import json
import shlex

import numpy as np
import pytest

from ikd_graph.cli import main


def run(*arguments):
    return main([str(part) for part in arguments])


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(6)
    at = np.linspace(0, 6, 48)[:, None]
    X = np.sin(at * rng.uniform(0.5, 1.5, 14) + rng.uniform(0, 6, 14))
    X[:, 2] *= 1000
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"s{k}" for k in range(14)), "label", "depth"])
        writer.writerows(
            [*row, "low" if k < 24 else "high", round(k / 48, 3)]
            for k, row in enumerate((X + 0.01 * rng.normal(size=X.shape)).tolist())
        )
    return path


COMMANDS = {
    "embed": ("--strategy", "geodesic", "--refine", "none", "--graph", "7"),
    "cliques": ("--graph", "9"),
    "compare": ("--graph", "9", "--noise", "0"),
    "diagnose": ("--splits", "2"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_standard_output_is_one_object_and_nothing_else(command, table, tmp_path, capsys):
    out = tmp_path / "out"
    more = (*COMMANDS[command], "--labels", "label,depth")
    assert run(command, "--json", table, "-o", out, *more) == 0
    heard = capsys.readouterr()
    told = json.loads(heard.out)
    assert told["command"] == command
    assert (told["data"]["rows"], told["data"]["columns"]) == (48, 14)
    assert [one["title"] for one in told["data"]["labels"]] == ["label", "depth"]
    assert any("(s2): unscaled, the others hardly matter" in text for text in told["warnings"])
    assert sorted(told["outputs"]) == sorted(str(path) for path in out.iterdir())
    assert shlex.split(told["again"])[:2] == ["ikd-graph", "embed"]
    assert ("--graph 9 " in told["again"]) == (command in ("cliques", "compare"))
    assert "NaN" not in heard.out


def test_what_a_fit_found_is_all_there_and_the_command_repeats_it(table, tmp_path, capsys):
    more = ("--labels", "label,depth", "--json", *COMMANDS["embed"])
    assert run("embed", table, "-o", tmp_path, *more) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["settings"]["graph"] == 7
    assert set(told["scores"]) == {"label", "depth"}
    assert {"decoding", "decoding_blocks"} <= set(told["scores"]["depth"])
    assert told["settings"]["strategy"] == "geodesic"
    assert all(isinstance(text, str) for text in told["reasons"].values())
    first = (tmp_path / "t_embedding.csv").read_bytes()
    assert run(*shlex.split(told["again"])[1:], "-q", "-o", tmp_path) == 0
    assert (tmp_path / "t_embedding.csv").read_bytes() == first


def test_a_file_takes_the_object_and_the_terminal_the_text(table, tmp_path, capsys):
    place = tmp_path / "found.json"
    assert run("embed", table, "--json", place, "-o", tmp_path, *COMMANDS["embed"]) == 0
    assert "t: 48 points of 15 columns" in capsys.readouterr().out
    assert json.loads(place.read_text(encoding="utf-8"))["data"]["name"] == "t"
