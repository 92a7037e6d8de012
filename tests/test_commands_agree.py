"""The commands say the same of one table, and what they print can be pasted."""

import re
import shlex
import warnings

import numpy as np
import pytest

from ikd_graph.cli import main
from ikd_graph.study import datasets


def said(capsys, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert main([str(part) for part in arguments]) == 0
    return capsys.readouterr().out


def facts_of(text):
    return [
        re.search(rf"^ +{name} +(\S.*)$", text, re.MULTILINE).group(1).strip()
        for name in ("similarity", "graph")
    ]


def pasted(text):
    line = next(one for one in text.splitlines() if one.strip().startswith("ikd-graph embed"))
    return shlex.split(line)[1:]


def table_of(name):
    rng = np.random.default_rng(0)
    if name == "model":
        return datasets.gplvm_data(datasets.fixed_latent("medium", 30), 120, noise=0.1).X
    if name == "groups":
        return np.repeat(rng.normal(size=(3, 24)), 12, axis=0) + 0.6 * rng.normal(size=(36, 24))
    return datasets.swiss_roll(120).X


@pytest.mark.parametrize(
    "name", [*(pytest.param(one, marks=pytest.mark.slow) for one in ("model", "groups")), "roll"]
)
def test_four_commands_name_one_similarity_and_graph_and_a_command_to_paste(name, tmp_path, capsys):
    path = tmp_path / "table.npy"
    np.save(path, table_of(name))
    ways = {
        "embed": (),
        "cliques": (),
        "diagnose": ("--n-draws", 2),
        "compare": ("--methods", "ikd"),
    }
    texts = {
        way: said(capsys, way, path, "--output", tmp_path / way, *more)
        for way, more in ways.items()
    }
    expected = facts_of(texts["embed"])
    of_cliques = facts_of(texts["cliques"]) if expected[1].startswith("none") else expected
    assert of_cliques[0] == expected[0]
    for way, text in texts.items():
        # Cliques are those of a graph, which principal components do without.
        assert facts_of(text) == (of_cliques if way == "cliques" else expected), way
    first = (tmp_path / "embed" / "table_embedding.csv").read_text()
    for way in ("embed", "diagnose", "compare"):
        again = tmp_path / f"again_{way}"
        said(capsys, *pasted(texts[way]), "--output", again)
        assert (again / "table_embedding.csv").read_text() == first, way
    blocks = said(capsys, *pasted(texts["cliques"]), "--output", tmp_path / "blocks")
    assert facts_of(blocks) == of_cliques


@pytest.mark.parametrize("way", ["embed", "cliques"])
def test_what_was_typed_and_is_no_choice_is_in_the_command_to_paste(way, tmp_path, capsys):
    path = tmp_path / "table.npy"
    np.save(path, table_of("roll"))
    typed = ("--kernel", "matern:nu=2.5", "--disconnected", "separate", "--affinity", "euclidean")
    text = said(capsys, way, path, "--output", tmp_path / way, *typed)
    command = next(line for line in text.splitlines() if "ikd-graph embed" in line)
    assert "--kernel matern:length_scale=1,nu=2.5" in command
    assert "--disconnected separate" in command
    assert command.count("--affinity") == 1
