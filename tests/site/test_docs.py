"""Every snippet of the site runs, and every command on it is understood."""

import ast
import inspect
import re
import shlex
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from tables import process

import ikd_graph
from ikd_graph import IKD, cliques, columns, compare, datasets, diagnose, refine
from ikd_graph.cli import main
from ikd_graph.cli.parser import build_parser
from ikd_graph.similarity import AFFINITIES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = sorted(DOCS.glob("*.md"))
TUTORIALS = sorted((DOCS / "tutorials").glob("*.py"))


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(text):
    """Commands on a page, in blocks of their own and within sentences; of a tutorial too."""
    quoted = re.findall(r"`(ikd-graph \w[^`]*)`", text)
    indented = re.findall(r"^# +(ikd-graph .*)$", text, re.MULTILINE)
    lines = [line for block in blocks(text, "sh") for line in block.splitlines()]
    listed = [*quoted, *indented, *(line for line in lines if line.startswith("ikd-graph "))]
    return [line for line in listed if "--help" not in line and shlex.split(line)[2:]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages speak of."""
    X, y = some_rows()
    table = pd.DataFrame(X, columns=[f"m{c}" for c in range(X.shape[1])])
    table.assign(kind=y).to_csv(tmp_path / "mydata.csv", index=False)
    counts = datasets.spike_counts(60, 30).X
    pd.DataFrame(counts).to_csv(tmp_path / "counts.csv", index=False)
    units = 10.0 ** np.arange(6)
    pd.DataFrame(X[:, 20:26] * units).to_csv(tmp_path / "sensors.csv", index=False)
    stocks().to_csv(tmp_path / "stocks.csv")
    rng = np.random.default_rng(0)
    # Too few days for samples of the model to be told: no likelihood is searched.
    sectors = np.repeat(rng.normal(size=(3, 96)), 10, axis=0)
    moves = 2.0 * rng.normal(size=96) + sectors + rng.normal(size=(30, 96))
    names = pd.Index([f"S{k}" for k in range(30)], name="stock")
    days = [f"d{k}" for k in range(96)]
    pd.DataFrame(moves, names, days).to_csv(tmp_path / "returns.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stocks():
    """Days x stocks of three sectors, their names in a row."""
    rng = np.random.default_rng(0)
    sector = np.repeat(["banks", "oil", "chips"], 12)
    names = [f"{name}{k}" for k, name in enumerate(sector)]
    days = pd.Index(pd.date_range("2020-01-01", periods=300).strftime("%Y-%m-%d"), name="day")
    X = rng.normal(size=(300, 3)).repeat(12, axis=1) + rng.normal(size=(300, 36))
    named = pd.DataFrame([sector], columns=names, index=pd.Index(["sector"], name="day"))
    return pd.concat([named, pd.DataFrame(X.round(3), columns=names, index=days)])


def some_rows():
    data = datasets.digits()
    # Of more than 300 rows the default leaves out the likelihood, which takes long to compile.
    rows = np.flatnonzero(data.y < 4)[:320]
    return data.X[rows], data.y[rows]


def names_of(page):
    """What two pages speak of without making it: any table, and one of annotated cells."""
    X, _ = some_rows()
    if page == "choose":
        return {"np": np, "IKD": IKD, "X": X, "X_counts": datasets.spike_counts(100, 60).X}
    adata = SimpleNamespace(X=X, obs={}, obsm={}, obsp={}, uns={}, layers={})
    return {"adata": adata} if page == "files" else {}


def run_snippets(text, names):
    for snippet in blocks(text, "python"):
        exec(compile(snippet, "page", "exec"), names)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p.read_text(), "python")], ids=lambda p: p.stem
)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, folder):
    run_snippets(page.read_text(), names_of(page.stem))


@pytest.mark.parametrize("page", [README, *PAGES, *TUTORIALS], ids=lambda p: p.stem)
def test_every_command_of_a_page_is_understood(page):
    for command in commands(page.read_text()):
        build_parser().parse_args(shlex.split(command)[1:])


def test_commands_are_found_and_a_wrong_one_would_be_seen():
    assert sum(len(commands(page.read_text())) for page in [*PAGES, *TUTORIALS]) >= 12
    with pytest.raises(SystemExit):
        build_parser().parse_args(["embed", "x.csv", "--no-such-flag"])


def shell_lines():
    """Commands in blocks, but for the demonstration, whose own test runs it."""
    lines = set()
    for page in [README, *PAGES]:
        for block in blocks(page.read_text(), "sh"):
            lines |= {line for line in block.splitlines() if line.startswith("ikd-graph ")}
    return sorted(lines - {"ikd-graph demo --output results"})


@pytest.mark.slow
@pytest.mark.parametrize("line", shell_lines())
def test_the_commands_in_blocks_run_on_files_of_those_names(line, folder, capsys):
    if "paper_blockwise" in line:
        # It refines many noisy tables: of 320 rows that takes minutes.
        table = folder / "mydata.csv"
        table.write_text("".join(table.read_text().splitlines(keepends=True)[:81]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(shlex.split(line)[1:]) == 0, capsys.readouterr().err
    assert list((folder / "results").iterdir())


def test_every_page_is_in_the_table_of_contents_in_its_order():
    listed = re.findall(
        r"^(\w[\w/]*)$", "".join(blocks((DOCS / "index.md").read_text(), "{toctree}")), re.M
    )
    pages = [name for name in listed if "/" not in name]
    assert pages == [
        *("start", "weak", "trust", "dubious", "topology", "columns", "cliques", "compare"),
        *("files", "choose", "how", "mathematics", "experiments", "large", "peers", "networkx"),
        *("messages", "api", "changelog"),
    ]
    assert {path.stem for path in PAGES} == {*pages, "index"} - {"api"}


def missing_links(page, text):
    """Relative links of a page to files or headings that are not among the sources."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if re.match(r"[a-z]+:", link):
            continue
        if not target.exists():
            yield f"{page.relative_to(ROOT)}: {link}"
        elif anchor:
            heads = re.findall(r"^#+ +(.+)$", target.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
            if anchor not in slugs:
                yield f"{page.relative_to(ROOT)}: {link}"


def test_links_between_files_lead_somewhere_without_the_site():
    made = ("_build", "gallery", "generated")
    pages = [p for p in ROOT.rglob("*.md") if not {*made, ".venv", ".git"} & {*p.parts}]
    assert len(pages) > 60
    planted = "[a](no.md) [b](start.md#no) [c](start.md) `[d](no.md)`"
    assert len([*missing_links(DOCS / "start.md", planted)]) == 2
    assert not {each for page in pages for each in missing_links(page, page.read_text())}


def called(node, known, own):
    """What the name of a node of code stands for; False where there is no such thing."""
    if isinstance(node, ast.Call):
        thing = called(node.func, known, own)
        parameters = inspect.signature(thing).parameters
        free = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
        assert free or {word.arg for word in node.keywords} <= set(parameters)
        return own if thing is IKD or getattr(thing, "__name__", "") == "fit" else thing
    if isinstance(node, ast.Attribute):
        return getattr(called(node.value, known, own), node.attr)
    return known[node.id] if node.id in known else getattr(own, node.id)


@pytest.mark.parametrize("guide", ["llms.txt", "skill/SKILL.md"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_programs_are_told_to_call_is_there(guide):
    X, _ = some_rows()
    model = IKD(2, graph=7, strategy="blockwise", refine=None).fit(X[:80])
    found = SimpleNamespace(
        answer=ikd_graph.align([X[:80], X[40:120]], columns=[range(64)] * 2).answer
    )
    known = {"ikd_graph": ikd_graph, "IKD": IKD, "model": model, "found": found, "print": print}
    known |= {"settings_": model.settings_}
    commands = build_parser()._subparsers._group_actions[0].choices
    words = {"ikd-graph", *commands, *AFFINITIES}
    codes = re.findall(r"`([^`]+)`", (DOCS / guide).read_text())
    assert len(codes) > 20
    for code in codes:
        if code.startswith("ikd-graph "):
            assert code.split()[1] in commands, code
        elif code.startswith("--"):
            assert code.split()[0] in commands["embed"].format_help(), code
        elif not code.startswith("pip ") and code not in words:
            statement = ast.parse(code).body[0]
            if isinstance(statement, ast.Assign) and statement.targets[0].id in IKD().get_params():
                continue
            called(statement.value, known, model)


def terms(page, heading):
    """Quoted terms of a definition list under a heading, as patterns."""
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    quoted = re.findall(r"^`(.+)`$", section, re.MULTILINE)
    patterns = {term: re.escape(term.strip("… ")).replace("…", ".{1,300}") for term in quoted}
    # One of them is said in the singular.
    return {
        term: each.replace("joints\\ are", "joints? (is|are)") for term, each in patterns.items()
    }


def heard(run):
    """Return what a function answers, raises and warns of, as one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            said = str(run())
        except ValueError as error:
            said = str(error)
    return "\n".join([said, *(str(each.message) for each in caught)])


def folded_town():
    """Distances of two parts of a map that share the points of one street."""
    rng = np.random.default_rng(0)
    street = np.column_stack([np.zeros(5), np.arange(5.0)])
    sides = [
        rng.uniform([0.5, 0.0], [3.0, 4.0], (n, 2)) * [way, 1] for n, way in ((20, -1), (12, 1))
    ]
    town = np.vstack([street, *sides])
    gaps = np.linalg.norm(town[:, None] - town, axis=-1)
    across = np.outer(np.sign(town[:, 0]), np.sign(town[:, 0])) < 0.0
    return sp.csr_array(np.where(across, 0.0, gaps))


def three_sessions(n_columns):
    """A curve in three sessions, each of which knows half of the columns."""
    t = np.linspace(0.0, 4.0, 150)
    X = process(np.column_stack([t, np.sin(2.0 * t)]), 4 * n_columns, noise=0.1)
    for k in range(3):
        X[50 * k : 50 * (k + 1), : k * n_columns] = np.nan
        X[50 * k : 50 * (k + 1), (k + 2) * n_columns :] = np.nan
    return X


def contradicting_sessions():
    """Three sessions of which the second has other rows in the columns of the first."""
    Z = np.random.default_rng(0).uniform(size=(120, 2)) * [4.0, 2.5]
    exchanged = np.random.default_rng(1).permutation(Z[40:80])
    X = process(np.vstack([Z, exchanged]), 220, 0.3)
    X[40:80, :100] = X[120:, :100]
    session, column = np.arange(120)[:, None] // 40, np.arange(220)
    return np.where((column >= 60 * session) & (column < 60 * session + 100), X[:120], np.nan)


def what_is_printed():
    """What a program says about joints, unknown pairs, cliques and columns."""
    model = IKD(2, strategy="blockwise", affinity="precomputed_distance")
    yield heard(lambda: f"{model.fit(folded_town()).joints_}\n{model.joints_.fixed}")
    model.set_params(refine=refine.Stress(noise=0.1))
    yield heard(lambda: model.fit(folded_town()).settings_)
    X, few = three_sessions(30), three_sessions(10)
    holes = IKD(2, missing="pairwise")
    yield heard(lambda: holes.fit(X).settings_)
    yield heard(lambda: IKD(2, missing="pairwise", refine="likelihood").fit(X).joints_)
    model = IKD(2, missing="pairwise", refine="likelihood")
    yield heard(lambda: model.fit(contradicting_sessions()).joints_)
    yield heard(lambda: IKD(2, missing="pairwise", strategy="eigen").fit(X))
    yield heard(lambda: holes.fit(few))
    yield heard(lambda: diagnose(X, missing="pairwise"))
    rng = np.random.default_rng(0)
    Z, slow = rng.normal(size=(120, 2)), np.cumsum(rng.normal(size=(120, 4)), axis=0)
    yield heard(lambda: columns(Z, Z @ rng.normal(size=(2, 6))))
    yield heard(lambda: columns(np.sort(Z, axis=0), slow))
    yield heard(lambda: IKD(2).fit(load_breast_cancer().data).settings_)
    yield " ".join(columns(Z, Z @ rng.normal(size=(2, 6))).to_pandas())
    yield " ".join(cliques.stability(rng.normal(size=(9, 40)), 0.1).to_pandas())
    rng = np.random.default_rng(0)
    levels = np.exp(rng.normal(size=60)) * (0.3 + rng.uniform(size=(100, 1)))
    yield heard(lambda: diagnose(levels + 0.3 * rng.normal(size=levels.shape)))
    # A surface, its columns shuffled, and random walks along either.
    surface = process(Z, 60, 0.2)
    shuffled = np.random.default_rng(5).permuted(surface, axis=0)
    for table in (surface, shuffled, np.cumsum(shuffled, axis=0), np.cumsum(shuffled, axis=1)):
        yield heard(partial(diagnose, table)).lower()
    for data in (datasets.load("medium"), datasets.load("digits"), datasets.half_moons(60)):
        unknown = replace(data, latent=data.latent if data.name.startswith("medium") else None)
        yield heard(partial(compare, unknown, noise=0, refine=None, max_rows=300))


@pytest.mark.slow
def test_messages_are_explained_as_the_program_prints_them(folder, capsys):
    page = (DOCS / "messages.md").read_text()
    listed = "cliques returns.csv --graph 0.4 --stability 20 --output results"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for command in (listed, "embed digits"):
            assert main(command.split()) == 0
    page_of_cliques = (folder / "results/returns_cliques.html").read_text()
    printed = "\n".join([*what_is_printed(), page_of_cliques, capsys.readouterr().out])
    headings = (
        "Line by line",
        "What was tried, and what was compared",
        "What is fixed, mirrored or free",
        "Pairs that stay unknown",
        "Cliques that stay",
        "Columns that make the map",
    )
    for heading in headings:
        patterns = terms(page, heading)
        assert len(patterns) >= 3
        assert [term for term, each in patterns.items() if not re.search(each, printed)] == []


def test_figures_of_the_paper_are_those_of_committed_files():
    text = (DOCS / "paper" / "paper.md").read_text()
    results, _, sources = text.partition("# What was measured")[2].partition("# Where the figures")
    results = results.partition("# Limits")[0]
    listed = set()
    for figures, name in re.findall(r"^- (.*): `(.*)`$", sources, re.M):
        source = (ROOT / name).read_text()
        numbers = [float(number) for number in re.findall(r"\d+\.\d+", source)]
        for figure in figures.split(", "):
            digits = len(figure.partition(".")[2])
            near = digits and float(figure) in [round(number, digits) for number in numbers]
            assert near or re.search(rf"\b{figure}\b", source), f"{name}: {figure}"
            listed.add(figure)
    assert set(re.findall(r"\d+(?: 000|\.\d+)?", results)) - listed == {"200", "95"}
