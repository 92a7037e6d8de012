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
PEERS = ("t-SNE", "Isomap", "UMAP", "PCA")
METHODS = ("IKD", *PEERS)
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


def decision(name, rows):
    """Figures of the rows of a record, by their heads."""
    record = (ROOT / "docs" / "decisions" / name).read_text(encoding="utf-8")
    return {
        head: [float(cell.rstrip("%")) for cell in cells.split(" | ") if cell]
        for head, cells in re.findall(rf"^\| ({rows}) \| (\d.*) \|$", record, re.M)
    }


def test_the_figures_are_those_of_committed_files_and_there_are_no_others():
    bars = decision("009-error-bars.md", "all|at a wrong optimum")
    null = decision("010-is-it-real.md", "all 5400")
    at_50, at_95, least = bars["all"][1], bars["all"][4], bars["at a wrong optimum"][4]
    eights, growth = (NUMBERS[each] for each in ("eights", "states, growth"))
    n_rows, n_columns = eights["rows, columns"]
    closed = NUMBERS["eights, closed forms"]
    digits = [NUMBERS["digits, 5-NN"][name] for name in ("UMAP", "IKD")]
    incomes = NUMBERS["states, incomes"]["UMAP"]["best"]
    words = re.sub(r"`[^`]*`|TMLR 2024|\d+ % intervals|x86", "", PROSE)
    assert re.findall(r"\d[\d.]*\d|\d", words) == [
        f"{n_columns}", f"{n_rows}",
        f"{eights['tables']}", f"{max(eights[name]['settings'] for name in PEERS)}",
        f"{eights['tables']}", f"{100 * eights['held by 95 %']:.0f}",
        "5400", f"{null['all 5400'][1]:.1f}", "0.05",
        *(f"{closed[name]:.3f}" for name in ("geodesic", "blockwise")),
        f"{growth['UMAP']['least']:.2f}", f"{growth['UMAP']['most']:.2f}",
        f"{growth['p value']:.3g}", f"{growth['agreement of halves']:.2f}", f"{incomes:.2f}",
        *(f"{100 * each:.0f}" for each in (*digits, at_95, least, at_50)),
    ]  # fmt: skip
    assert max(abs(NUMBERS["states, incomes"][name]["default"]) for name in METHODS) < 0.1


def test_the_tables_are_those_of_the_numbers():
    eights, states = re.findall(
        r"^\| by default \| (.*) \|\n\| at best \| - \| (.*) \|$", TEXT, re.M
    )
    heads = re.findall(r"^\| R².*? \| (IKD .*) \|$", TEXT, re.M)
    assert heads == [" | ".join(METHODS)] * 2
    for written, part, keys, digits in (
        (eights, "eights", ("default, mean", "mean"), 3),
        (states, "states, growth", ("default", "best"), 2),
    ):
        for text, names, key in zip(written, (METHODS, PEERS), keys, strict=True):
            found = (NUMBERS[part][name][key] for name in names)
            assert text == " | ".join(f"{value:.{digits}f}" for value in found)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["readme_pictures", "parameter_grids"])
def test_pictures_can_be_drawn(script, tmp_path):
    path = ROOT / "benchmarks" / "shown" / f"{script}.py"
    if not path.exists():
        pytest.skip("needs the sources")
    subprocess.run([sys.executable, path, "--quick", "--output", tmp_path], check=True)
    drawn = {path.name for path in tmp_path.iterdir()}
    shown = {Path(name).name for _, name in PICTURES} | {"numbers.json"}
    assert drawn >= (shown if script == "readme_pictures" else {"strategy_noise.png"})
