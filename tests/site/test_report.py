"""Pages: one HTML file that needs nothing else."""

import json
import re
import sys
import warnings
from base64 import b64decode
from copy import copy
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from tables import quiet

from ikd_graph import IKD, datasets, graph, inspect_cliques, loadings, refine, report
from ikd_graph._base.format import format_number, listed
from ikd_graph.datasets import Dataset, Labels
from ikd_graph.jobs.cliques import threshold_of
from ikd_graph.jobs.compare import Comparison, Row, sentences
from ikd_graph.plotting import charts, figures, plot
from ikd_graph.plotting.charts import Chart, Curve
from ikd_graph.report import page
from ikd_graph.report.page import DrawnPoints

VOID = {"meta", "link", "input", "br", "img"}
EVIL = '<script>alert("1")</script>&\u2028<!--<a href="x">'


class Outline(HTMLParser):
    """Checks that tags are balanced; gathers links, scripts and figures by their titles."""

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.figures, self.scripts = [], [], {}, []
        self.points = {}
        self.title = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [value for key, value in attrs if key in ("src", "href")]
        assert not any(key.startswith("on") for key in found)
        self.title = found.get("aria-label", self.title)
        if tag == "script":
            self.scripts.append(found)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["script"] and "type" in self.scripts[-1]:
            if "id" in self.scripts[-1]:
                self.points = json.loads(data)
            else:
                self.figures[self.title] = json.loads(data)


def outline(html):
    """Structure of a page, which asks for nothing from elsewhere and describes valid figures."""
    text = re.sub(r"<script>/\*\*.*?</script>", "<script></script>", html, flags=re.DOTALL)
    assert len(text) < 1_000_000
    found = Outline(text)
    assert all(link.startswith("data:") for link in found.links)
    assert not re.search(r"https?://", text)
    assert "nan" not in re.sub("<[^>]*>", "", text).replace("nano", "").split()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'")
    assert "'unsafe-eval'" not in policy
    assert policy.count("'sha256-") == sum("type" not in script for script in found.scripts)
    for spec in found.figures.values():
        go.Figure(spec["data"], spec["layout"])
    return found


def unpacked(packed):
    return np.frombuffer(b64decode(packed["bdata"]), dtype="<" + packed["dtype"])


def drawn_points(spec, visible=True):
    """Traces of points that are drawn: (name, coordinates)."""
    return [
        (trace.get("name", ""), np.column_stack([unpacked(trace["x"]), unpacked(trace["y"])]))
        for trace in spec["data"]
        if trace["mode"] == "markers" and trace.get("visible", True) is visible
    ]


def test_a_hostile_table_of_names_and_labels_stays_data_on_the_page():
    rng = np.random.default_rng(0)
    data = Dataset(
        X=rng.normal(size=(12, 30)).cumsum(axis=0), name=EVIL,
        row_names=(EVIL,) * 12, row_title=EVIL, notes=(EVIL,),
        labels=(Labels(EVIL, np.arange(12) % 2, (EVIL, "b")), Labels(EVIL, np.arange(12) / 9.0)),
    )  # fmt: skip
    model = IKD(strategy="geodesic", graph=4, refine=None).fit(data.X)
    html = report.embed_page(model, data, EVIL, {EVIL: {"knn": 0.5}}, steps=[(EVIL, EVIL)])
    found = outline(html)
    assert [script for script in found.scripts if "type" not in script] == [{}, {}]
    spec = found.figures[f"embedding of {EVIL}"]
    assert found.points["names"] == [EVIL] * 12
    # Plotly takes a few tags in text.
    assert "<a" not in json.dumps([spec, found.points["hover"]])
    shown = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert "alert(" not in shown.replace("alert(&#34;", "")
    curve = Curve(EVIL, np.arange(2.0), np.arange(2.0), "#123456")
    chart = Chart(EVIL, EVIL, EVIL, curves=(curve,), rows=(EVIL,), mark=(1.0, EVIL))
    assert "<a" not in json.dumps(figures.figure(chart))


def test_numbers_in_a_table_sort_by_value_and_stand_right():
    block = page.table(pd.DataFrame({"name": ["a", "b", "c"], "score": [0.5, np.nan, np.inf]}))
    html = page.render("Kind", "t", "l", [("Scores", [block])])
    assert outline(html).figures == {}
    assert len(html) < 40_000  # no library without a figure
    assert re.findall(r'data-v="(.*?)"', html) == ["0.5", "", ""]
    assert html.count("–") == 2
    assert 'class="n"><button type="button">score' in html


