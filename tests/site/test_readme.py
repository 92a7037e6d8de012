"""The front page: short, with pictures that a script draws and figures of committed files."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```|^\|.*?$|^!.*?$|^#.*?$", "", TEXT, flags=re.S | re.M)
PROSE = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", PROSE)
NUMBERS = json.loads((ROOT / "docs" / "static" / "readme" / "numbers.json").read_text())
PEERS = ("t-SNE", "Isomap", "UMAP", "PCA")
METHODS = ("IKD", *PEERS)
PICTURES = re.findall(r"^!\[([^]]*)\]\(([^)]+)\)$", TEXT, re.M)


def test_the_front_page_is_short_and_shows_pictures():
    assert len(TEXT.splitlines()) <= 100
    assert len(re.findall(r"\S*\w\S*", TEXT)) <= 700
    assert any(line.startswith("![") and "docs" in line for line in TEXT.splitlines()[:6])
    for words, name in PICTURES:
        assert len(words.split()) >= 5, name
        assert (ROOT / name).stat().st_size < 150_000, name


def test_sentences_are_short():
    sentences = [text.split() for text in re.split(r"[.:?]\s+|\n\n|\n- ", PROSE) if text.split()]
    assert max(map(len, sentences)) <= 30
    assert sum(map(len, sentences)) / len(sentences) <= 16


def test_each_job_has_a_page_and_a_command_that_draws_the_picture_above_it():
    (section,) = re.findall(r"^## Three jobs\n(.*?)^## ", TEXT, re.S | re.M)
    jobs = section.split("\n**")[1:]
    assert len(jobs) == 3
    for job in jobs:
        (page,) = re.findall(r"\((docs/\w+\.md)\)", job)
        assert (ROOT / page).is_file()
        (name,) = re.findall(r"^!\[.*\]\(.*/command_(\w+)\.png\)$", job, re.M)
        assert re.search(rf"^```sh\nikd-graph {name} (figure_eight|digits) ", job, re.M)


@pytest.mark.slow
def test_a_command_and_the_next_run_where_no_environment_is_activated(tmp_path):
    """What runs where it is activated is asked elsewhere."""
    program = Path(sys.executable).parent / "ikd-graph"
    bare = {name: each for name, each in os.environ.items() if name not in ("PATH", "VIRTUAL_ENV")}
    bare["PATH"] = os.defpath

    def run(words):
        done = subprocess.run(words, cwd=tmp_path, env=bare, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().splitlines()

    (line,) = re.findall(r"^ikd-graph (compare .*)$", TEXT, re.M)
    said = run([program, *shlex.split(line)])
    assert list((tmp_path / "results").glob("*_compare.png"))
    (following,) = [text for text in said if text.lstrip().startswith(str(program))]
    run(shlex.split(following))


def test_the_figures_are_those_of_committed_files_and_there_are_no_others():
    eights, heading = NUMBERS["eights"], NUMBERS["heading"]
    n_rows, n_columns = eights["rows, columns"]
    n_cells, n_bins = heading["cells, bins"]
    shuffled, below = heading["shuffled tables"], heading["of these with p < 0.05"]
    digits = [NUMBERS["digits, 5-NN"][name] for name in ("UMAP", "IKD")]
    words = re.sub(r"`[^`]*`|TMLR 2024|\d+ % intervals|x86|Python 3.11|need 20 columns", "", PROSE)
    assert re.findall(r"\d[\d.]*\d|\d", words) == [
        f"{n_cells}", f"{n_bins}",
        f"{heading['p value']}", f"{heading['p value of the loop']:.1g}",
        f"{heading['IKD']['default']:.0f}", f"{heading['UMAP']['default']:.0f}",
        f"{shuffled}", f"{100 * below / shuffled:.0f}", "0.05", f"{heading['of']}",
        f"{n_columns}", f"{n_rows}",
        f"{eights['tables']}", f"{max(eights[name]['settings'] for name in PEERS)}",
        f"{eights['tables']}", f"{100 * eights['held by 95 %']:.0f}",
        f"{NUMBERS['eights, closed forms']['geodesic']:.3f}", f"{eights['IKD']['mean']:.3f}",
        *(f"{100 * each:.0f}" for each in digits),
    ]  # fmt: skip
    assert round(heading["UMAP"]["default"]) == round(heading["t-SNE"]["default"])
    assert (heading["loops"], heading["shuffled tables with a ring"]) == (1, 0)
    assert f"# {round(NUMBERS['install']['MB'], -2)} MB" in TEXT


def test_the_table_is_that_of_the_numbers():
    ((default, best),) = re.findall(
        r"^\| by default \| (.*) \|\n\| at best \| - \| (.*) \|$", TEXT, re.M
    )
    assert re.findall(r"^\| R².*? \| (IKD .*) \|$", TEXT, re.M) == [" | ".join(METHODS)]
    for written, names, key in ((default, METHODS, "default, mean"), (best, PEERS, "mean")):
        assert written == " | ".join(f"{NUMBERS['eights'][name][key]:.3f}" for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["readme_pictures", "parameter_grids"])
def test_pictures_can_be_drawn(script, tmp_path):
    path = ROOT / "benchmarks" / "shown" / f"{script}.py"
    if not path.exists():
        pytest.skip("needs the sources")
    subprocess.run([sys.executable, path, "--quick", "--output", tmp_path], check=True)
    drawn = {path.name for path in tmp_path.iterdir()}
    shown = {Path(name).name for _, name in PICTURES} | {"numbers.json"}
    if "IKD_GRAPH_DATA" not in os.environ:
        shown.remove("hero.png")
    assert drawn >= (shown if script == "readme_pictures" else {"strategy_noise.png"})
