"""Pages: one HTML file that needs nothing else."""

import json
import re
import sys
from base64 import b64decode
from collections import Counter
from copy import copy
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import plotly.graph_objects as go
import pytest
from tables import quiet

from ikd_graph import IKD, graph
from ikd_graph.show import charts, colors, figures, network, page, plot, points, report
from ikd_graph.show.charts import Chart, Curve
from ikd_graph.show.report import clique_view as views
from ikd_graph.show.report import clique_words
from ikd_graph.show.words import say_number
from ikd_graph.study import datasets
from ikd_graph.study.compare import Comparison, Row, sentences
from ikd_graph.study.datasets import Dataset, Labels

VOID = {"meta", "link", "input", "br", "img"}


class Outline(HTMLParser):
    """Checks that tags are balanced; gathers tags, links, data blocks and described figures."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.figures, self.blocks = [], [], [], [], {}
        self.scripts = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        found = dict(attrs)
        self.links += [value for key, value in attrs if key in ("src", "href")]
        assert not any(key.startswith("on") for key in found)
        if "data-kind" in found:
            self.figures.append([found["data-kind"], found["aria-label"], None])
        if tag == "script":
            self.scripts.append(found)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["script"] or "type" not in self.scripts[-1]:
            return
        if "id" in self.scripts[-1]:
            self.blocks[self.scripts[-1]["id"]] = json.loads(data)
        elif self.figures and self.figures[-1][2] is None:
            self.figures[-1][2] = json.loads(data)

    def specs(self, kind, label=""):
        return [spec for sort, name, spec in self.figures if sort == kind and label in name]


def outline(html):
    """Structure of a page, which asks for nothing from elsewhere and describes valid figures."""
    ours = html.replace(page._templates().globals["library"], "")
    found = Outline(ours)
    assert all(link.startswith("data:") for link in found.links)
    assert "http://" not in ours
    assert "https://" not in ours
    assert "nan" not in re.sub("<[^>]*>", "", ours).replace("nano", "").split()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'")
    assert "'unsafe-eval'" not in policy
    assert policy.count("'sha256-") == sum("type" not in script for script in found.scripts)
    for spec in found.specs("chart"):
        go.Figure(spec["data"], spec["layout"])
    return found


def part(call, **found):
    """HTML of one macro of the templates."""
    text = '{% import "parts.html" as parts with context %}{{ parts.' + call + " }}"
    return page._templates().from_string(text).render(**found)


def unpacked(packed):
    return np.frombuffer(b64decode(packed["bdata"]), dtype="<" + packed["dtype"])


EVIL = '<script>alert("1")</script>&\u2028<!--'


def test_text_from_data_cannot_become_markup():
    made = [
        part("facts({evil: evil})", evil=EVIL),
        part("reasons({evil: evil})", evil=EVIL),
        part("advice([evil])", evil=EVIL),
        part("steps([(evil, evil)])", evil=EVIL),
        part("table(found)", found=page.table([EVIL], [[EVIL]], sortable=True)),
        part("bars(found)", found=charts.levels({EVIL: 1.0}, str)),
        part("names([(evil, evil, '#123456')])", evil=EVIL),
        part("choice(evil, evil, [evil])", evil=EVIL),
        part("figure(evil, evil, evil)", evil=EVIL),
    ]
    for html in made:
        assert "<script" not in html
        assert "<!--" not in html
        Outline(html)
    for html in (
        part("chart(found, evil)", found={"data": [{"name": EVIL}]}, evil=EVIL),
        part("scatter(found, evil)", found={"dims": EVIL}, evil=EVIL),
    ):
        block = html.split('application/json">')[1].split("</script>")[0]
        assert not set("<>&\u2028\u2029") & set(block)
        assert Outline(html).tags.count("script") == 1


def test_a_hostile_table_of_names_and_labels_stays_data_on_the_page():
    rng = np.random.default_rng(0)
    data = Dataset(
        X=rng.normal(size=(12, 30)).cumsum(axis=0), y=np.arange(12) % 2, name=EVIL,
        label_names=(EVIL, "b"), label_title=EVIL, row_names=(EVIL,) * 12, row_title=EVIL,
        remarks=(EVIL,), notes=(EVIL,),
    )  # fmt: skip
    model = IKD(strategy="geodesic", graph=4, refine=None).fit(data.X)
    html = report.embed_page(model, data, EVIL, {EVIL: {"knn": 0.5}}, steps=[(EVIL, EVIL)])
    found = outline(html)
    assert [script for script in found.scripts if "type" not in script] == [{}, {}]
    table = found.blocks["points"]
    assert table["names"] == [EVIL] * 12
    assert table["columns"][0]["classes"] == [EVIL, "b"]
    assert "alert(" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL).replace(
        "alert(&#34;", ""
    )


def test_text_that_plotly_draws_has_no_tags():
    evil = '<a href="x">'
    chart = Chart(evil, evil, evil, (Curve(evil, np.arange(2.0), np.arange(2.0), "#123456"),),
                  mark=(1.0, evil))  # fmt: skip
    made = figures.figure(chart)
    notes = figures.network_figure(network.network(nx.path_graph(2)), [evil, "b"], {})
    for one in (made, notes):
        for trace in one["data"]:
            trace.pop("meta", None)
        one["layout"].pop("name", None)
        texts = [note["text"] for note in one["layout"].get("annotations", [])]
        assert not any("<a" in text for text in texts)
        assert "<a" not in json.dumps(one["data"])


def test_numbers_in_a_table_sort_by_value_and_stand_right():
    rows = [["a", 0.5], ["b", None], ["c", np.nan]]
    html = part("table(found)", found=page.table(["name", "score"], rows, sortable=True))
    assert re.findall(r'data-v="(.*?)"', html) == ["0.5", "", ""]
    assert html.count("–") == 2
    assert 'class="n"><button type="button">score' in html


def test_bars_are_as_long_as_their_values():
    values = {"a": 1.0, "b": 0.5, "c": np.nan, "d": -3.0}
    html = part("bars(found)", found=charts.levels(values))
    assert re.findall(r"width:([\d.]+)%", html) == ["72.0", "36.0", "0.0", "0.0"]
    assert "did not finish" in html
    drawn = plot.level_bars(values, ax=plot.axes())
    assert [bar.get_width() for bar in drawn.patches] == [1.0, 0.5, 0.0, 0.0]
    assert [text.get_text() for text in drawn.texts] == ["1", "0.5", "did not finish", "-3"]


def test_a_legend_lists_the_classes_that_have_points():
    one = colors.Paint("kind", colors.Groups(("a", "b", "c"), np.array([2, 0, -1])))
    html = part("legend(one)", one=points.legend(one))
    assert re.findall(r"</i>(.*?)</button>", html) == ["a", "c", "no label"]
    assert "kind" in html
    scale = colors.Paint("age", None, np.array([1.0, np.nan, 3.0]))
    html = part("legend(one)", one=points.legend(scale))
    assert "age" in html
    assert re.findall("<span>(.*?)</span>", html) == ["1", "3"]


def test_classes_that_came_with_colours_have_them_on_the_page():
    codes, mine = np.array([0, 1, 2]), ("#112233", "#445566")
    data = Dataset(X=np.eye(3), y=codes, label_names=("a", "b", "missing"), label_palette=mine)
    one = points.paint_points(data)
    shades = [*mine, colors.class_color(2)]
    assert [entry[2] for entry in points.legend(one)["entries"]] == shades
    (column,) = points.table(data, [one], codes)["columns"]
    assert column["colors"] == [*shades, colors.MUTED]


def test_every_point_of_a_page_has_its_place_name_and_labels():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 3))
    y = rng.integers(0, 3, 50)
    data = Dataset(
        X=Z, y=y, label_names=("a", "b", "c"), row_names=tuple(f"r{k}" for k in range(50)),
        other_labels=(Labels("age", np.linspace(0, 1, 50), ()),),
    )  # fmt: skip
    paints = [points.paint(labels) for labels in data.all_labels]
    rows = points.rows_to_draw(data, 20)
    table = points.table(data, paints, rows, errors=np.arange(50.0))
    made = points.picture(Z, rows)
    assert rows.size == table["n"] == len(table["names"]) == 20
    assert table["names"][3] == f"r{rows[3]}"
    assert unpacked(table["index"]).tolist() == rows.tolist()
    assert unpacked(table["columns"][0]["data"]).tolist() == y[rows].tolist()
    np.testing.assert_allclose(unpacked(table["columns"][1]["data"]), rows / 49, atol=1e-6)
    np.testing.assert_allclose(unpacked(table["errors"]), rows)
    for k, dim in enumerate(made["dims"]):
        np.testing.assert_allclose(unpacked(dim["data"]), Z[rows, k], rtol=1e-6)


def test_a_sample_keeps_each_class_in_proportion():
    codes = np.repeat([0, 1, 2], [9000, 900, 100])
    rows = points.sample_rows(codes, 1000)
    assert rows.size == np.unique(rows).size == 1000
    np.testing.assert_allclose(np.bincount(codes[rows]), [900, 90, 10], atol=1)
    assert points.sample_rows(codes, 10_000).tolist() == list(range(10_000))


def test_rows_are_in_order_where_their_names_or_their_places_say_so():
    walk = np.cumsum(np.random.default_rng(0).normal(size=(200, 2)), axis=0)
    mixed = np.random.default_rng(1).permutation(walk)
    named = Dataset(X=mixed, row_names=tuple(f"{k}.5" for k in range(200)))
    assert points.in_order(Dataset(X=walk), walk)
    assert not points.in_order(Dataset(X=mixed), mixed)
    assert points.in_order(named, mixed)
    assert not points.in_order(replace(named, row_names=named.row_names[::-1]), mixed)


def test_discs_of_a_network_grow_with_their_size_in_area():
    graph = nx.Graph()
    graph.add_node("a", size=4)
    graph.add_node("b", size=16)
    graph.add_edge("a", "b", overlap=3)
    net = network.network(graph, [[0.0, 1.0], [2.0, 3.0]])
    np.testing.assert_allclose(net.radii[1] / net.radii[0], 2.0, rtol=0.02)
    *lines, discs = figures.network_figure(net, ["a", "b"], {"color": "#123456"})["data"]
    assert [discs["x"], discs["y"]] == [[0.0, 2.0], [1.0, 3.0]]
    assert sum(len(line["x"]) for line in lines) == 3  # both ends, and a gap


def test_only_the_strongest_edges_of_a_crowded_network_are_drawn():
    graph = nx.complete_graph(20)
    for weight, (a, b) in enumerate(graph.edges):
        graph.edges[a, b]["overlap"] = weight + 1
    assert len(network.network(graph, most_edges=50).ends) == 50


ODD = [
    Chart("empty"),
    Chart("nothing", curves=(Curve("a", np.zeros(0), np.zeros(0), "#000000"),), log_y=True),
    Chart("holes", curves=(Curve("a", np.arange(2.0), np.full(2, np.nan), "#000000"),)),
    Chart("one", curves=(Curve("a", np.ones(1), np.ones(1), "#000000", np.ones(1)),)),
    charts.counts([], "x", "y"),
    charts.counts([7], "x", "y"),
    charts.spectrum([0.0]),
]


@pytest.mark.parametrize("chart", ODD, ids=lambda chart: chart.title)
def test_odd_charts_are_still_figures_on_pages_and_on_paper(chart):
    made = figures.figure(chart)
    assert "NaN" not in json.dumps(made)
    go.Figure(made["data"], made["layout"])
    assert len(plot.png(plot.chart(chart, ax=plot.axes()), dpi=40)) > 500


def test_no_band_exceeds_the_ceiling_on_pages_or_on_paper():
    curve = Curve("a", np.arange(2.0), np.full(2, 0.9), "#123456", np.full(2, 0.9))
    for ceiling, top in ((None, 1.8), (1.0, 1.0)):
        chart = Chart("t", curves=(curve,), ceiling=ceiling)
        band, _ = figures.figure(chart)["data"]
        assert max(band["y"]) == top
        drawn = plot.chart(chart, ax=plot.axes()).collections[0].get_paths()[0].vertices
        assert drawn[:, 1].max() == top


def test_the_mark_of_a_chart_stands_at_its_value():
    made = figures.figure(charts.spectrum([9.0, 8.0, 1.0], 2))
    assert made["data"][0]["marker"]["color"] == [colors.ACCENT, colors.ACCENT, colors.MUTED]
    assert made["layout"]["shapes"][0]["x0"] == 2.5
    assert made["layout"]["annotations"][-1]["text"] == "gap after 2"


def test_a_page_without_figures_has_no_library(tmp_path):
    found = page.render("diagnose.html", title="t", lead="l", findings={"a": "b"}, charts=[])
    assert len(found) < 40_000
    outline(found)


def test_what_is_missing_is_named_with_its_cure(monkeypatch):
    page._templates.cache_clear()
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(
        ImportError, match=r'need plotly and jinja2; pip install "ikd_graph\[plot\]"'
    ):
        page.render("diagnose.html")


@pytest.mark.parametrize(
    ("y", "names", "kind"),
    [
        (np.array([0, 1, 1]), ("a", "b"), "groups"),
        (np.array([0.5, 1.5, np.nan]), (), "values"),
        (None, (), None),
    ],
)
def test_points_are_painted_by_what_is_known_of_them(y, names, kind):
    data = Dataset(X=np.eye(3), y=y, label_names=names)
    found = points.paint_points(data)
    assert (found.groups is not None) == (kind == "groups")
    assert (found.values is not None) == (kind == "values")
    assert ("entries" in points.legend(found)) == (kind != "values")
    table = points.table(data, [found], np.arange(3))
    json.dumps(table, allow_nan=False)
    column = table["columns"][0]
    assert ("classes" in column) == (kind == "groups")
    held = unpacked(column["data"])
    np.testing.assert_array_equal(held, np.zeros(3) if y is None else y)


def test_a_picture_that_leaves_points_out_says_so():
    data = Dataset(X=np.zeros((50, 2)))
    assert points.drawn_note(points.rows_to_draw(data, 20), 50).startswith(" 20 of 50")
    assert points.drawn_note(points.rows_to_draw(data), 50) == ""


def comparison(scores, levels=(0.0,), failures=None, n_draws=4):
    """Comparison whose rows have the scores given: method -> one score for each level."""
    rng = np.random.default_rng(0)
    data = Dataset(X=rng.normal(size=(30, 5)), name="made", row_names=tuple("abcdefghij" * 3))
    found = Comparison(data, "likeliest", {"graph": "7 nearest <neighbours>"}, [], {}, {})
    for title, values in scores.items():
        for noise, value in zip(levels, values, strict=True):
            row = Row(title, title, None, noise, np.nan, np.nan, np.nan, {})
            if title in (failures or {}):
                found.rows.append(row._replace(failure=failures[title]))
                continue
            found.rows.append(row._replace(score=value, error=0.01, seconds=1.0))
            found.scores[title, noise] = value + 0.001 * rng.normal(size=(1, n_draws))
            found.embeddings[title, noise] = rng.normal(size=(30, 2))
    return found


def test_the_page_of_a_comparison_has_a_panel_and_a_row_for_each_method():
    found = comparison({"blockwise": [0.9], "pca": [0.5], "umap": [0.0]}, failures={"umap": "gone"})
    html = report.compare_page(found, "ikd-graph compare made")
    page_of = outline(html)
    assert len(page_of.specs("points")) == 2
    assert page_of.tags.count("tr") == 1 + 3
    assert "gone" in html
    assert "Against noise" not in html
    assert "Where they disagree" not in html
    assert "7 nearest &lt;neighbours&gt;" in html
    assert "ikd-graph compare made" in html


def test_the_page_says_what_the_terminal_says_and_lists_where_methods_disagree():
    levels = (0.0, 0.5, 1.0)
    found = comparison({"blockwise": [0.99, 0.8, 0.5], "geodesic": [0.9, 0.8, 0.7]}, levels)
    html = report.compare_page(found)
    text = re.sub("<[^>]*>", "", html)
    assert all(sentence in text for sentence in sentences(found))
    (chart,) = outline(html).specs("chart", "against noise")
    bands = [trace for trace in chart["data"] if trace.get("fill")]
    assert [trace["meta"] for trace in bands] == ["blockwise", "geodesic"]
    assert len(outline(html).specs("points")) == 2 * 3
    listed = re.findall(r"<td>(\w)</td><td class=\"n\" data-v=\"([^\"]+)\">", html)
    gaps = [float(gap) for _, gap in listed]
    assert gaps == sorted(found.disagreement, reverse=True)
    assert listed[0][0] == found.names[int(np.argmax(found.disagreement))]


def clique_view(seed=0):
    rng = np.random.default_rng(seed)
    at = np.linspace(0, 6, 40)[:, None]
    X = np.sin(at * rng.uniform(0.5, 1.5, 30) + rng.uniform(0, 6, 30))
    data = Dataset(X=X, y=(at[:, 0] > 3).astype(int), label_names=("early", "late"), name="bend")
    model = IKD(
        strategy="blockwise", affinity="correlation", graph=graph.Threshold(0.6, 4), refine=None
    ).fit(X)
    return report.view_cliques(model, data)


@pytest.fixture(scope="module")
def view():
    return clique_view()


def test_the_page_of_cliques_is_whole(view):
    html = report.cliques_page(view, "ikd-graph cliques bend", picture=b"PNG")
    assert '<noscript><img src="data:image/png;base64,UE5H"' in html
    found = outline(html)
    levels = json.loads(
        re.search(r'levels><script type="application/json">(.*?)</script>', html)[1]
    )
    assert len(levels) == view.levels.threshold.size
    assert all(set(level) == set(levels[0]) for level in levels)
    assert "early × " in html
    (net,) = found.specs("chart", "graph of cliques")
    assert len(net["data"][-1]["x"]) == len(view.links)
    assert len(net["shades"]) == 2
    for chart in found.specs("chart", "against the threshold"):
        # The used threshold and the cursor.
        assert len(chart["layout"]["shapes"]) == 2


def test_each_clique_puts_its_points_near_where_they_are(view):
    (residuals, _) = outline(report.cliques_page(view)).specs("points")
    places = {name: unpacked(one) for name, one in residuals["places"].items()}
    Z = view.model.embedding_
    at = places["at"].reshape(-1, Z.shape[1])
    for row in range(len(Z)):
        mine = slice(*places["start"][row : row + 2])
        held = [k for k, clique in enumerate(view.model.cliques_) if row in clique]
        assert sorted(places["clique"][mine].tolist()) == held
        off = np.linalg.norm(at[mine] - Z[row], axis=1)
        assert off.max() <= 3.0 * view.model.merge_residuals_[row] + 0.05 * np.ptp(Z)


def test_the_largest_cliques_are_drawn_by_their_numbers(view, monkeypatch):
    monkeypatch.setattr(views, "MOST_DISCS", 5)
    few = replace(view).links
    sizes = view.cliques.sizes
    assert sorted(sizes[list(few)]) == sorted(sizes)[-5:]
    assert all(len(view.cliques[k]) == size for k, size in few.nodes(data="size"))


def test_no_line_ends_within_a_flag_and_text_stays_text(view):
    html = report.cliques_page(view, warnings=["pass --n-neighbors 7, <b>not</b> a--b"])
    assert (
        '<li>pass <span class="flag">--n-neighbors</span> 7, &lt;b&gt;not&lt;/b&gt; a--b</li>'
    ) in html


def test_axes_say_how_the_picture_is_spread(view):
    model, spread = copy(view.model), np.array([3.0, 1.0]) * np.eye(2)
    model.embedding_ = np.tile(np.concatenate([spread, -spread]), (10, 1))
    html = report.cliques_page(replace(view, model=model))
    notes = [[dim["note"] for dim in one["dims"]] for one in outline(html).specs("points")]
    assert notes == [[" (90% of the embedding's spread)", " (10% of the embedding's spread)"]] * 2


def test_removed_edges_are_drawn_between_the_rows_they_join(view):
    assert outline(report.cliques_page(view)).specs("points")[0]["links"] == []
    model = copy(view.model)
    model.removed_edges_ = np.array([[0, 5]])
    html = report.cliques_page(replace(view, model=model))
    assert outline(html).specs("points")[0]["links"] == [[0, 5]]
    assert "1 removed edge" in html


def test_the_cliques_of_cells_are_those_that_networkx_finds_and_are_of_a_stage(data_home):
    cells = datasets.load("guo_qpcr")
    # Of neighbours alone: a threshold makes cliques of several stages.
    model = IKD(strategy="blockwise", refine=None, graph=15).fit(cells.X)
    # Levels of a threshold are tested by themselves, and take seconds.
    view = report.view_cliques(model, cells, thresholds=[0.7, 0.9])
    facts = clique_words.clique_facts(view)
    twin = graph.to_networkx(model.graph_)
    expected = sorted(sorted(c) for c in nx.find_cliques(twin))
    assert facts["points"] == twin.number_of_nodes() == 437
    assert facts["edges"] == twin.number_of_edges()
    assert nx.number_connected_components(twin) == 1
    assert facts["components"] == model.component_labels_.max() + 1
    assert facts["maximal cliques"] == say_number(len(expected))
    assert facts["largest clique"] == max(map(len, expected))
    assert facts["mean clique size"] == pytest.approx(np.mean([len(c) for c in expected]))
    html = report.cliques_page(view)
    outline(html)
    # The largest cliques that are told apart, as the table shows them: nearly all of one stage.
    table = re.search(r"<h2>Largest cliques</h2>(.*?)</table>", html, re.DOTALL)[1]
    told = re.findall(r'data-v="(\d+).*?<td>((?:[^<]+ × \d+(?:, )?)+)</td>', table)
    assert len(told) == 15
    pure = 0
    for number, text in told:
        stages = Counter(cells.labels[model.cliques_[int(number)]].tolist())
        assert dict(part.split(" × ") for part in text.split(", ")) == {
            name: str(number) for name, number in stages.items()
        }
        pure += len(stages) == 1
    assert pure >= 9


def test_the_largest_cliques_that_are_listed_are_not_almost_the_same(view):
    sets = [set(view.cliques[k].tolist()) for k in clique_words.largest_apart(view, 6)]
    for at, members in enumerate(sets):
        assert all(len(members & before) * 2 <= len(members) for before in sets[:at])
    assert len(sets[0]) == view.cliques.sizes.max()


def test_the_points_that_cliques_disagree_about_are_named(view):
    model = copy(view.model)
    model.merge_residuals_ = np.r_[np.full(38, 0.1) + np.linspace(0, 0.01, 38), 5.0, 9.0]
    data = replace(view.data, row_names=tuple(f"s{k}" for k in range(40)), row_title="sample")
    named = replace(view, model=model, data=data)
    rows, limit = clique_words.disagreed(named)
    assert rows.tolist() == [39, 38]
    assert 0.1 < limit < 5.0
    said = " ".join(clique_words.clique_advice(named))
    assert re.search(r"The cliques disagree about 2 points by more than .*: s39, s38\.", said)
    found = clique_words.clique_statistics(named)
    assert found["disagreed_about"]["points"] == ["s39", "s38"]
    assert found["cliques"][0]["members"] == [f"s{row}" for row in view.model.cliques_[0]]
    html = report.cliques_page(named)
    assert "cliques of sample <input" in html
    largest = max(view.model.cliques_, key=len)
    assert ", ".join(f"s{row}" for row in largest) in html
    assert not re.search(r"badly|worst|doubt", html.partition("<script")[0].lower() + said)
    model.merge_residuals_ = np.zeros(40)
    assert clique_words.disagreed(named)[0].size == 0


def test_links_between_components_are_neither_edges_above_the_threshold_nor_cliques():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(8, 300)), 6, axis=0) + 0.5 * rng.normal(size=(48, 300))
    X = np.vstack([X, X[:2]])
    model = IKD(strategy="blockwise", affinity="correlation", graph=0.5, refine=None)
    quiet(model, X)
    view = report.view_cliques(model, Dataset(X=X))
    twin = nx.from_numpy_array(np.triu(np.corrcoef(X[:48]), 1) > 0.5)
    expected = [c for c in nx.find_cliques(twin) if len(c) > 1]
    assert view.n_links > 0
    facts = clique_words.clique_facts(view)
    assert facts["edges"] == twin.number_of_edges()
    assert facts["components"] == 8
    assert facts["maximal cliques"] == say_number(len(expected))
    at = int(np.flatnonzero(view.levels.threshold == 0.5)[0])
    assert view.levels.edges[at] == twin.number_of_edges()
    assert view.levels.cliques[at] == len(expected)
    # Those that are listed are among them, with the copies of their rows, and cover every edge.
    listed = {frozenset(clique.tolist()) - {48, 49} for clique in view.cliques}
    assert listed <= {frozenset(c) for c in expected}
    assert all((0 in clique) == (48 in clique) for clique in view.cliques)
    assert view.summary["edge_coverage"] == 1.0
    assert f"8 components joined by {view.n_links} links" in report.cliques_page(view)


TABLES = {
    "curve": lambda: (clique_view().data.X, {}),
    "weak": lambda: (np.random.default_rng(0).normal(size=(40, 60)), {"graph": 0.1}),
    "counts": lambda: (datasets.spike_counts(60, 40).X, {"affinity": "hellinger", "graph": 0.7}),
    "groups": lambda: (groups_of_rows(), {"affinity": "euclidean", "graph": 0.6}),
    "digits": lambda: (datasets.digits().X[:120], {"graph": graph.Threshold(0.75, 3)}),
    "neighbours": lambda: (datasets.half_moons(80).X, {"affinity": "euclidean", "graph": 5}),
}


def groups_of_rows():
    rng = np.random.default_rng(1)
    X = np.repeat(3.0 * rng.normal(size=(3, 8)), 15, axis=0) + rng.normal(size=(45, 8))
    return np.vstack([X, X[:2]])


@pytest.mark.parametrize("name", TABLES)
def test_nothing_on_a_page_of_cliques_contradicts_the_rest(name):
    X, options = TABLES[name]()
    options = {"affinity": "correlation", "graph": 0.6, "kernel": "squared_exponential"} | options
    model = IKD(strategy="blockwise", refine=None, **options)
    view = report.view_cliques(quiet(model, X), Dataset(X=X))
    facts, levels = clique_words.clique_facts(view), view.levels
    removed = facts["edges removed as short cuts"] or 0
    n_above = facts["edges above the threshold"]
    used = views.threshold_of(model)
    if used is not None:
        at = int(np.flatnonzero(levels.threshold == used)[0])
        assert levels.edges[at] == (facts["edges"] if n_above is None else n_above) + removed
        if n_above is None and not removed:
            assert facts["maximal cliques"] == say_number(int(levels.cliques[at]))
            assert facts["components"] == levels.components[at]
    assert facts["largest clique"] >= view.cliques.sizes.max() >= 2
    # What the advice says of thresholds is so, and its cures work.
    said = " ".join(clique_words.clique_advice(view))
    again = {**options, "strategy": "geodesic", "refine": None}
    top = levels.connected_up_to
    if top > 0.02:
        below = quiet(IKD(**again | {"graph": graph.Threshold(top - 0.01, prune=False)}), X)
        above = quiet(IKD(**again | {"graph": graph.Threshold(top + 0.01, prune=False)}), X)
        assert below.component_labels_.max() == 0 < above.component_labels_.max()
        assert f"connected up to a threshold of {top:.3g}" in said
    else:
        joined = quiet(IKD(**again | {"graph": graph.Threshold(0.3, disconnected="join")}), X)
        assert graph.component_labels(joined.graph_).max() == 0
    assert (view.n_links > 0) == ("alone fix their places" in said)


def test_a_geodesic_solution_that_counts_in_the_merger_is_told(view):
    assert view.model.merge_start_share_ < 0.1
    assert not any("geodesic" in one for one in clique_words.clique_advice(view))
    model = copy(view.model)
    model.merge_start_share_ = 0.26
    noisy = replace(view, model=model)
    said = "the geodesic solution has 0.3 times their total weight in the merge"
    assert any(said in one for one in clique_words.clique_advice(noisy))
    assert clique_words.clique_statistics(noisy)["merge_start_share"] == 0.26


def test_looking_at_cliques_needs_a_model_that_has_some():
    X = np.random.default_rng(0).normal(size=(12, 300)).cumsum(axis=0)
    model = IKD(strategy="geodesic", graph=0.2, refine=None).fit(X)
    with pytest.raises(ValueError, match="must be fitted with strategy='blockwise'"):
        report.view_cliques(model, Dataset(X=X))


def test_the_page_of_an_embedding_tells_what_was_done(view):
    html = report.embed_page(view.model, view.data, "ikd-graph embed bend")
    found = outline(html)
    assert "blockwise" in html
    (picture,) = found.specs("points")
    Z = np.column_stack([unpacked(dim["data"]) for dim in picture["dims"]])
    np.testing.assert_allclose(Z, view.model.embedding_, rtol=1e-6)
    assert found.blocks["points"]["columns"][0]["classes"] == ["early", "late"]
    assert "largest clique" in html
    assert "join rows in order" in html
    assert "3-D" not in html
    for text in view.model.settings_.reasons.values():
        assert text.split(";")[0][:30] in unescape(html)


def test_warnings_steps_and_a_picture_for_browsers_without_script_are_on_the_page(view):
    html = report.embed_page(
        view.model, view.data, warnings=["beware <this>"], steps=[("Then:", "ikd-graph x")],
        picture=b"PNG",
    )  # fmt: skip
    outline(html)
    assert "beware &lt;this&gt;" in html
    assert "What to do next" in html
    assert "<pre>ikd-graph x</pre>" in html
    assert '<noscript><img src="data:image/png;base64,UE5H"' in html


def test_three_dimensions_can_be_chosen_and_turned_and_errors_sized():
    data = datasets.gplvm_data("medium", 60, noise=0.1)
    model = IKD(3, refine="likelihood", strategy="geodesic").fit(data.X[:60])
    html = report.embed_page(model, replace(data, X=data.X[:60], y=None, latent=None))
    found = outline(html)
    assert len(found.specs("points")[0]["dims"]) == 3
    for role in ("across", "upwards", "deep", "solid", "sized"):
        assert f'data-role="{role}"' in html
    errors = unpacked(found.blocks["points"]["errors"])
    np.testing.assert_allclose(errors, np.linalg.norm(model.standard_errors_, axis=1), rtol=1e-5)


def test_a_fitted_model_shows_itself_in_a_notebook(view, monkeypatch):
    html = view.model._repr_html_()
    Outline(html)
    assert view.model._repr_mimebundle_()["text/html"] == html
    assert "data:image/png;base64," in html
    assert "Why these settings" in html
    assert "<script" not in html
    assert "data:image/png" not in IKD()._repr_html_()
    page._templates.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert "data:image/png" not in view.model._repr_html_()