def test_every_point_of_a_page_has_its_coordinates_its_name_and_its_labels():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(50, 3)), rng.integers(-1, 3, 50)
    names = tuple(f"r{k}" for k in range(50))
    ages = np.where(np.arange(50) == 5, np.nan, np.linspace(0, 1, 50))
    data = Dataset(
        X=Z, row_names=names,
        labels=(Labels("kind", y, ("a", "b", "c"), palette=("#112233",)), Labels("age", ages)),
    )  # fmt: skip
    drawn = DrawnPoints(data)
    spec = figures.figure(drawn.scatter(Z, *drawn.paints))
    described = drawn.described({"score": list("ab" * 25)})
    assert described["names"] == [*names]
    assert described["hover"][6] == f"r6<br>kind: {'abc'[y[6]]}<br>age: {ages[6]}<br>score: a"
    assert [name for name, _ in drawn_points(spec)] == ["a", "b", "c", "no label"]
    for code, (_, at) in zip((0, 1, 2, -1), drawn_points(spec), strict=True):
        np.testing.assert_allclose(at, Z[y == code, :2], rtol=1e-6)
    kinds, numbers = spec["data"][:4], spec["data"][4:]
    assert kinds[0]["marker"]["color"] == "#112233"
    assert unpacked(kinds[1]["customdata"]).tolist() == np.flatnonzero(y == 1).tolist()
    assert [trace["visible"] for trace in numbers] == [False, False]
    assert unpacked(numbers[0]["customdata"]) == 5
    np.testing.assert_allclose(unpacked(numbers[1]["marker"]["color"]), np.delete(ages, 5))
    (menu,) = spec["layout"]["updatemenus"]
    assert menu["buttons"][1]["args"] == [{"visible": [False] * 4 + [True] * 2}, [*range(6)]]


def test_a_sample_keeps_each_class_in_proportion_and_the_page_says_so():
    codes = np.repeat([0, 1, 2], [9000, 900, 100])
    data = Dataset(X=np.zeros((10_000, 2)), labels=(Labels("", codes, ("a", "b", "c")),))
    drawn = DrawnPoints(data, 1000)
    assert drawn.rows.size == np.unique(drawn.rows).size == 1000
    np.testing.assert_allclose(np.bincount(codes[drawn.rows]), [900, 90, 10], atol=1)
    assert drawn.note.startswith(" 1,000 of 10,000")
    assert DrawnPoints(data).note == ""


ODD = [
    Chart("empty"),
    Chart("nothing", curves=(Curve("a", np.zeros(0), np.zeros(0), "#000000"),), log_y=True),
    Chart("gaps", curves=(Curve("a", np.arange(2.0), np.full(2, np.nan), "#000000"),)),
    Chart("single", curves=(Curve("a", np.ones(1), np.ones(1), "#000000", np.ones(1)),)),
    charts.counts([], "x", "y"),
    charts.counts([7], "x", "y"),
    charts.level_bars({}),
    charts.scatter(np.full((3, 2), np.nan), errors=np.full((3, 2), np.nan)),
    charts.scatter(np.arange(3.0), errors=np.ones(3)),
]


@pytest.mark.parametrize("chart", ODD, ids=lambda chart: chart.title)
def test_odd_charts_are_still_figures_on_pages_and_on_paper(chart):
    spec = figures.figure(chart)
    assert "NaN" not in json.dumps(spec)
    go.Figure(spec["data"], spec["layout"])
    assert len(plot.image(plot.chart(chart, ax=plot.axes()), dpi=40)) > 500


def test_what_is_missing_is_named_with_its_cure(monkeypatch):
    page._templates.cache_clear()
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(
        ImportError, match=r'need plotly and jinja2; pip install "ikd_graph\[plot\]"'
    ):
        page.render("Kind", "t", "l", [])


