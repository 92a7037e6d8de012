"""Pages: one HTML file that needs nothing else."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pytest

from ikd_graph import IKD, cliques, graph
from ikd_graph.show import colors, page, report, svg
from ikd_graph.show.report import clique_view as views
from ikd_graph.show.report import clique_words, compare_words, paint
from ikd_graph.show.words import say_number
from ikd_graph.study import datasets
from ikd_graph.study.compare import Comparison, Row
from ikd_graph.study.datasets import Dataset
from ikd_graph.study.levels import threshold_levels

VOID = {"meta", "link", "input", "br", "circle", "line", "rect", "path", "img"}


class Outline(HTMLParser):
    """Checks that tags are balanced; gathers tags, ids, links and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for key, value in attrs if key in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def outline(html):
    found = Outline(html)
    assert all(link.startswith("data:") for link in found.links)
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "https://" not in html
    return found


def parse(picture):
    return ET.fromstring(picture)


def test_a_page_is_balanced_and_asks_for_no_other_file():
    html = page.document("t", "lead", [page.section("s", page.paragraph("p"))], kind="k")
    assert "h1" in outline(html).tags
    assert html.startswith("<!DOCTYPE html>")


def test_text_from_data_cannot_become_markup():
    evil = '<script>alert("1")</script>&'
    html = page.document(
        evil,
        evil,
        [
            page.facts({evil: evil}),
            page.reasons({evil: evil}),
            page.table([evil], [[evil]], sortable=True),
            page.class_legend(colors.Groups((evil,), np.zeros(1, dtype=np.intp))),
            page.level_bars({evil: 1.0}, str),
            page.command(evil),
            page.advice([evil]),
            svg.lines([0, 1], {evil: [0, 1]}, svg.Axes(evil, evil)),
        ],
        names={"classes": [evil]},
    )
    assert outline(html).tags.count("script") == 2
    assert "alert(" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL).replace(
        "alert(&quot;", ""
    )


def test_names_survive_the_way_into_the_page():
    names = {"classes": ["</script>", "é"], "codes": [0, 1]}
    html = page.document("t", "l", [], names=names)
    inside = re.search(r'id="names">(.*?)</script>', html, re.DOTALL)[1]
    assert json.loads(inside) == names


def test_what_is_not_there_leaves_no_heading():
    assert page.section("s", "", "") == ""
    assert page.facts({"a": None}) == page.reasons({}) == page.advice([]) == ""
    assert page.side_by_side() == ""


def test_numbers_in_a_table_sort_by_value_and_stand_right():
    html = page.table(["name", "score"], [["a", 0.5], ["b", None], ["c", np.nan]], sortable=True)
    assert re.findall(r'data-v="(.*?)"', html) == ["0.5", "", ""]
    assert html.count("–") == 2
    assert html.count('scope="col"><button') == 1
    assert 'class=n><button type="button">score' in html


def test_a_cell_can_say_its_number_in_its_own_words():
    html = page.table(["noise"], [[(0.5, "half")]], sortable=True)
    assert '<td class="n" data-v="0.5">half</td>' in html


def test_the_best_rows_of_a_table_are_marked():
    assert page.table(["a"], [[1], [2]], best=[1]).count("class=best") == 1


def test_bars_are_as_long_as_their_values():
    html = page.time_bars({"a": 1.0, "b": 0.5, "c": np.nan})
    assert re.findall(r"width:([\d.]+)%", html) == ["72.0", "36.0", "0.0"]
    assert "did not finish" in html


def test_a_legend_lists_the_classes_that_have_points():
    html = page.class_legend(colors.Groups(("a", "b", "c"), np.array([2, 0, -1])))
    assert re.findall(r"</i>(.*?)</button>", html) == ["a", "c", "no label"]


def test_every_point_of_a_scatter_knows_its_row_and_class():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 2))
    groups = colors.group(rng.integers(0, 3, 50))
    tree = parse(svg.scatter(Z, groups))
    found = {
        int(circle.get("data-i")): int(group.get("data-k")) for group in tree for circle in group
    }
    assert found == dict(enumerate(groups.codes.tolist()))


