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
import zipfile
from email.parser import Parser
from pathlib import Path

import numba
import pytest

import ikd_graph

ROOT = Path(__file__).parent.parent
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
    for name in ("build", "setuptools"):
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
    assert {"tests/test_publish.py", "docs/index.md", "examples/01_quickstart.py"} <= names
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
    assert made == {"digits_embedding.csv", "digits_embedding.png", "digits_report.html"}


@pytest.mark.slow
def test_the_metadata_say_what_a_reader_of_the_index_needs(dist):
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith("/METADATA"))
        told = Parser().parsestr(archive.read(name).decode())
    assert told["Version"] == ikd_graph.__version__
    assert told["License-Expression"] == "MIT" or told["License"] == "MIT"
    assert told.get_all("Project-URL") == [f"Documentation, {SITE}"]
    assert told["Description-Content-Type"] == "text/markdown"
    assert "(docs/index.md)" in told.get_payload()
    extras = {"plot", "data", "docs", "test", "compare"}
    assert extras <= set(told.get_all("Provides-Extra"))


def test_the_classifiers_begin_where_the_package_does():
    told = SETUP["metadata"]["classifiers"]
    versions = [int(minor) for minor in re.findall(r":: 3\.(\d+)", told)]
    assert versions == list(range(10, 15))
    assert SETUP["options"]["python_requires"] == f">=3.{versions[0]}"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("setup.cfg", "Documentation ="),
        ("CITATION.cff", "url:"),
        ("conda/meta.yaml", "doc_url:"),
        ("docs/scverse/meta.yaml", "documentation_home:"),
    ],
)
def test_every_file_names_the_same_address_of_the_site(name, key):
    text = (ROOT / name).read_text()
    assert re.findall(rf"^ *{key} (\S+)$", text, re.MULTILINE) == [SITE]
    assert SITE in (ROOT / "CONTRIBUTING.md").read_text()


def test_the_host_of_the_site_is_sent_to_files_and_an_extra_that_are_there():
    text = (ROOT / ".readthedocs.yaml").read_text()
    (settings,) = re.findall(r"configuration: (\S+)", text)
    assert (ROOT / settings).is_file()
    (folder,) = re.findall(r" path: (\S+)", text)
    assert (ROOT / folder / "setup.cfg").is_file()
    (extra,) = re.findall(r"extra_requirements:\n +- (\w+)\n", text)
    assert "sphinx" in SETUP["options.extras_require"][extra]
    (version,) = re.findall(r'python: "([\d.]+)"', text)
    assert f"Python :: {version}" in SETUP["metadata"]["classifiers"]


def version_in(name):
    (found,) = re.findall(r"^ *version: (\S+)$", (ROOT / name).read_text(), re.MULTILINE)
    return found


@pytest.mark.parametrize("name", ["CITATION.cff", "conda/meta.yaml", "docs/scverse/meta.yaml"])
def test_every_file_tells_the_same_version(name):
    assert version_in(name) == ikd_graph.__version__


def misnamed(tags, version):
    """Tags that look like a version and name another one."""
    return [tag for tag in tags if re.match(r"v?\d", tag) and tag != f"v{version}"]


def test_a_release_has_the_version_of_its_tag():
    asked = ["git", "-C", str(ROOT), "tag", "--points-at", "HEAD"]
    known = (ROOT / ".git").exists() and shutil.which("git")
    tags = run(*asked).split() if known else []
    if not tags:
        pytest.skip("this commit has no tag")
    assert misnamed(tags, ikd_graph.__version__) == []


def test_a_tag_of_another_version_is_noticed():
    assert misnamed(["v0.2.0", "landed"], "0.2.0") == []
    assert misnamed(["v0.2.0", "0.1.0", "v0.1.0"], "0.1.0") == ["v0.2.0", "0.1.0"]


def conda_needs(text):
    """Requirements at run time of a recipe, written as pip writes them."""
    block = re.search(r"^  run:\n((?:    - .*\n)+)", text, re.MULTILINE)[1]
    lines = re.findall(r"- (.*)", block)
    return {line.replace(" ", "") for line in lines if not line.startswith("python ")}


def test_the_recipe_needs_what_the_package_needs():
    needed = set(SETUP["options"]["install_requires"].split())
    text = (ROOT / "conda" / "meta.yaml").read_text()
    assert conda_needs(text) == needed
    assert conda_needs(text.replace("- numba >=0.61", "- numba >=0.60")) != needed


def test_files_that_contributors_are_sent_to_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    listed = re.search(r"```\n(ikd_graph/.*?)```", text, re.DOTALL)[1]
    places = re.findall(r"^([\w./]+) +\w", listed, re.MULTILINE)
    places += re.findall(r"\]\(([\w./]+)\)", text)
    assert len(places) > 7
    assert [name for name in places if not (ROOT / name).exists()] == []