def comparison(scores, levels=(0.0,), failures=None, n_draws=4):
    """Comparison whose rows have the scores given: method -> one score for each level."""
    rng = np.random.default_rng(0)
    data = Dataset(X=rng.normal(size=(30, 5)), name="made", row_names=tuple("abcdefghij" * 3))
    found = Comparison(data, "maximum_likelihood", {"graph": "7 nearest <neighbors>"}, [])
    for title, values in scores.items():
        for noise, value in zip(levels, values, strict=True):
            row = Row(title, title, None, noise, np.nan, np.nan, np.nan, {})
            if title in (failures or {}):
                found.rows.append(row._replace(failure=failures[title]))
                continue
            values = value + 0.001 * rng.normal(size=(1, n_draws))
            scored = {"score": value, "half_width": 0.01, "seconds": 1.0, "values": values}
            found.rows.append(row._replace(**scored, embedding=rng.normal(size=(30, 2))))
    return found


def test_the_comparison_page_agrees_with_the_terminal():
    levels = (0.0, 0.5, 1.0)
    scores = {"blockwise": [0.99, 0.8, 0.5], "geodesic": [0.9, 0.8, 0.7], "umap": [0, 0, 0]}
    result = comparison(scores, levels, {"umap": "not <installed>"})
    html = report.compare_page(result, picture=b"PNG")
    text = unescape(re.sub("<[^>]*>", "", html))
    assert all(sentence in text for sentence in sentences(result))
    assert text.count("not <installed>") == 6  # under three pictures and in three rows
    found = outline(html)
    assert "geodesic, noise 0.5" in found.figures
    assert len(found.figures) == 1 + 2 * 3 + 1
    ((_, at),) = drawn_points(found.figures["blockwise, noise 0"])
    np.testing.assert_allclose(at, result.row("blockwise", 0.0).embedding, rtol=1e-6)
    (curves,) = [spec for title, spec in found.figures.items() if "against noise" in title]
    assert [t["name"] for t in curves["data"]] == ["blockwise", "geodesic"]
    assert unpacked(curves["data"][0]["error_y"]["array"]).max() > 0.0
    for said, gap in zip(found.points["hover"], result.disagreement, strict=True):
        assert said.endswith(f"disagreement: {gap:.2g}")


def inspect_given(model, data):
    """The inspection of a model, with the names and labels of its data."""
    return replace(inspect_cliques(model), data=data)


def clique_view(seed=0):
    rng = np.random.default_rng(seed)
    at = np.linspace(0, 6, 40)[:, None]
    X = np.sin(at * rng.uniform(0.5, 1.5, 30) + rng.uniform(0, 6, 30))
    half = Labels("", (at[:, 0] > 3).astype(int), ("early", "late"))
    data = Dataset(X=X, labels=(half,), name="bend")
    model = IKD(
        strategy="blockwise", affinity="correlation", graph=graph.Threshold(0.6, 4), refine=None
    )
    # A bend is nearly a line, of which the landmarks of a merge may warn.
    return inspect_given(quiet(model, X), data)


@pytest.fixture(scope="module")
def view():
    return clique_view()


def test_the_page_of_cliques_is_complete(view):
    warned = ["pass --n-neighbors 7, <b>not</b> a--b"]
    html = report.cliques_page(view, "ikd-graph cliques bend", picture=b"PNG", warnings=warned)
    assert '<noscript><img src="data:image/png;base64,UE5H"' in html
    assert "<li>pass --n-neighbors 7, &lt;b&gt;not&lt;/b&gt; a--b</li>" in html
    found = outline(html).figures
    counts = found["numbers over the threshold"]
    assert counts["layout"]["shapes"][0]["x0"] == 0.6
    edges = counts["data"][0]
    assert edges["name"] == "edges"
    np.testing.assert_allclose(unpacked(edges["x"]), view.levels.threshold, rtol=1e-6)
    np.testing.assert_array_equal(unpacked(edges["y"]), view.levels.edges)
    discs = [trace for trace in found["graph of cliques"]["data"] if trace["mode"] == "markers"]
    assert [trace.get("name") for trace in discs] == ["early", "late", None]
    assert unpacked(discs[2]["x"]).size == len(view.links)
    assert "early × " in discs[0]["text"][0]
    (_, at), = drawn_points(found["disagreement on the embedding"])  # fmt: skip
    np.testing.assert_allclose(at, view.model.embedding_, rtol=1e-6)
    said = outline(html).points["hover"]
    for row in range(40):
        held = [k for k, clique in enumerate(view.cliques) if row in clique]
        assert said[row].endswith("cliques: " + listed(held, 5))


