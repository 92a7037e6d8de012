"""What the command says names flags that it has, never parameters as Python passes them."""

import ast
import html
import inspect
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from commands import make_table

import ikd_graph
from ikd_graph import IKD
from ikd_graph.cli import main
from ikd_graph.cli.entry import build_parser
from ikd_graph.cli.wording import Wording

PACKAGE = Path(ikd_graph.__file__).parent
NAMES = "|".join(name for name in inspect.signature(IKD).parameters if name != "verbose")
PYTHON = re.compile(rf"(?<![\w'\"-])(?:{NAMES})=(?:['\"\w-])")
COMMANDS = ("embed", "compare", "cliques", "diagnose")


def docstrings(tree):
    """Nodes that are documentation, and seen by nobody who types a command."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, kinds)]
    return {id(body[0].value) for body in bodies if isinstance(body[0], ast.Expr)}


def texts(tree):
    """Strings of a module as a user may read them, with something put where values go."""
    left_out = docstrings(tree)
    inside = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in ast.walk(node) if part is not node}
            if id(node) not in inside:
                yield "".join(
                    part.value
                    if isinstance(part, ast.Constant)
                    else "'cosine'"
                    if part.conversion == ord("r")
                    else "7"
                    for part in node.values
                )
        elif isinstance(getattr(node, "value", None), str) and id(node) not in left_out | inside:
            yield node.value


def advice():
    """Every text of the package that names a parameter with its value."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.parent.name == "_jit":
            continue
        found += [text for text in texts(ast.parse(path.read_text())) if PYTHON.search(text)]
    return found


def flags_in(text):
    """Flags with what stands behind them: (command or "", flag, value)."""
    value = r"-?[\w.]*\w"
    return re.findall(rf"(?:ikd-graph (\w+) )?(--[a-z][a-z-]+)(?: ({value}))?", text)


def check_flags(command, text):
    """Every flag of a text is one of the command, or of the one it is said to be of."""
    for other, flag, _ in flags_in(text):
        parser = build_parser().commands[other or command]
        assert flag in parser._option_string_actions, f"{command} has no {flag}: {text}"


def test_the_texts_are_found():
    planted = 'def f(n):\n    "refine=None"\n    raise ValueError(f"pass refine={n!r} or a={n}")'
    assert list(texts(ast.parse(planted))) == ["pass refine='cosine' or a=7"]
    found = advice()
    assert len(found) > 40
    assert any("missing='pairwise'" in text for text in found)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_advice_of_the_package_is_given_in_flags(command):
    say = Wording(build_parser().commands[command])
    for text in advice():
        said = say(text)
        assert PYTHON.search(said) is None, f"{text!r} is said as {said!r}"
        check_flags(command, said)


def test_values_can_be_typed_as_they_are_named():
    parser = build_parser()
    say = Wording(parser.commands["embed"])
    known = inspect.signature(IKD).parameters
    seen = 0
    for text in advice():
        for command, flag, value in flags_in(say(text)):
            if flag[2:].replace("-", "_") not in known or not value or command != "":
                continue
            got = parser.parse_args(["embed", "digits", flag, value])
            given = getattr(got, flag[2:].replace("-", "_"))
            assert value == str(given).lower(), text
            seen += 1
    assert seen > 40


def test_what_a_user_named_is_left_alone():
    say = Wording(build_parser().commands["embed"])
    text = "column 'refine=None' and 'n_components' hold words; a path=x, a_threshold=3, angle=360"
    assert say(text) == text


def test_a_flag_of_another_command_is_said_to_be_one():
    parser = build_parser()
    assert Wording(parser.commands["diagnose"])("Pass refine=None to change this.") == (
        "Pass ikd-graph embed --refine none to change this."
    )
    assert Wording(parser.commands["cliques"])("n_neighbors=8 or threshold=0.3 connects it") == (
        "--n-neighbors 8 or --threshold 0.3 connects it"
    )


def readable(page):
    """Words of a page, without its scripts and styles."""
    text = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", text))


RUNS = {
    "embed": ("embed", "t.csv"),
    "embed in pieces": ("embed", "pieces.csv", "--n-neighbors", "3", "--strategy", "geodesic"),
    "cliques": ("cliques", "t.csv"),
    "cliques in pieces": ("cliques", "pieces.csv", "--n-neighbors", "3"),
    "compare": ("compare", "t.csv", "--methods", "ikd,eigen", "--halves", "0"),
    "diagnose": ("diagnose", "t.csv", "--n-draws", "2"),
}


LONG = ("compare", "diagnose")


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow) if one in LONG else one for one in RUNS]
)
def test_terminal_page_and_object_of_a_command_name_flags(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    make_table(tmp_path)
    rng = np.random.default_rng(0)
    pieces = np.repeat(10 * rng.normal(size=(3, 30)), 20, axis=0) + rng.normal(size=(60, 30))
    np.savetxt("pieces.csv", pieces, delimiter=",", fmt="%.4f")
    assert main([*RUNS[name], "--output", "out", "--json", "found.json"]) == 0
    said = capfd.readouterr()
    (page,) = (path.read_text("utf-8") for path in Path("out").glob("*.html"))
    found = json.loads(Path("found.json").read_text())
    for row in found.get("rows", ()):
        # The record of a method is the call that was made.
        del row["settings"]
    everything = [said.out, said.err, readable(page), json.dumps(found)]
    for text in everything:
        assert PYTHON.search(text) is None, PYTHON.search(text)
        # Commands to paste are tried elsewhere.
        lines = [line for line in text.splitlines() if "ikd-graph embed " not in line]
        check_flags(RUNS[name][0], "\n".join(lines))
    assert any(flags_in(text) for text in everything)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("embed t.csv --n-components 99", "--n-components must be less than the number of points"),
        ("embed t.csv --threshold 1.5", "--threshold must lie in (0, 1), got 1.5"),
        ("embed t.csv --n-neighbors 3 --disconnected raise --affinity cosine", "--n-neighbors"),
        ("diagnose t.csv --n-components 99", "--n-components must be less than the number of"),
        ("embed holes.csv", "--impute median"),
    ],
)
def test_errors_name_flags(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make_table(tmp_path)
    rng = np.random.default_rng(0)
    table = np.repeat(10 * rng.normal(size=(3, 30)), 20, axis=0) + rng.normal(size=(60, 30))
    if "raise" in words:
        np.savetxt("t.csv", table, delimiter=",", fmt="%.4f")
    table[3, 4] = np.nan
    np.savetxt("holes.csv", table, delimiter=",", fmt="%.4f")
    assert main(shlex.split(words)) == 2
    told = capsys.readouterr().err
    assert said in told
    assert PYTHON.search(told) is None
    check_flags(words.split()[0], told)
