"""Figures on pages of the site are those of committed files, or settings that are named here."""

import csv
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets

from ikd_graph import IKD, cliques, covariance
from ikd_graph._base.format import spread

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

MEASURED = {
    "columns": {"docs/decisions/016-columns-of-a-map.md": "3 10"},
    "peers": {
        "benchmarks/shown/peers.md": "2.6 0.649 "
        "4.0 0.639 1.0 0.731 21.2 0.739 15.9 0.785 "
        "0.991 0.9 0.3 0.686 0.002 0.003 0.004 0.006 0.010 0.011 0.015 0.037 0.055",
        "benchmarks/shown/initialize.md": "0.161 0.160 0.210 0.212 0.879 0.436 0.487 0.562 "
        "0.456 0.909",
    },
    "dubious": {
        "benchmarks/battery/dubious.md": "0.008 0.24 0.04 0.61 0.74 0.93 0.94 0.836 0.892 0.902 "
        "0.907 0.914 0.947 0.959 0.970 0.988 2.5",
    },
    "topology": {
        "docs/static/questions/numbers.md": "9 22",
        "benchmarks/battery/topology.md": "0.99 58 79",
    },
    "mathematics": {
        "docs/decisions/018-one-variance.md": ".738 .844",
        "docs/decisions/023-rivals.md": "0.05 0.15 0.3",
        "examples/paper/results/fig6.md": ".696 .895",
    },
    "large": {
        "docs/decisions/005-neighbor-search.md": "0.97",
        "benchmarks/shown/same_everywhere.md": "0.9",
    },
    "trust": {
        "docs/decisions/009-error-bars.md": "95.6 65.7 90.7",
        "docs/decisions/023-rivals.md": "0.3",
        "docs/decisions/010-is-it-real.md": "5.3 14.0",
        "benchmarks/battery/trust.md": "0.15 0.34 0.35 0.47 0.66 0.84 0.95 0.98",
    },
}
"""Figures of a page by the file that they come from, which names its command."""

COMPUTED = {
    "cliques": ".96 1.00 .33 .66",
    "large": "0.24 0.01",
    "trust": "0.005 0.72 0.55 0.83 0.21 0.24 0.25 0.11 0.00",
}
"""Figures of a page that a test of this file computes again."""

TRUSTED_TABLES = ("load_breast_cancer", "load_digits", "load_diabetes")
"""Tables of scikit-learn on the page of numbers to trust."""

SETTINGS = {
    "choose": "0.1 0.6",  # thresholds
    "cliques": "0.8 .8 .5",  # thresholds
    "columns": "5 9.4",  # a rate, and the section of a book
    "compare": "95 0.01 0.03",  # an interval, and differences that count
    "dubious": "5 0.5",  # a rate, and the area of guessing
    "files": "3.5",  # a number as files have it
    "how": "2.1 2.2 2.5",  # sections of the paper
    "large": "1.24 1.12 0.61 2.5 1.18 0.68",  # versions
    "mathematics": "2.3 2.4 2.5 0.2 0.5 0.4 0.8",  # sections of the paper, and a rule
    "messages": "0.4 0.7 .5 .8 5 .05 1.5 0.01 0.03 95",  # levels
    "networkx": "3.4 .9",  # a version and a threshold
    "peers": ".01",  # a bound, of a file that the page names
    "start": "3.11 7.3",  # versions
    "topology": "5 .3 .5 .7 .003 68",  # a level, noise, and a p value
    "trust": ".05 0.4 0.7 95 50 1.96",  # levels and intervals
    "weak": "0.005",  # as a message has it
}
"""Figures that were set, not measured."""


