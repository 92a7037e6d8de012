"""The front page: short, with pictures that a script draws and figures of committed files."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```|^\|.*?$|^!.*?$|^#.*?$", "", TEXT, flags=re.S | re.M)
PROSE = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", PROSE)
NUMBERS = json.loads((ROOT / "docs" / "static" / "readme" / "numbers.json").read_text())
PICTURES = re.findall(r"^!\[([^]]*)\]\(([^)]+)\)$", TEXT, re.M)


def test_the_front_page_is_short_and_shows_pictures():
    assert len(TEXT.splitlines()) <= 110
    assert len(TEXT.split()) <= 750
    assert any(line.startswith("![") and "docs" in line for line in TEXT.splitlines()[:6])
    for words, name in PICTURES:
        assert len(words.split()) >= 5, name
        assert (ROOT / name).stat().st_size < 150_000, name


def test_sentences_are_short():
    sentences = [text.split() for text in re.split(r"[.:?]\s+|\n\n|\n- ", PROSE) if text.split()]
    assert max(map(len, sentences)) <= 30
    assert sum(map(len, sentences)) / len(sentences) <= 16


def test_each_job_has_a_picture_a_command_and_a_page():
    (section,) = re.findall(r"^## Three jobs\n(.*?)^## ", TEXT, re.S | re.M)
    jobs = section.split("\n**")[1:]
    assert len(jobs) == 3
    for job in jobs:
        (page,) = re.findall(r"\((docs/\w+\.md)\)", job)
        assert (ROOT / page).is_file()
        assert re.search(r"^!\[", job, re.M)
        assert re.search(r"^```sh\nikd-graph \w+ mydata.csv", job, re.M)


def test_the_figures_are_those_of_committed_files_and_there_are_no_others():
    record = (ROOT / "docs" / "decisions" / "009-error-bars.md").read_text(encoding="utf-8")
    rows = {
        name: [float(cell) for cell in cells.split(" | ")]
        for name, cells in re.findall(r"^\| (all|sd 0\.[36]) \| (\d+ \| .*) \|$", record, re.M)
    }
    at_50, at_95 = rows["all"][1], rows["all"][4]  # of intervals of 50 and 95 %
    small = min(rows["sd 0.3"][4], rows["sd 0.6"][4])
    eights, growth, noise = (NUMBERS[each] for each in ("eights", "states, growth", "noise"))
    n_rows, n_columns = eights["rows, columns"]
    peers = ("t-SNE", "Isomap", "UMAP", "PCA")
    digits = [NUMBERS["digits, 5-NN"][name] for name in ("UMAP", "IKD")]
    incomes = NUMBERS["states, incomes"]["UMAP"]["best"]
    words = re.sub(r"`[^`]*`|TMLR 2024|\d+ % intervals", "", PROSE)
    assert re.findall(r"\d[\d.]*\d|\d", words) == [
        f"{n_columns}", f"{n_rows}", f"{max(eights[name]['settings'] for name in peers)}",
        f"{eights['tables']}", f"{eights['IKD']['mean']:.3f}",
        *(f"{eights[name][each]:.3f}" for name in peers for each in ("default, mean", "mean")),
        f"{eights['tables']}", f"{100 * eights['held by 95 %']:.0f}",
        f"{noise['tables']}", f"{noise['below 0.05']}", "0.05",
        f"{growth['UMAP']['least']:.2f}", f"{growth['UMAP']['most']:.2f}",
        f"{growth['p value']:.3g}", f"{growth['agreement of halves']:.2f}", f"{incomes:.2f}",
        *(f"{100 * each:.0f}" for each in digits),
        *(f"{100 * each:.0f}" for each in (at_95, small, at_50)),
    ]  # fmt: skip


def test_the_table_of_states_is_that_of_the_numbers():
    cells = re.findall(r"^\| (\S+) \| (\S+) \| (\S+) \|", TEXT, re.M)
    growth = NUMBERS["states, growth"]
    assert {name for name, *_ in cells} == {"IKD", "Isomap", "PCA", "UMAP", "t-SNE"}
    for name, *written in cells:
        assert written == [f"{growth[name][each]:.2f}" for each in ("default", "best")]


@pytest.mark.slow
@pytest.mark.parametrize("script", ["readme_pictures", "parameter_grids"])
def test_pictures_can_be_drawn(script, tmp_path):
    path = ROOT / "benchmarks" / f"{script}.py"
    if not path.exists():
        pytest.skip("needs the sources")
    subprocess.run([sys.executable, path, "--quick", "--output", tmp_path], check=True)
    drawn = {path.name for path in tmp_path.iterdir()}
    shown = {Path(name).name for _, name in PICTURES} | {"numbers.json"}
    assert drawn >= (shown if script == "readme_pictures" else {"strategy_noise.png"})