def test_the_points_that_cliques_disagree_about_are_named(view):
    model = copy(view.model)
    model.embedding_ = model.embedding_.copy()
    model.embedding_[[3, 39]] += [[0.0, 5.0], [0.0, 9.0]]
    data = replace(view.data, row_names=tuple(f"s{k}" for k in range(40)), row_title="sample")
    named = replace(view, model=model, data=data)
    assert named.disagreed[:2].tolist() == [39, 3]
    assert 0.0 < named.disagreement_limit < 2.0
    said = " ".join(named.advice())
    n = named.disagreed.size
    assert re.search(rf"The cliques disagree about {n} points by more than .*: s39, s3\b", said)
    found = named.to_record()
    assert found["disagreed_about"] == [f"s{row}" for row in named.disagreed]
    members = [f"s{row}" for row in view.cliques[0]]
    assert found["cliques"][0]["members"] == members
    html = report.cliques_page(named)
    assert ", ".join(members) in html
    assert named.answer[0] in unescape(html)


def test_links_between_components_are_no_edges_or_cliques():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(8, 300)), 6, axis=0) + 0.5 * rng.normal(size=(48, 300))
    X = np.vstack([X, X[:2]])
    model = IKD(strategy="blockwise", affinity="correlation", graph=0.5, refine=None)
    quiet(model, X)
    view = inspect_cliques(model)
    # Copies of rows are joined, and all have the edges of the first.
    reference = nx.from_numpy_array(np.triu(np.corrcoef(X), 1) > 0.5)
    expected = {frozenset(c) for c in nx.find_cliques(reference) if len(c) > 1}
    assert view.n_links > 0
    facts = view.facts()
    assert facts["edges"] == reference.number_of_edges()
    assert facts["components"] == 8
    assert facts["maximal cliques"] == format_number(len(expected))
    at = int(np.flatnonzero(view.levels.threshold == 0.5)[0])
    assert view.levels.edges[at] == reference.number_of_edges()
    assert view.levels.cliques[at] == len(expected)
    assert {frozenset(clique.tolist()) for clique in view.cliques} == expected
    assert view.summary["edge_coverage"] == 1.0
    assert f"{view.n_links} links alone fix their positions" in report.cliques_page(view)


def groups_of_rows():
    rng = np.random.default_rng(1)
    X = np.repeat(3.0 * rng.normal(size=(3, 8)), 15, axis=0) + rng.normal(size=(45, 8))
    return np.vstack([X, X[:2]])


TABLES = {
    "curve": lambda: (clique_view().data.X, {}),
    "weak": lambda: (np.random.default_rng(0).normal(size=(40, 60)), {"graph": 0.1}),
    "counts": lambda: (datasets.spike_counts(60, 40).X, {"affinity": "hellinger", "graph": 0.7}),
    "groups": lambda: (groups_of_rows(), {"affinity": "euclidean", "graph": 0.6}),
    "digits": lambda: (datasets.digits().X[:120], {"graph": graph.Threshold(0.75, 3)}),
    "neighbors": lambda: (datasets.half_moons(80).X, {"affinity": "euclidean", "graph": 5}),
}


@pytest.mark.parametrize("name", TABLES)
def test_nothing_on_a_page_of_cliques_contradicts_the_rest(name):
    X, options = TABLES[name]()
    options = {"affinity": "correlation", "graph": 0.6, "kernel": "squared_exponential"} | options
    model = IKD(strategy="blockwise", refine=None, **options)
    view = inspect_cliques(quiet(model, X))
    facts, levels = view.facts(), view.levels
    removed = facts.get("edges removed as short-circuit edges", 0)
    used = threshold_of(model)
    if used is not None:
        at = int(np.flatnonzero(levels.threshold == used)[0])
        n_above = np.count_nonzero(view.graph.weights > used) // 2
        assert levels.edges[at] == n_above + removed
        if n_above == facts["edges"] and not removed:
            assert facts["maximal cliques"] == format_number(int(levels.cliques[at]))
            assert facts["components"] == levels.components[at]
    assert facts["largest clique"] >= view.cliques.sizes.max() >= 2
    # What the advice says of thresholds is so, and its cures work.
    said = " ".join(view.advice())
    again = {**options, "strategy": "geodesic", "refine": None}
    top = levels.attrs["connected_up_to"]
    if top > 0.02:
        below = quiet(IKD(**again | {"graph": graph.Threshold(top - 0.01, prune=False)}), X)
        above = quiet(IKD(**again | {"graph": graph.Threshold(top + 0.01, prune=False)}), X)
        assert below.component_labels_.max() == 0 < above.component_labels_.max()
        assert f"connected up to a threshold of {top:.3g}" in said
    else:
        joined = quiet(IKD(**again | {"graph": graph.Threshold(0.3, disconnected="join")}), X)
        assert graph.component_labels(joined.graph_).max() == 0
    assert (view.n_links > 0) == ("alone fix their positions" in said)