def prose(page):
    """Text of a page without code, links and formulas."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```|`[^`]*`|\]\([^)]*\)", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^(\$\$.*?\$\$)", "", text, flags=re.DOTALL | re.MULTILINE)


def figures(page):
    """Decimal numbers and percentages of a page."""
    return set(re.findall(r"(?<![\w.])(?:\d*\.\d+(?![\w.])|\d+(?= ?%))", prose(page)))


PAGES = sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "changelog")


@pytest.mark.parametrize("page", PAGES)
def test_every_figure_of_a_page_has_a_source(page):
    known = {*SETTINGS.get(page, "").split(), *COMPUTED.get(page, "").split()}
    known |= {figure for named in MEASURED.get(page, {}).values() for figure in named.split()}
    assert figures(page) <= known


@pytest.mark.parametrize(
    ("page", "source"), [(page, source) for page in MEASURED for source in MEASURED[page]]
)
def test_the_source_of_a_figure_has_it_and_names_a_command(page, source):
    text = (ROOT / source).read_text(encoding="utf-8")
    linked = source.removeprefix("docs/") in (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert linked or re.search(r"`[^`]*python [^`]*`", text)
    numbers = [float(number) for number in re.findall(r"\d*\.?\d+(?:e-?\d+)?", text)]
    for figure in MEASURED[page][source].split():
        digits = len(figure.partition(".")[2])
        shown = {round(factor * number, digits) for number in numbers for factor in (1.0, 100.0)}
        assert figure in prose(page), figure
        assert float(figure) in shown, figure


SCRIPTED = [
    *(path for folder in ("benchmarks/battery", "benchmarks/shown", "docs/decisions")
      for path in sorted((ROOT / folder).glob("*.md")) if path.stem != "index"),
    DOCS / "static" / "questions" / "numbers.md",
]  # fmt: skip
"""Tables and decisions, whose figures a command made."""


@pytest.mark.parametrize("path", SCRIPTED, ids=lambda path: path.stem)
def test_a_file_of_figures_names_a_command_and_the_commit_it_was_measured_at(path):
    text = path.read_text(encoding="utf-8")
    assert re.search(r"`[^`]*(?:python|pytest) [^`]*`|script not kept", text)
    assert re.search(r"commits?\s+[0-9a-f]{7,8}\b", text)


def test_what_is_said_of_other_computers_is_in_the_table():
    with open(ROOT / "benchmarks" / "shown" / "same_everywhere.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    moves: dict[bool, list[float]] = {True: [], False: []}
    for row in rows:
        if row["method"] != "UMAP":
            moves[row["method"].endswith("errors")].append(float(row["move"]))
    assert max(moves[False]) < 1e-12
    assert max(moves[True]) < 1e-7
    assert len({row["table"] for row in rows}) == 12


def test_what_is_said_of_networkx_is_in_the_tables():
    text = (ROOT / "benchmarks" / "shown" / "networkx_backend.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [\w ,%]+ \| \d+ \| (\d+) \| [^|]+ \| ([\d.]+) \|", text, re.MULTILINE)
    assert len(rows) == 6 * 7
    many, few = (
        [int(float(r)) for *_, m, r in rows if (int(m) > 10_000) is large]
        for large in (True, False)
    )
    page = " ".join((DOCS / "networkx.md").read_text(encoding="utf-8").split())
    assert f"they come {min(many)} to {max(many)} times as fast" in page
    assert f"with 1 000 edges at least {min(few)} times" in page


def test_the_reading_of_the_channels(data_home):
    text = " ".join((DOCS / "cliques.md").read_text().split())
    with np.load(data_home / "eeg_channels.npz") as file:
        X = covariance.remove_mean_row(file["X"].astype(float))
    stable = cliques.stability(X, 0.5)
    table = stable.to_pandas()
    fours = table["stability"][table["size"] == 4].to_numpy()
    low, high = fours[fours < 0.9], fours[fours >= 0.9]
    assert high.size == 4
    shown = [np.floor(100.0 * value + 0.5 + 1e-9) / 100.0 for value in (high.min(), high.max())]
    assert f"({shown[0]:.2f} to {shown[1]:.2f})".replace("0.", ".") in text
    assert f"count as {stable.n_columns:.0f}" in text
    assert len(cliques.communities(stable.cliques, 3)) == 2
    between = [table["stability"][table["size"] > 3].min(), low.max()]
    shown = [f"{np.floor(100.0 * value + 0.5 + 1e-9) / 100.0:.2f}"[1:] for value in between]
    assert "those between patches have {} to {}".format(*shown) in text


@pytest.mark.slow
def test_the_numbers_to_trust_are_those_of_the_tables():
    tables = {name: getattr(sklearn.datasets, name)().data for name in TRUSTED_TABLES}
    shuffled = np.random.default_rng(0).permuted(tables["load_breast_cancer"], axis=0)
    tables["the first, shuffled"] = shuffled
    text = (DOCS / "trust.md").read_text(encoding="utf-8")
    for name, X in tables.items():
        (line,) = re.findall(rf"^\| `?{name}`? \|(.*)\|$", text, flags=re.MULTILINE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = IKD(2).fit(X).trust_
        numbers, halves = found.numbers, spread(found.agreements)
        assert name != TRUSTED_TABLES[0] or f'"{halves}"' in text
        size, *shown, _ = [cell.strip() for cell in line.split("|")]
        assert size == "{}, {}".format(*X.shape)
        assert shown[0] == f"{numbers['p value']:.2g}"
        for key, figure in zip(("agreement of halves", "reliability"), shown[1:], strict=True):
            # Of weak halves the second digit is another with other instructions (docs/large.md).
            told = pytest.approx(float(figure), abs=0.015) if figure != "none" else None
            assert numbers.get(key) == told, (name, key)