def test_a_scatter_keeps_the_shape_of_the_points_and_lies_in_its_box():
    Z = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
    tree = parse(svg.scatter(Z, ["#000000"] * 3))
    at = np.array([[float(c.get("cx")), float(c.get("cy"))] for c in tree])
    assert np.all((at >= 0) & (at <= [600, 460]))
    width, height = at[1] - at[0], at[1] - at[2]
    np.testing.assert_allclose(width[0], 2 * height[1], rtol=1e-3)
    assert height[1] > 0


@pytest.mark.parametrize("Z", [np.zeros((4, 2)), np.zeros((1, 3)), np.arange(5.0), np.ones((3, 1))])
def test_points_without_extent_are_drawn_all_the_same(Z):
    picture = svg.scatter(Z, ["#000000"] * len(Z))
    assert "nan" not in picture
    assert len(parse(picture)) == len(Z)


def test_a_sample_keeps_each_class_in_proportion():
    codes = np.repeat([0, 1, 2], [9000, 900, 100])
    rows = svg.sample_rows(codes, 1000)
    assert rows.size == np.unique(rows).size == 1000
    np.testing.assert_allclose(np.bincount(codes[rows]), [900, 90, 10], atol=1)
    assert svg.sample_rows(codes, 10_000).tolist() == list(range(10_000))


def test_discs_of_a_network_grow_with_their_size_in_area():
    graph = nx.Graph()
    graph.add_node("a", size=4)
    graph.add_node("b", size=16)
    graph.add_edge("a", "b", overlap=3)
    tree = parse(svg.network(graph, notes=["<a>", "b"]))
    radii = [float(circle.get("r")) for circle in tree.iter("circle")]
    np.testing.assert_allclose(radii[1] / radii[0], 2.0, rtol=0.02)
    assert [title.text for title in tree.iter("title")] == ["<a>", "b"]
    assert len(list(tree.iter("line"))) == 1


def test_only_the_strongest_edges_of_a_crowded_network_are_drawn():
    graph = nx.complete_graph(20)
    for weight, (a, b) in enumerate(graph.edges):
        graph.edges[a, b]["overlap"] = weight + 1
    tree = parse(svg.network(graph, most_edges=50))
    assert len(list(tree.iter("line"))) == 50


def test_bars_stand_on_zero_and_hang_below_it():
    tree = parse(svg.bars([1, 2], [2.0, -1.0], xlabel="rank"))
    above, below = tree.iter("rect")
    foot = float(above.get("y")) + float(above.get("height"))
    np.testing.assert_allclose(float(below.get("y")), foot, atol=0.2)
    np.testing.assert_allclose(float(above.get("height")), 2 * float(below.get("height")), atol=0.2)


def test_curves_break_where_a_value_is_missing():
    picture = svg.lines([0, 1, 2, 3], {"a": [1.0, np.nan, 2.0, 3.0]}, svg.Axes("x"))
    path = next(p for p in parse(picture).iter("path") if p.get("class") == "curve")
    assert path.get("d").count("M") == 2


@pytest.mark.parametrize(
    "series",
    [{}, {"a": [np.nan, np.nan]}, {"a": [0.0, 0.0]}, {"a": [0.0, -1.0]}, {"a": [1.0, 1e9]}],
)
@pytest.mark.parametrize("log", [False, True])
def test_charts_of_odd_values_are_still_pictures(series, log):
    picture = svg.lines([0, 1], series, svg.Axes("x", log=log), mark=(0.5, "here"), dots=True)
    assert "nan" not in picture.replace("nan ", "")
    parse(picture)


def test_charts_of_one_place_and_of_none_are_still_pictures():
    parse(svg.lines([1.0], {"a": [2.0]}, svg.Axes("x"), spread={"a": [0.1]}))
    parse(svg.lines([], {"a": []}, svg.Axes("x")))
    parse(svg.bars([], [], xlabel="x"))
    parse(svg.bars([1], [0.0], xlabel="x"))