def test_looking_at_cliques_needs_a_model_that_has_some():
    X = np.random.default_rng(0).normal(size=(12, 300)).cumsum(axis=0)
    model = IKD(strategy="linear", refine=None).fit(X)
    with pytest.raises(ValueError, match=r"must have a graph .* strategy='linear'"):
        inspect_cliques(model)


def test_the_page_of_an_embedding_tells_what_was_done(view):
    html = report.embed_page(
        view.model, view.data, "ikd-graph embed bend", warnings=["beware <this>"],
        steps=[("Then:", "ikd-graph x")], picture=b"PNG",
    )  # fmt: skip
    found = outline(html)
    text = unescape(re.sub("<[^>]*>", "", html))
    for line in str(view.model.settings_).splitlines():
        assert line.partition("=")[2] in text
    for said in ("beware <this>", "Then:", "ikd-graph x", "ikd-graph embed bend"):
        assert said in text
    spec = found.figures["embedding of bend"]
    Z = np.vstack([at for _, at in drawn_points(spec)])
    np.testing.assert_allclose(Z, view.model.embedding_, rtol=1e-6)
    assert "neighbors of a point" in found.figures


def test_a_point_names_the_columns_in_which_its_row_is_unusual():
    X = np.random.default_rng(0).normal(size=(60, 20)).cumsum(axis=0)
    X[7, [3, 11]] = [80.0, -80.0]
    X[:, 5] = 1.0
    names = tuple(f"c<{k}" for k in range(20))
    data = datasets.Dataset(X, feature_names=names, row_names=tuple(f"r{k}" for k in range(60)))
    model = quiet(IKD(strategy="geodesic", refine=None), X)
    hover = outline(report.embed_page(model, data)).points["hover"]
    z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), np.inf)
    for row in (0, 7):
        name, *columns = hover[row].split("<br>")
        assert name == f"r{row}"
        order = np.argsort(-np.abs(z[row]))[:5]
        assert columns == [f"c&lt;{k}: {X[row, k]:.3g} ({z[row, k]:+.1f} sd)" for k in order]
    # What is missing or at its mean is not far.
    holes = DrawnPoints(Dataset(np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 2.0]])))
    said = holes.described(columns=True)["hover"]
    assert said == ["row 0<br>column 0: 1 (-1.2 sd)", "row 1", "row 2<br>column 0: 5 (+1.2 sd)"]
    # Values between points are no columns.
    similarity = np.corrcoef(X)
    given = quiet(IKD(strategy="geodesic", refine=None, affinity="precomputed"), similarity)
    page_of_pairs = outline(report.embed_page(given, datasets.Dataset(similarity)))
    assert page_of_pairs.points["hover"][7] == "row 7"


