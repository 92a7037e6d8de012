"""What is published: a wheel that needs no sources, an sdist with its tests, one set of facts."""

import configparser
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path

import numba
import pytest
import yaml

import ikd_graph
from ikd_graph import IKD

ROOT = Path(__file__).parents[2]
SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg")
METADATA = SETUP["metadata"]
SITE = "https://ikd-graph.readthedocs.io"
RECIPE = yaml.safe_load((ROOT / "conda/meta.yaml").read_text())


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
    command, *rest = RECIPE["build"]["script"].split()
    assert (command, rest[:3]) == ("python", ["-m", "pip", "install"])
    for command in RECIPE["test"]["commands"]:
        name, *words = command.split()
        run(python.with_name(name), *words, folder=tmp_path)
    for module in RECIPE["test"]["imports"]:
        run(python, "-c", f"import {module}", folder=tmp_path)
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


def test_style_and_types_are_asked_by_one_version_in_tests_and_before_a_commit():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    tests = SETUP["options.extras_require"]["test"].split()
    for tool, repository in (("ruff", "ruff-pre-commit"), ("mypy", "mirrors-mypy")):
        (version,) = re.findall(rf"/{repository}\n    rev: v(\S+)", hooks)
        assert f"{tool}=={version}" in tests


def test_the_conda_recipe_and_the_package_need_the_same():
    recipe = {name: [*map(without_blanks, lines)] for name, lines in RECIPE["requirements"].items()}
    options, extras = SETUP["options"], SETUP["options.extras_require"]
    python = f"python{options['python_requires']}"
    assert sorted(recipe["run"]) == sorted([python, *options["install_requires"].split()])
    # Without its window toolkit matplotlib has a name of its own there.
    pictures = extras["plot"].replace("matplotlib", "matplotlib-base").split()
    assert sorted(recipe["run_constrained"]) == sorted(pictures)
    system = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
    assert sorted(recipe["host"]) == sorted([python, "pip", *system["requires"]])
    (script,) = RECIPE["build"]["entry_points"]
    assert script in SETUP["options.entry_points"]["console_scripts"].split("\n")
    about = RECIPE["about"]
    assert (about["summary"], about["license"]) == (METADATA["description"], METADATA["license"])
    assert about["doc_url"] == SITE


def without_blanks(requirement):
    return requirement.replace(" ", "")


def version_in(name):
    (found,) = re.findall(r"^ *version: (\S+)$", (ROOT / name).read_text(), re.MULTILINE)
    return found


def test_every_file_tells_the_version_of_the_release():
    files = ["CITATION.cff", "conda/meta.yaml"]
    (told,) = {version_in(name) for name in files}
    if "dev" not in ikd_graph.__version__:
        assert told == ikd_graph.__version__


# The rules of the registry of scverse, as they were on 2026-08-18.
NEEDED = {
    *("name", "description", "project_home", "documentation_home", "install"),
    *("license", "tags", "primary_category", "language", "category"),
}
ALLOWED = NEEDED | {"tutorials_home", "publications", "contact", "logo", "test_command"}
CATEGORIES = {"ecosystem", "core-framework", "core-datastructure", "core-infrastructure"}
LANGUAGES = {"Python", "R", "Julia", "Rust", "C++"}
FIELDS = {
    *("Data structures", "scRNA-seq", "bulk RNA-seq", "Spatial", "Epigenomics", "Proteomics"),
    *("Adaptive immune cell receptor", "Multimodal", "Imaging", "Infrastructure"),
}
TAGS = {
    *("scRNA-seq", "bulk RNA-seq", "spatial transcriptomics", "spatial proteomics", "proteomics"),
    *("flow cytometry", "ATAC-seq", "epigenomics", "immune receptor", "imaging", "multimodal"),
    *("preprocessing", "quality control", "denoising", "data integration", "cell-type annotation"),
    *("differential expression", "compositional analysis", "functional analysis"),
    *("gene regulatory networks", "cell-cell communication", "deconvolution", "clustering"),
    *("dimensionality reduction", "trajectory inference", "pseudotime", "RNA velocity"),
    *("lineage tracing", "perturbation", "spatially variable genes", "segmentation"),
    *("copy number variation", "visualization", "benchmarking", "deep learning"),
    *("foundation model", "large language models", "probabilistic modeling", "optimal transport"),
    *("GPU acceleration", "pipeline", "data structures", "interoperability", "file formats"),
    "documentation",
}


def faults_of_entry(entry):
    """Names of the fields of an entry that the registry of scverse would refuse."""
    places = ("project_home", "documentation_home", "tutorials_home")
    tags, install = entry.get("tags", []), entry.get("install", {})
    dois = entry.get("publications", [])
    right = {
        **{name: re.match(r"https?://\S+$", entry[name]) for name in places if name in entry},
        "tags": 0 < len(tags) <= 10 and len({*tags}) == len(tags) and {*tags} <= TAGS,
        "install": install
        and {*install} <= {"pypi", "conda", "cran", "bioconductor"}
        and "::" in install.get("conda", "::"),
        "primary_category": entry.get("primary_category") in FIELDS,
        "language": entry.get("language") in LANGUAGES,
        "category": entry.get("category") in CATEGORIES,
        "license": entry.get("license") == METADATA["license"],
        "publications": all(re.match(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]+$", doi) for doi in dois),
        "contact": "contact" not in entry or 0 < len(entry["contact"]) == len({*entry["contact"]}),
        "logo": re.fullmatch(r"logo\.(svg|png|webp)", entry.get("logo", "logo.svg")),
    }
    texts = ("name", "description", "test_command")
    right |= {name: isinstance(entry.get(name, ""), str) for name in texts}
    # What it does not know, the version among it, the registry ignores or overwrites.
    return (NEEDED - {*entry}) | ({*entry} - ALLOWED) | {name for name in right if not right[name]}


def test_the_entry_for_scverse_is_valid():
    entry = yaml.safe_load((ROOT / "docs/scverse/meta.yaml").read_text())
    assert faults_of_entry(entry) == set()
    assert (entry["name"], entry["install"]["pypi"]) == ("ikd_graph", "ikd-graph")
    assert entry["documentation_home"].rstrip("/") == SITE
    assert "test" in SETUP["options.extras_require"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tags", ["scRNA-seq", "Gaussian process"]),
        ("tags", ["clustering", "clustering"]),
        ("tags", []),
        ("install", {"conda": "ikd-graph"}),
        ("install", {}),
        ("primary_category", "single cells"),
        ("language", None),
        ("category", "core"),
        ("version", "1.0.0"),
        ("license", "MIT License"),
        ("publications", ["TBA"]),
        ("tutorials_home", "the site"),
        ("contact", []),
        ("logo", "picture.png"),
    ],
)
def test_a_wrong_entry_for_scverse_would_be_seen(field, value):
    entry = yaml.safe_load((ROOT / "docs/scverse/meta.yaml").read_text())
    assert faults_of_entry(entry | {field: value}) == {field}


def test_the_help_of_the_estimator_leads_to_its_page_on_the_site():
    links = re.findall(r'href="([^"#]+)', IKD()._repr_html_())
    # Without /page/ the host of the site has the pages of no version at an address.
    assert {f"{SITE}/page/generated/ikd_graph.IKD.html"} == {
        link for link in links if link.startswith(SITE)
    }
    assert "   ikd_graph.IKD\n" in (ROOT / "docs/api.rst").read_text()
    assert ":toctree: generated" in (ROOT / "docs/api.rst").read_text()