def test_no_band_of_a_line_chart_exceeds_the_ceiling():
    def ticks(ceiling):
        chart = svg.lines(
            [0.0, 1.0], {"a": [0.9, 0.9]}, svg.Axes("", ceiling=ceiling), spread={"a": [0.9, 0.9]}
        )
        return [float(text) for text in re.findall(r">([\d.]+)</text>", chart)]

    assert max(ticks(None)) > 1.0
    assert max(ticks(1.0)) <= 1.0


@pytest.mark.parametrize(
    ("y", "names", "kind"),
    [
        (np.array([0, 1, 1]), ("a", "b"), "groups"),
        (np.array([0.5, 1.5, np.nan]), (), "values"),
        (None, (), None),
    ],
)
def test_points_are_painted_by_what_is_known_of_them(y, names, kind):
    found = paint.paint_points(Dataset(X=np.eye(3), y=y, label_names=names))
    assert (found.groups is not None) == (kind == "groups")
    assert (found.values is not None) == (kind == "values")
    assert "<circle" in paint.draw(np.eye(3), found, "t")
    assert bool(paint.legend(found)) == (kind is not None)
    json.dumps(found.names, allow_nan=False)


def test_a_picture_that_leaves_points_out_says_so():
    data = Dataset(X=np.zeros((50, 2)))
    assert paint.drawn_note(paint.paint_points(data, most=20), 50).startswith(" 20 of 50")
    assert paint.drawn_note(paint.paint_points(data), 50) == ""


def comparison(scores, levels=(0.0,), n_seeds=1, measure="r2_affine", failures=None):
    """Comparison whose rows have the scores given: method -> one score for each level."""
    rng = np.random.default_rng(0)
    data = Dataset(X=rng.normal(size=(30, 5)), latent=rng.normal(size=(30, 2)), name="made")
    found = Comparison("made", [], [], [], [], {"python": "3"})
    for name, values in scores.items():
        for noise, value in zip(levels, values, strict=True):
            for seed in range(n_seeds):
                failure = (failures or {}).get(name, "")
                score = np.nan if failure else value + 0.001 * seed
                row = Row(
                    method=name, title=name.upper(), settings="", n_components=2, noise=noise,
                    seed=seed, seconds=np.nan if failure else 10 * value, extra_mb=5.0,
                    failure=failure,
                )  # fmt: skip
                found.rows.append(replace(row, **{measure: score}))
                found.embeddings.append(None if failure else rng.normal(size=(30, 2)))
                found.spectra.append(None if failure else np.array([5.0, 4.0, 0.5, 0.4]))
                found.data.append(data)
    return found


def test_the_page_of_a_comparison_has_a_panel_a_row_and_a_bar_for_each_method():
    found = comparison({"blockwise": [0.9], "pca": [0.5], "umap": [0.0]}, failures={"umap": "gone"})
    html = report.compare_page(found, "ikd-graph compare made")
    outline(html)
    assert html.count('<svg class="points"') == 3  # truth and two methods
    assert html.count("<tr") == 1 + 3
    assert "class=best><td>BLOCKWISE" in html
    assert "UMAP did not run: gone." in html
    assert "Against noise" not in html
    assert html.count("gap after 2") == 2
    assert "ikd-graph compare made" in html