def test_a_point_has_arrows_to_where_the_columns_rise_that_change_most_there():
    rng = np.random.default_rng(0)
    z = rng.uniform(-1.0, 1.0, size=(200, 2))
    # "bend" changes in the right half alone; two columns are noise, one is constant.
    bend = np.maximum(z[:, 0], 0.0) ** 2
    X = np.column_stack([10.0 * z, 50.0 * bend, rng.normal(size=(200, 2)), np.ones(200)])
    X[:, :3] += 0.1 * rng.normal(size=(200, 3))
    names = ("east", "<north>", "bend", "a", "b", "flat")
    model = quiet(IKD(2, strategy="linear", refine=None, affinity="euclidean"), X)
    data = datasets.Dataset(X, feature_names=names)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "1 of 6 columns of X are constant")
        relevant = model.columns()
    html = report.embed_page(model, data, columns=relevant)
    assert "Arrows from the point under the cursor" in html
    points, Z = outline(html).points, model.embedding_
    found = loadings(Z, X, names=names)
    cell = np.ptp(Z, axis=0).max() / 8
    for row in range(0, 200, 20):
        shown = [points["columns"][str(k)] for k, *_ in points["arrows"][row]]
        first = found.top(6, where=row)
        sure = first["ikd0"] ** 2 + first["ikd1"] ** 2 > 4 * (
            first["ikd0_se"] ** 2 + first["ikd1_se"] ** 2
        )
        assert shown == [escape(name, quote=False) for name in first["column"][sure][:3]]
        for k, across, up, error in points["arrows"][row]:
            rises = found.values[row, k] * cell / X[:, k].std()
            np.testing.assert_allclose([across, up], rises, rtol=0.01, atol=1e-9)
            size = np.linalg.norm(found.standard_errors[row, k]) * cell / X[:, k].std()
            assert error == pytest.approx(size, rel=0.01)
            assert np.hypot(across, up) > 1.98 * error
    seen = set(points["columns"].values())
    assert {"east", "&lt;north&gt;", "bend"} <= seen <= {"east", "&lt;north&gt;", "bend", "a", "b"}
    # In one dimension, of tables with holes, and where columns mean nothing a page has no arrows.
    line = quiet(IKD(1, strategy="linear", refine=None, affinity="euclidean"), X)
    holes = np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X)
    for other, table, columns in ((line, X, relevant), (model, holes, relevant), (model, X, None)):
        html = report.embed_page(other, datasets.Dataset(table), columns=columns)
        assert "arrows" not in outline(html).points
        assert "Arrows from the point under" not in html


def test_a_page_colors_a_path_by_its_dates():
    X = np.random.default_rng(0).normal(size=(60, 20)).cumsum(axis=0)
    days = pd.date_range("2020-01-01", periods=60)
    data = datasets.Dataset(X, row_names=tuple(map(str, days.date)), row_title="day")
    model = quiet(IKD(strategy="geodesic", refine=None), X)
    figure = outline(report.embed_page(model, data)).figures["embedding of data"]
    points, path = figure["data"]
    assert path["name"] == "consecutive rows are joined"
    np.testing.assert_allclose(unpacked(path["x"])[:-1], model.embedding_[:, 0], rtol=1e-5)
    bar = points["marker"]["colorbar"]
    assert bar["title"]["text"] == "day"
    assert (bar["ticktext"][0], bar["ticktext"][-1]) == ("2020-01-01", "2020-02-29")
    # Each date stands where the color of its row is.
    seconds = 86400.0 * np.arange(60)
    np.testing.assert_allclose(unpacked(points["marker"]["color"]), seconds, rtol=1e-6)
    at = [str(days[0].date() + pd.Timedelta(seconds=value)) for value in bar["tickvals"]]
    assert at == bar["ticktext"]


def test_three_dimensions_are_drawn_in_pairs():
    data = datasets.gplvm_data("medium", 60, noise=0.1)
    search = refine.Likelihood(descent="annealed")
    model = quiet(IKD(3, refine=search, strategy="geodesic"), data.X[:60])
    data = replace(data, X=data.X[:60], labels=(), latent=None)
    page_of_it = outline(report.embed_page(model, data))
    found = page_of_it.figures
    solid = found["in three dimensions"]["data"][0]
    assert solid["type"] == "scatter3d"
    np.testing.assert_allclose(unpacked(solid["z"]), model.embedding_[:, 2], rtol=1e-5)
    (_, at), = drawn_points(found["dimensions 2 and 3"])  # fmt: skip
    np.testing.assert_allclose(at, model.embedding_[:, 1:], rtol=1e-5)
    main = found[f"embedding of {data.name}"]["data"]
    (line,) = [trace for trace in main if trace.get("name") == "± 1 standard error"]
    width = unpacked(line["x"])[:25].max() - model.embedding_[0, 0]
    assert width == pytest.approx(model.standard_errors_[0, 0], rel=1e-3)
    size = np.linalg.norm(model.standard_errors_[0])
    assert f"uncertainty: ± {size:.2g}" in page_of_it.points["hover"][0].split("<br>")
    # So does the picture of the model.
    assert len(model.plot(ax=plot.axes()).lines) == 1
