"""What is published: a wheel that needs no sources, an sdist with its tests, one set of facts."""

import configparser
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import numba
import pytest

import ikd_graph

ROOT = Path(__file__).parents[2]
SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg")
SITE = "https://ikd-graph.readthedocs.io"


def run(*command, folder=ROOT):
    # A user has neither this checkout on the path nor a screen here.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    outcome = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment | {"MPLBACKEND": "Agg", "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    for name in ("build", "setuptools", "setuptools_scm"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed; the extra 'test' brings it")
    # A copy: what an earlier build left in the checkout would be taken into this one.
    left = (".git", ".venv", "*.egg-info", "build", "dist", "__pycache__", ".*_cache")
    source = tmp_path_factory.mktemp("source") / "copy"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*left))
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, folder=source)
    return folder


@pytest.mark.slow
def test_the_sdist_has_tests_pages_and_everything_the_tests_read(dist):
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    listed = run("git", "ls-files").split() if (ROOT / ".git").exists() else []
    unneeded = {".gitignore"}
    assert set(listed) - names - unneeded == set()
    assert {"tests/site/test_packaging.py", "docs/index.md", "examples/01_quickstart.py"} <= names
    assert {".ci/run", ".ci/browser", ".readthedocs.yaml"} <= names
    made = ("docs/_build", "docs/gallery", "docs/generated")
    assert not [name for name in names if name.startswith(made) or name.endswith(".pyc")]


@pytest.mark.slow
def test_what_is_built_passes_the_index(dist):
    pytest.importorskip("twine", reason="the extra 'test' brings it")
    said = run(sys.executable, "-m", "twine", "check", "--strict", *dist.glob("ikd_graph*"))
    assert said.count("PASSED") == 2


@pytest.mark.slow
def test_the_wheel_works_without_the_sources(dist, tmp_path):
    (wheel,) = dist.glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel, folder=tmp_path)
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    # The dependencies, and nothing that was made to point at this checkout.
    (site / "dependencies.pth").write_text(str(Path(numba.__file__).parent.parent))
    where = run(python, "-c", "import ikd_graph; print(ikd_graph.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(site)
    command = "ikd-graph embed digits --output results --affinity correlation --refine none"
    run(python.with_name("ikd-graph"), *command.split()[1:], folder=tmp_path)
    made = {path.name for path in (tmp_path / "results").iterdir()}
    ends = ("columns.csv", "embedding.csv", "embedding.png", "report.html")
    assert made == {f"digits_{end}" for end in ends}


def test_extras_refer_to_one_another_and_repeat_nothing():
    extras = {name: text.split() for name, text in SETUP["options.extras_require"].items()}
    listed = [line for lines in extras.values() for line in lines if "ikd_graph[" not in line]
    assert sorted(set(listed)) == sorted(listed)
    referred = re.findall(r"ikd_graph\[([\w,]+)\]", str(extras))
    assert {name for names in referred for name in names.split(",")} <= set(extras)
    assert referred


def version_in(name):
    (found,) = re.findall(r"^ *version: (\S+)$", (ROOT / name).read_text(), re.MULTILINE)
    return found


def test_every_file_tells_the_version_of_the_release():
    files = ["CITATION.cff", "conda/meta.yaml", "docs/scverse/meta.yaml"]
    (told,) = {version_in(name) for name in files}
    if "dev" not in ikd_graph.__version__:
        assert told == ikd_graph.__version__