def test_all_measures_stand_in_tables_by_what_they_ask():
    found = comparison({"blockwise": [0.9], "pca": [0.5]})
    more = {"r_nx_auc": 0.31, "density": 0.22, "global_distances": 0.43, "co_smoothing": 0.54}
    for at, row in enumerate(found.rows):
        shift = 0.1 * at
        values = {name: value - shift for name, value in more.items()}
        found.rows[at] = replace(row, co_smoothing_error=0.0123, **values)
        found.curves.append(np.linspace(0.9, 0.0, 28))
    html = report.compare_page(found)
    outline(html)
    tables = re.findall("<table.*?</table>", html)
    assert [len(re.findall("<th ", text)) for text in tables] == [8, 3]
    assert "held-out R² (prediction)" in tables[0]
    assert "± standard error" in tables[0]
    assert "0.012" in tables[0]
    assert "density kept" in tables[1]
    assert "density kept" not in tables[0]
    assert "<h3>Local</h3>" in html
    assert "<h3>Prediction</h3>" not in html
    words = " ".join(compare_words.say_comparison(found))
    assert "BLOCKWISE keeps neighbours best (area under R_NX 0.310), BLOCKWISE keeps the" in words
    assert "predicts held-out columns best (held-out R² 0.540)" in words
    chart = html[html.index('aria-label="local against global"') :]
    assert "<title>PCA: 0.210, 0.330</title>" in chart
    assert 'aria-label="neighbours in common"' in chart


def test_without_measures_of_near_and_far_there_is_no_picture_of_them():
    html = report.compare_page(comparison({"blockwise": [0.9], "pca": [0.5]}))
    assert "Local against global" not in html
    assert "All measures" not in html


def test_names_beside_points_touch_no_other_name_or_point():
    rng = np.random.default_rng(0)
    places = np.vstack([rng.uniform(size=(6, 2)), 0.5 + 0.01 * rng.uniform(size=(6, 2))])
    points = {f"method {k}": tuple(place) for k, place in enumerate(places.tolist())}
    picture = svg.named_points(points, svg.Axes("x", "y"), palette={"method 3": "#123456"})
    parse(picture)
    texts = re.findall(r'x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">(method \d+)', picture)
    assert [name for *_, name in texts] == list(points)
    dots = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', picture)
    boxes = [(float(x) - 4.5, float(x) + 4.5, float(y) + 4.0) for x, y in dots]
    for x, y, anchor, name in texts:
        ends = sorted([float(x), float(x) + (6.0 if anchor == "start" else -6.0) * len(name)])
        assert ends[0] >= 0.0
        assert ends[1] <= 360.0
        for left, right, height in boxes:
            assert ends[1] < left or ends[0] > right or abs(float(y) - height) > 11.0
        boxes.append((*ends, float(y)))
    assert 'fill="#123456"' in picture
    parse(svg.named_points({}, svg.Axes("x")))
    parse(svg.named_points({"one": (1.0, 1.0)}, svg.Axes("x")))


def test_places_on_a_logarithmic_axis_are_named_by_powers_of_ten():
    picture = svg.lines([1, 10, 1000], {"a": [0.0, 1.0, 2.0]}, svg.Axes("x", log_x=True))
    places = re.findall(r'<text x="([\d.]+)" y="206.0" text-anchor="middle">(\w+)</text>', picture)
    assert [text for _, text in places] == ["1", "10", "100", "1k"]
    steps = np.diff([float(x) for x, _ in places])
    assert np.ptp(steps) < 0.2


def test_noise_levels_bring_curves_with_their_spread():
    levels = (0.0, 0.5, 1.0)
    found = comparison({"blockwise": [0.99, 0.8, 0.5], "geodesic": [0.9, 0.8, 0.7]}, levels, 3)
    html = report.compare_page(found)
    outline(html)
    assert "Against noise" in html
    assert html.count('class="band"') == 2
    assert "± over seeds" in html
    words = " ".join(compare_words.say_comparison(found))
    assert "blockwise is better at noise 0, by 0.09" in words
    assert "geodesic is better at noise 1, by 0.2" in words
    assert "do not differ beyond chance at noise 0.5" in words


def test_the_words_name_the_best_the_strategy_and_the_price():
    found = comparison({"blockwise": [0.9], "geodesic": [0.88]})
    found.rows[1] = replace(found.rows[1], seconds=2.0)
    words = compare_words.say_comparison(found)
    assert words[0].startswith("Best: BLOCKWISE with R² after affine alignment 0.900 in 9.0 s")
    assert "Call IKD(strategy='blockwise', refine=None)" in words[1]
    assert "GEODESIC takes 2.0 s instead of 9.0 s and gives up 0.020" in words[1]


