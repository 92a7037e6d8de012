"""Every example a reader can copy runs: docstrings, the README's Python, the numbered scripts."""

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib import pyplot

import ikd_graph

PACKAGE = Path(ikd_graph.__file__).parent
ROOT = Path(__file__).parents[2]
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if "_jit" not in path.parts
)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("default")
def test_docstring_examples_give_what_they_print(name):
    outcome = doctest.testmod(importlib.import_module(name))
    # Pictures of examples are nobody's to close.
    pyplot.close("all")
    assert outcome.failed == 0


def test_a_wrong_docstring_example_would_be_seen():
    test = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "planted", None, 0)
    outcome = doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None)
    assert outcome.failed == 1


def run(code_or_path, folder):
    environment = {**os.environ, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *code_or_path],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
    )


def readme_blocks():
    return re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)


def test_the_readme_has_a_python_start():
    assert readme_blocks()


@pytest.mark.parametrize("block", range(len(readme_blocks())))
def test_the_python_of_the_readme_runs(block, tmp_path):
    outcome = run(["-c", readme_blocks()[block]], tmp_path)
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", sorted((ROOT / "examples").glob("[0-9]*.py")), ids=lambda p: p.stem
)
def test_numbered_scripts_run_with_a_verdict_and_end_in_a_picture(script, tmp_path):
    outcome = run([str(script)], tmp_path)
    assert outcome.returncode == 0, outcome.stderr
    assert re.search(r"can be read|too few to tell", outcome.stdout)
    assert list(tmp_path.rglob("*.png")), "an example ends in a picture"


@pytest.mark.slow
def test_dubious_rows_are_shown_without_umap(tmp_path):
    source = (ROOT / "examples" / "03_dubious_rows.py").read_text()
    outcome = run(["-c", source.replace('find_spec("umap")', "None")], tmp_path)
    assert outcome.returncode == 0, outcome.stderr
    assert "umap-learn is not installed: the map is one of t-SNE" in outcome.stdout
    assert re.search(r"rows are dubious.*can be read", outcome.stdout, re.DOTALL)
