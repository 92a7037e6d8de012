"""Pages in a real browser: clicks, hovering, sorting, no complaint in the console."""

import warnings

import numpy as np
import pytest
from webdriver import CHROMIUM, DRIVER, Browser

from ikd_graph.cli.diagnose import diagnosis_page
from ikd_graph.show import colors, page, svg
from ikd_graph.show.report.cliques import threshold_slider
from ikd_graph.study import datasets
from ikd_graph.study.diagnosis import diagnose
from ikd_graph.study.levels import Levels

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as window:
        yield window


def levels():
    """Three levels of a threshold."""
    whole = np.array([50, 20, 4])
    return Levels(
        threshold=np.array([0.2, 0.4, 0.6]),
        edges=whole,
        components=np.array([1, 2, 9]),
        largest_component=np.array([20, 15, 3]),
        cliques=np.array([np.nan, 11.0, 2.0]),
        largest_clique=np.array([np.nan, 7.0, 3.0]),
        coverage=np.array([1.0, 0.5, 0.0]),
        n_points=20,
        clique_limit=100,
        connected_up_to=0.3,
    )


@pytest.fixture(scope="module")
def shown(browser, tmp_path_factory):
    rng = np.random.default_rng(0)
    groups = colors.group(["cat", "dog"] * 10)
    Z = rng.normal(size=(20, 2))
    pictures = [svg.scatter(Z, groups), svg.scatter(Z @ [[0, 1], [1, 0]], groups)]
    body = [
        page.linked(page.class_legend(groups), *pictures),
        page.table(
            ["name", "score"], [["b", 0.5], ["a", None], ["c", 12.0], ["d", 3.0]], sortable=True
        ),
        threshold_slider(levels(), 0.4),
    ]
    path = tmp_path_factory.mktemp("page") / "page.html"
    names = {"codes": groups.codes.tolist(), "classes": list(groups.names)}
    path.write_text(page.document("t", "l", body, names=names), encoding="utf-8")
    browser.open(path)
    yield browser
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def diagnosed(browser, tmp_path_factory):
    line = np.linspace(0.0, 4.0, 40)[:, None]
    X = datasets.gplvm_data(line, 40, noise=2.0, seed=0).X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = diagnose(X, 1, n_draws=2)
    path = tmp_path_factory.mktemp("diagnosis") / "page.html"
    path.write_text(diagnosis_page(found, "<line>", "ikd-graph diagnose line.npy"), "utf-8")
    browser.open(path)
    yield browser, found
    assert browser.complaints() == []


def first_column(browser):
    return browser.run(
        "return Array.from(document.querySelectorAll('tbody tr')).map(r => r.cells[0].textContent)"
    )


def test_a_click_on_a_head_sorts_by_value_and_a_second_one_turns_it_round(shown):
    shown.click("th:nth-child(2) button")
    assert first_column(shown) == ["c", "d", "b", "a"]
    shown.click("th:nth-child(2) button")
    assert first_column(shown) == ["b", "d", "c", "a"]
    shown.click("th:nth-child(1) button")
    assert first_column(shown) == ["a", "b", "c", "d"]
    assert shown.run("return document.querySelectorAll('th[aria-sort]').length") == 1


def test_a_click_on_a_class_keeps_it_alone_in_every_picture(shown):
    dim = "return getComputedStyle(document.querySelectorAll('svg [data-k=\"{}\"]')[{}]).opacity"
    shown.click("[data-key='1']")
    assert [shown.run(dim.format(0, at)) for at in (0, -1 % 8)] == ["0.07", "0.07"]
    assert shown.run(dim.format(1, 0)) == "1"
    shown.click("[data-key='1']")
    assert shown.run(dim.format(0, 0)) == "1"


def test_hovering_a_point_lights_its_row_everywhere_and_names_it(shown):
    box = shown.run(
        "const r = document.querySelector('svg.points circle[data-i=\"3\"]');"
        "r.scrollIntoView({block: 'center'});"
        "const b = r.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]"
    )
    shown.move(*box)
    assert shown.run("return document.getElementById('tip').textContent") == "row 3: dog"
    rows = "return Array.from(document.querySelectorAll('.lit')).map(c => c.dataset.i)"
    assert shown.run(rows) == ["3", "3"]
    shown.move(1, 1)
    assert shown.run("return document.getElementById('tip').hidden") is True


def test_the_slider_shows_the_numbers_of_its_level(shown):
    read = (
        "return Array.from(document.querySelectorAll('dd[data-value]')).map(d => d.textContent)"
        ".concat([document.querySelector('output').textContent,"
        " document.querySelector('.cursor').getAttribute('x1')])"
    )
    assert shown.run(read)[:6] == ["20", "2", "11", "7", "50.0%", "0.40"]
    shown.run(
        "const s = document.querySelector('.slider input'); s.value = 0;"
        "s.dispatchEvent(new Event('input'))"
    )
    assert shown.run(read) == ["50", "1", "over 100", "–", "100.0%", "0.20", "44"]


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_sideways(shown, width):
    path = f"/session/{shown.session}/window/rect"
    shown._send("POST", path, {"width": width, "height": 800})
    assert shown.run("return document.documentElement.scrollWidth <= window.innerWidth")


# Last: it opens another page in the same window.
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_of_a_diagnosis_says_all_it_found_at_any_width(diagnosed, width):
    window, found = diagnosed
    path = f"/session/{window.session}/window/rect"
    window._send("POST", path, {"width": width, "height": 800})
    text = window.run("return document.querySelector('main').innerText")
    assert "<line>" in text
    for said in (*found.findings().values(), *found.suggestions, *found.warnings):
        assert said in text
    bars = window.run("return document.querySelectorAll('.track b').length")
    assert bars == len(found.draws_r2) == 2
    assert window.run("return document.documentElement.scrollWidth <= window.innerWidth")