def test_a_difference_is_told_from_chance_by_pairs_of_the_same_seed():
    levels = (0.0, 1.0)
    found = comparison({"blockwise": [0.5, 0.5], "geodesic": [0.4, 0.4]}, levels, 3)
    # At noise 0 both swing together from seed to seed, at noise 1 against each other.
    for at, row in enumerate(found.rows):
        swing = 0.4 * row.seed * (-1 if row.noise and row.method == "geodesic" else 1)
        found.rows[at] = replace(row, r2_affine=row.r2_affine + swing)
    words = " ".join(compare_words.say_comparison(found))
    assert "blockwise is better at noise 0, by 0.1" in words
    assert "do not differ beyond chance at noise 1" in words
    alone = comparison({"blockwise": [0.5, 0.5], "geodesic": [0.4, 0.4]}, levels)
    assert "one seed: chance is not ruled out" in " ".join(compare_words.say_comparison(alone))


def test_the_default_call_is_named_as_such_and_its_choices_are_told():
    found = comparison({"ikd": [0.9], "geodesic": [0.9], "pca": [0.95]})
    found.rows[0] = replace(found.rows[0], facts={"n_neighbors": "7: near <enough>"})
    words = compare_words.say_comparison(found)
    assert words[1].startswith("Call IKD() as it is: 0.900 against GEODESIC 0.900")
    assert compare_words.own_choices(found) == ("IKD", {"n neighbors": "7: near <enough>"})
    html = report.compare_page(found)
    outline(html)
    assert "What IKD chose by itself" in html
    assert "7: near &lt;enough&gt;" in html
    assert compare_words.own_choices(comparison({"pca": [0.9]})) == ("", {})


def test_the_words_say_when_an_affine_alignment_flatters():
    found = comparison({"pca": [0.9]})
    found.rows[0] = replace(found.rows[0], r2_rigid=0.4)
    assert any("falls from 0.900 to 0.400" in text for text in compare_words.say_comparison(found))


def test_a_comparison_in_which_nothing_ran_is_a_page_all_the_same():
    found = comparison({"umap": [0.0, 0.0]}, (0.0, 1.0), failures={"umap": "not installed"})
    html = report.compare_page(found)
    assert "Against noise" not in html
    outline(html)
    assert "No method gave an embedding." in html


def clique_view(seed=0):
    rng = np.random.default_rng(seed)
    at = np.linspace(0, 6, 40)[:, None]
    X = np.sin(at * rng.uniform(0.5, 1.5, 30) + rng.uniform(0, 6, 30))
    data = Dataset(X=X, y=(at[:, 0] > 3).astype(int), label_names=("early", "late"), name="bend")
    model = IKD(strategy="blockwise", threshold=0.6, n_neighbors=4, refine=None).fit(X)
    return report.view_cliques(model, data)


@pytest.fixture(scope="module")
def view():
    return clique_view()


def test_the_page_of_cliques_is_whole(view):
    html = report.cliques_page(view, "ikd-graph cliques bend")
    outline(html)
    levels = json.loads(re.search(r"data-levels='(.*?)'", html)[1].replace("&quot;", '"'))
    assert len(levels) == view.levels.threshold.size
    assert all(set(level) == set(levels[0]) for level in levels)
    assert "early × " in html
    assert html.count('<svg class="network"') == 1
    assert html.count('class="cursor"') == 2


