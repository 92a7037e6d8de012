"""The commands say the same of one table, and what they print can be pasted."""

import re
import shlex
import warnings

import numpy as np
import pytest

from ikd_graph.cli import main
from ikd_graph.study import datasets

COMMANDS = {
    "embed": (),
    "cliques": (),
    "diagnose": ("--splits", 2),
    "compare": ("--methods", "geodesic", "--noise", 0),
}


def said(capsys, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert main([str(part) for part in arguments]) == 0
    return capsys.readouterr().out


def to_paste(text):
    line = next(one for one in text.splitlines() if one.strip().startswith("ikd-graph embed"))
    return shlex.split(line)[1:]


def flag_of(name, text):
    words = to_paste(text)
    return words[words.index(name) + 1] if name in words else None


def table_of(name):
    if name == "model":
        return datasets.gplvm_data(datasets.fixed_latent("medium", 30), 120, noise=0.1).X
    return datasets.swiss_roll(120).X


@pytest.mark.parametrize("name", [pytest.param("model", marks=pytest.mark.slow), "roll"])
def test_commands_name_one_similarity_and_graph_and_a_command_to_paste(name, tmp_path, capsys):
    path = tmp_path / "table.npy"
    np.save(path, table_of(name))
    texts = {
        command: said(capsys, command, path, "--output", tmp_path / command, *more)
        for command, more in COMMANDS.items()
    }
    # Cliques are those of a graph, which principal components do without.
    more = ("--strategy", "blockwise", "--refine", "none")
    blockwise = said(capsys, "embed", path, "--output", tmp_path / "blockwise", *more)
    # Strategies are compared on a graph too.
    geodesic = said(
        capsys, "embed", path, "--output", tmp_path / "geodesic", "--strategy", "geodesic"
    )
    for flag in ("--affinity", "--graph"):
        assert flag_of(flag, texts["embed"]) == flag_of(flag, texts["diagnose"])
        assert flag_of(flag, texts["compare"]) == flag_of(flag, geodesic)
        assert flag_of(flag, texts["cliques"]) == flag_of(flag, blockwise)
    for command in ("embed", "diagnose", "compare"):
        like = "geodesic" if command == "compare" else "embed"
        first = (tmp_path / like / "table_embedding.csv").read_text()
        again = tmp_path / f"again_{command}"
        said(capsys, *to_paste(texts[command]), "--output", again)
        assert (again / "table_embedding.csv").read_text() == first, command
    blocks = said(capsys, *to_paste(texts["cliques"]), "--output", tmp_path / "blocks")
    assert re.search("strategy=Blockwise", blocks)


@pytest.mark.parametrize("command", ["embed", "cliques"])
def test_what_was_typed_and_is_no_choice_is_in_the_command_to_paste(command, tmp_path, capsys):
    path = tmp_path / "table.npy"
    np.save(path, table_of("roll"))
    typed = ("--kernel", "matern:nu=2.5", "--graph", "neighbors", "--disconnected", "raise")
    text = said(capsys, command, path, "--output", tmp_path, *typed, "--affinity", "euclidean")
    again = next(line for line in text.splitlines() if "ikd-graph embed" in line)
    assert "--kernel matern:length_scale=1.0,nu=2.5" in again
    assert "--disconnected raise" in again
    assert again.count("--affinity") == 1
