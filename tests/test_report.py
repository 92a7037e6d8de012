"""Pages: one HTML file that needs nothing else."""

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pytest

from ikd_graph.show import colors, page, report, svg
from ikd_graph.show.report import paint
from ikd_graph.study.datasets import Dataset

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
            svg.lines([0, 1], {evil: [0, 1]}, xlabel=evil, ylabel=evil),
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
    picture = svg.lines([0, 1, 2, 3], {"a": [1.0, np.nan, 2.0, 3.0]}, xlabel="x")
    path = next(p for p in parse(picture).iter("path") if p.get("class") == "curve")
    assert path.get("d").count("M") == 2


@pytest.mark.parametrize(
    "series",
    [{}, {"a": [np.nan, np.nan]}, {"a": [0.0, 0.0]}, {"a": [0.0, -1.0]}, {"a": [1.0, 1e9]}],
)
@pytest.mark.parametrize("log", [False, True])
def test_charts_of_odd_values_are_still_pictures(series, log):
    picture = svg.lines([0, 1], series, xlabel="x", log=log, mark=(0.5, "here"), dots=True)
    assert "nan" not in picture.replace("nan ", "")
    parse(picture)


def test_charts_of_one_place_and_of_none_are_still_pictures():
    parse(svg.lines([1.0], {"a": [2.0]}, xlabel="x", spread={"a": [0.1]}))
    parse(svg.lines([], {"a": []}, xlabel="x"))
    parse(svg.bars([], [], xlabel="x"))
    parse(svg.bars([1], [0.0], xlabel="x"))


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