def test_the_cliques_of_cells_are_those_that_networkx_finds_and_are_of_a_stage(data_home):
    cells = datasets.load("guo_qpcr")
    model = IKD(strategy="blockwise", refine=None).fit(cells.X)
    links = views.largest_graph(model.cliques_)
    found = list(cliques.iter_cliques(model.graph_))
    # Levels of a threshold are tested by themselves, and take seconds.
    levels = threshold_levels(cells.X, thresholds=[0.7, 0.9])
    view = views.CliqueView(model, cells, found, True, links, levels)
    facts = clique_words.clique_facts(view)
    twin = graph.to_networkx(model.graph_)
    expected = sorted(sorted(c) for c in nx.find_cliques(twin))
    assert sorted(c.tolist() for c in found) == expected
    assert facts["points"] == twin.number_of_nodes() == 437
    assert facts["edges"] == twin.number_of_edges()
    assert facts["components before joining"] == nx.number_connected_components(twin)
    assert facts["maximal cliques"] == say_number(len(expected))
    assert facts["largest clique"] == max(map(len, expected))
    assert facts["mean clique size"] == pytest.approx(np.mean([len(c) for c in expected]))
    html = report.cliques_page(view)
    outline(html)
    # The largest cliques that are told apart, as the table shows them: nearly all of one stage.
    table = re.search(r"<h2>Largest cliques</h2>(.*?)</table>", html)[1]
    told = re.findall(r"<td>((?:[^<]+ × \d+(?:, )?)+)</td>", table)
    assert len(told) == 15
    pure = 0
    for text, k in zip(told, clique_words.largest_apart(found, 437, 15), strict=True):
        stages = Counter(cells.labels[found[k]].tolist())
        assert dict(part.split(" × ") for part in text.split(", ")) == {
            name: str(number) for name, number in stages.items()
        }
        pure += len(stages) == 1
    assert pure >= 9


def test_the_largest_cliques_that_are_listed_are_not_almost_the_same(view):
    chosen = clique_words.largest_apart(view.maximal, 40, 6)
    sets = [set(view.maximal[k].tolist()) for k in chosen]
    for at, members in enumerate(sets):
        assert all(len(members & before) * 2 <= len(members) for before in sets[:at])
    assert len(sets[0]) == max(clique.size for clique in view.maximal)


def test_badly_placed_points_are_those_with_unusual_residuals(view):
    from copy import copy

    model = copy(view.model)
    model.merge_residuals_ = np.r_[np.full(38, 0.1) + np.linspace(0, 0.01, 38), 5.0, 9.0]
    rows, limit = clique_words.badly_placed(model)
    assert rows.tolist() == [39, 38]
    assert 0.1 < limit < 5.0
    model.merge_residuals_ = np.zeros(40)
    assert clique_words.badly_placed(model)[0].size == 0


def test_the_certificate_of_the_merger_is_said_and_counted_where_there_is_one(view):
    from copy import copy

    words = view.model._merge_bound().words
    said = f"{words[0].upper()}{words[1:]}."
    assert said in clique_words.clique_advice(view)
    assert said in report.cliques_page(view)
    assert clique_words.clique_statistics(view)["merge_gap"] == view.model.merge_gap_
    model = copy(view.model)
    model._bound = (None,)
    assert said not in clique_words.clique_advice(replace(view, model=model))


def test_looking_at_cliques_needs_a_model_that_has_some():
    X = np.random.default_rng(0).normal(size=(12, 300)).cumsum(axis=0)
    model = IKD(strategy="geodesic", threshold=0.2).fit(X)
    with pytest.raises(ValueError, match="must be fitted with strategy='blockwise'"):
        report.view_cliques(model, Dataset(X=X))


def test_the_page_of_an_embedding_tells_what_was_done(view):
    html = report.embed_page(view.model, view.data, "ikd-graph embed bend")
    outline(html)
    assert "blockwise" in html
    assert html.count("<circle") == 40
    assert "largest clique" in html
    for text in view.model.choices_.values():
        assert text.split(";")[0][:30] in html


def test_numbers_inside_attributes_are_plain():
    picture = svg.lines(np.array([0.1, 0.2]), {"a": [1, 2]}, svg.Axes("x"), cursor=True)
    line = next(e for e in parse(picture).iter("line") if e.get("class") == "cursor")
    assert json.loads(line.get("data-cursor")) == [44.0, 346.0]
