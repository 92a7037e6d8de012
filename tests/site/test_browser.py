"""Pages in a real browser: clicks, hovering, choosing rows, no complaint, no request."""

import csv
import io
import os
import re
import runpy
import warnings
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote

import matplotlib.image
import numpy as np
import pytest
from screens import keep, largest_difference, squares, with_letters
from test_report import clique_view, comparison
from webdriver import CHROMIUM, DRIVER, Browser, NoBrowser

from ikd_graph import IKD, datasets, report
from ikd_graph.datasets import Dataset, Labels
from ikd_graph.jobs.diagnose import diagnose
from ikd_graph.report.page import share_plotly

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver")

# What a machine without a graphics card says of its own drivers, whatever is drawn; and of the
# letters on the axes of a cube.
DRIVERS = ("GL Driver Message", "software WebGL", "willReadFrequently")
DRAWN = (
    "dispatchEvent(new Event('beforeprint'));"
    "return !document.querySelector('[data-figure]:not(.js-plotly-plot)')"
    " && Array.from(document.querySelectorAll('[data-figure]')).every(e => e.data)"
)
# Runs differ by 0.0013, the rounding of what is kept; letters hinted in full by 0.010. Of the
# faults planted a legend that is not drawn makes least.
ALIKE = 0.015
FIRST = "document.querySelector('.main [data-figure]')"
POINTS = "return {}.data.filter(t => t.mode === 'markers' && t.visible !== false)"

DOCS = Path(__file__).parents[2] / "docs"
SITE = DOCS / "_build"
on_the_site = pytest.mark.skipif(
    not (SITE / "searchindex.js").exists(), reason="needs the site: sphinx docs docs/_build"
)
SEARCHED = runpy.run_path(str(DOCS / "links.py"))["SEARCHED"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    try:
        window = Browser(tmp_path_factory.mktemp("profile"))
    except NoBrowser as error:
        pytest.skip(f"the browser does not start: {error}")
    with window:
        yield window


@pytest.fixture(scope="module")
def fitted():
    """A model of a bend of 60 points in three dimensions, with uncertainty."""
    data = datasets.gplvm_data("medium", 60, noise=0.1)
    return IKD(3, refine="likelihood", strategy="geodesic").fit(data.X[:60])


def made_page(fitted, n_points):
    """Page of an embedding of so many points, of two columns of labels."""
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 6, n_points)
    Z = np.column_stack([np.sin(angle), np.cos(angle), angle]) + 0.1 * rng.normal(
        size=(n_points, 3)
    )
    model = copy(fitted)
    model.embedding_ = Z
    computed = replace(fitted.model_.computed, standard_errors=rng.random((n_points, 3)))
    model.model_ = replace(fitted.model_, inverse=np.arange(n_points), computed=computed)
    # The page is of more points than were fitted.
    vars(model.model_).update(first=fitted.model_.first, embedding=Z)
    model.stage_times_ = {"similarity": 0.5, "search": 2.0}
    data = Dataset(
        X=np.zeros((n_points, 2)), name="made", labels=(
            Labels("animal", np.arange(n_points) % 2, ("cat", '"dog", <b>big')),
            Labels("age", angle),
        ),
        row_names=tuple(f"r{k}" for k in range(n_points)), row_title="cell",
    )  # fmt: skip
    return report.embed_page(model, data, "ikd-graph embed made"), Z


@cache
def diagnosis():
    # No matrix is factorized: the table is the same on every processor.
    rng = np.random.default_rng(0)
    line, phases = np.linspace(0.0, 4.0, 40)[:, None], rng.uniform(0.0, 2.0 * np.pi, 40)
    X = np.sqrt(2.0) * np.cos(line + phases) + 2.0 * rng.normal(size=(40, 40))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return diagnose(X, 1)


@pytest.fixture(scope="module")
def pages(fitted, tmp_path_factory):
    """Pages of the four kinds, in files."""
    levels = comparison({"blockwise": [0.9, 0.5], "pca": [0.5, 0.45]}, (0.0, 0.5))
    texts = {
        "embed": made_page(fitted, 200)[0],
        "compare": report.compare_page(levels, "ikd-graph compare made"),
        "cliques": report.cliques_page(clique_view(), "ikd-graph cliques bend"),
        "diagnose": report.diagnosis_page(diagnosis(), "<line>", "ikd-graph diagnose line.npy"),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def show(browser, pages):
    """Opens a page and has all its figures drawn; afterwards nothing was complained of."""

    def opened(name, width=1400, theme="light"):
        browser.look(width, 900, theme)
        browser.open(pages / f"{name}.html")
        browser.wait(DRAWN)
        return browser

    yield opened
    assert complaints(browser) == []
    assert browser.run("return performance.getEntriesByType('resource').length") == 0


def complaints(browser):
    said = [one["message"] for one in browser.complaints()]
    return [one for one in said if not any(driver in one for driver in DRIVERS)]


def middle(browser, script):
    """Middle of an element in the window."""
    return browser.run(
        f"const e = {script}; e.scrollIntoView({{block: 'center'}});"
        "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]"
    )


def click(browser, script):
    """Press the pointer in the middle of an element."""
    x, y = middle(browser, script)
    browser.press_and_move([(x, y), (x, y)])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("name", ["embed", "compare", "cliques", "diagnose"])
def test_every_page_is_whole_at_any_width_in_light_and_dark(show, name, width, theme):
    browser = show(name, width, theme)
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    boxes = browser.run(
        "const all = '[data-figure], table, h2, h3';"
        "return Array.from(document.querySelectorAll(all)).filter("
        "e => e.offsetParent && !e.closest('.scroll')).map(e => {"
        "const b = e.getBoundingClientRect();"
        "return [b.left, b.right, b.top, b.bottom, e.ariaLabel || e.textContent]})"
    )
    assert all(left >= 0 and right <= width + 1 for left, right, *_ in boxes)
    for at, (left, right, top, bottom, kind) in enumerate(boxes):
        apart = [
            right <= other[0] + 1 or left >= other[1] - 1 or bottom <= other[2] + 1
            or top >= other[3] - 1
            for other in boxes[at + 1 :]
        ]  # fmt: skip
        assert all(apart), f"{kind} overlaps another"
    inked = browser.run(
        "return Array.from(document.querySelectorAll('[data-figure]')).every(e =>"
        " e.querySelector('canvas, .point, .js-line, .legend, .infolayer .cbfill'))"
    )
    assert inked
    picture = matplotlib.image.imread(io.BytesIO(browser.picture()))
    assert picture.shape[1] == width
    dark = picture[:200, :, :3].mean() < 0.5
    assert dark == (theme == "dark")


def screen(browser, page):
    """Squares of a whole light page, opened dark: figures are drawn again when it turns."""
    browser.look(1400, 900, "dark")
    browser.open(page)
    browser.wait(DRAWN + " && document.fonts.status === 'loaded'")
    browser.look(1400, 900, "light")
    browser.wait(
        "const ink = getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();"
        "return Array.from(document.querySelectorAll('[data-figure]')).every("
        "e => e._fullLayout.font.color === ink)"
    )
    return squares(browser.picture())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["embed", "compare", "cliques", "diagnose"])
def test_every_page_looks_as_it_did(browser, pages, tmp_path, name):
    text = (pages / f"{name}.html").read_text(encoding="utf-8")
    (tmp_path / "page.html").write_text(with_letters(text), encoding="utf-8")
    found = screen(browser, tmp_path / "page.html")
    if "IKD_GRAPH_KEEP_SCREENS" in os.environ:
        keep(name, found)
    assert largest_difference(name, found) < ALIKE


def test_hovering_a_point_names_its_row_and_labels_in_every_linked_picture(show):
    browser = show("embed")
    browser.move(*middle(browser, f"{FIRST}.querySelector('.points path')"))
    said = browser.wait(f"return {FIRST}.querySelector('.hovertext')?.textContent")
    row = int(said.removeprefix("r").split("animal")[0])
    assert f"animal: {['cat', chr(34) + 'dog' + chr(34) + ', <b>big'][row % 2]}" in said
    assert "age: " in said
    assert "uncertainty: ± " in said
    browser = show("compare")
    browser.move(*middle(browser, "document.querySelector('.small .points path')"))
    labels = "document.querySelectorAll('.small .hovertext')"
    assert browser.wait(f"return {labels}.length > 3 && {labels}.length") == 4
    texts = browser.run(f"return Array.from({labels}).map(e => e.textContent)")
    assert len(set(texts)) == 1


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1400, "light")])
def test_the_point_under_the_pointer_has_named_arrows(browser, tmp_path, width, theme):
    z = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, 2))
    # Three rise in nearly one direction.
    X = np.column_stack([z, z @ [1.0, 0.05], z @ [1.0, -0.05]])
    data = Dataset(X, name="plane", feature_names=("east", "<b>north", "northern", "southern"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = IKD(2, strategy="linear", refine=None, affinity="euclidean").fit(X)
        html = report.embed_page(model, data, columns=model.columns(null="permute"))
    (tmp_path / "plane.html").write_text(html, encoding="utf-8")
    browser.look(width, 900, theme)
    browser.open(tmp_path / "plane.html")
    browser.wait(DRAWN)
    drawn = f"{FIRST}.querySelectorAll('.arrows path')"
    box = "(e) => { const b = e.getBoundingClientRect(); return [b.x, b.y, b.right, b.bottom] }"
    for k in (0, 90, 199):
        browser.move(2, 2)
        browser.wait(f"return {drawn}.length === 0")
        points = f"{FIRST}.querySelectorAll('.points path')"
        browser.move(*middle(browser, f"{points}[{k}]"))
        assert browser.wait(f"return {drawn}.length") <= 3
        at, corner, texts, words, label, start = browser.run(
            f"const box = {box}, all = Array.from({FIRST}.querySelectorAll('.arrows text'));"
            f"const label = {FIRST}.querySelector('.hovertext');"
            # The nearest point may be one that lies over this.
            f"const point = {points}[parseInt(label.textContent.slice(4))];"
            f"return [box(point), box({FIRST}), all.map(box), all.map((e) => e.textContent),"
            f"box(label), {drawn}[0].getAttribute('d')]"
        )
        assert set(words[::2]) <= {"east", "<b>north", "northern", "southern"}
        assert all(re.fullmatch(r"[\d.]+ ± [\d.e-]+ sd", size) for size in words[1::2])
        # Names are whole and cover neither one another nor what is said of the point.
        boxes = [*texts, label]
        for j, (left, top, right, bottom) in enumerate(boxes):
            assert left >= 0
            assert right <= width
            for other in boxes[j + 1 :]:
                apart = right <= other[0] or left >= other[2] or bottom <= other[1] + 2
                assert apart or top >= other[3] - 2
        # Arrows begin at the point.
        begin = np.array(start.split("L")[0][1:].split(","), dtype=float) + corner[:2]
        middle_of_point = [(at[0] + at[2]) / 2, (at[1] + at[3]) / 2]
        np.testing.assert_allclose(begin, middle_of_point, atol=1.5)
    browser.move(2, 2)
    browser.wait(f"return {drawn}.length === 0")
    assert complaints(browser) == []


def test_a_class_is_hidden_in_all_linked_pictures_by_a_click_on_its_name(show):
    browser = show("embed")
    every = "Array.from(document.querySelectorAll('[data-linked] [data-figure]'))"
    shown = f"return {every}.map(e => e.data.slice(0, 2).map(t => t.visible ?? true))"
    assert browser.run(shown) == [[True, True]] * 5
    click(browser, f"{FIRST}.querySelector('.legendtoggle')")
    browser.wait(shown + "[4][0] === 'legendonly'")
    assert browser.run(shown) == [["legendonly", True]] * 5


def test_another_column_of_labels_brings_its_own_colors_and_scale(show):
    browser = show("embed")
    points = POINTS.format(FIRST)
    assert len(browser.run(points + ".map(t => t.name)")) == 2
    click(browser, f"{FIRST}.querySelector('.updatemenu-header')")
    click(browser, f"{FIRST}.querySelectorAll('.updatemenu-dropdown-button')[1]")
    browser.wait(points + ".length === 1")
    assert browser.run(points + "[0].marker.colorscale.length") == 6
    assert browser.run(f"return {FIRST}.querySelector('.cbtitle').textContent") == "age"
    small = "document.querySelector('.small [data-figure]')"
    browser.wait(POINTS.format(small) + ".length === 1")


def test_a_lasso_chooses_the_rows_that_are_saved(show, fitted):
    browser = show("embed")
    Z = made_page(fitted, 200)[1]
    browser.run(f"{FIRST}.scrollIntoView({{block: 'center'}})")
    browser.click("[data-title='Lasso Select']")
    x, y, width, height = browser.run(
        f"const b = {FIRST}.querySelector('.nsewdrag').getBoundingClientRect();"
        "return [b.x, b.y, b.width, b.height]"
    )
    half = [(x + 5, y + 5), (x + width / 2, y + 5), (x + width / 2, y + height - 5),
            (x + 5, y + height - 5), (x + 5, y + 8)]  # fmt: skip
    browser.press_and_move(half)
    text, address = browser.wait(
        "const a = document.querySelector('.save'); return a && [a.textContent, a.href]"
    )
    rows = list(csv.reader(io.StringIO(unquote(address.partition(",")[2]))))
    assert rows[0] == ["row", "across", "upwards"]
    edge = browser.run(f"return {FIRST}._fullLayout.xaxis.p2d({int(x + width / 2) - x})")
    expected = [f"r{k}" for k in np.flatnonzero(Z[:, 0] < edge)]
    assert sorted(row[0] for row in rows[1:]) == sorted(expected)
    assert text == f"Save {len(expected)} chosen rows as CSV"
    assert browser.run("return document.querySelector('[data-title^=Share]')") is None
    chosen = [int(row[0][1:]) for row in rows[1:]]
    saved = [[float(c) for c in row[1:]] for row in rows[1:]]
    np.testing.assert_allclose(saved, Z[chosen, :2], 1e-5)


def test_curves_say_all_their_numbers_where_the_pointer_is(show):
    browser = show("cliques")
    figure = "document.querySelector('[aria-label=\"numbers over the threshold\"]')"
    browser.move(*middle(browser, f"{figure}.querySelector('.nsewdrag')"))
    said = browser.wait(f"return {figure}.querySelector('.hoverlayer .legend')?.textContent")
    assert all(f"{name} : " in said for name in ("edges", "components", "cliques"))


def test_a_click_on_a_head_sorts_by_value_and_a_second_one_turns_it_round(show):
    browser = show("compare")
    column = (
        "return Array.from(document.querySelectorAll('tbody')[0].rows).map(r => {}(r.cells[{}]))"
    )
    scores = column.format("(c => +c.dataset.v)", 2)
    browser.click("th:nth-child(3) button")
    found = browser.run(scores)
    assert found == sorted(found, reverse=True)
    browser.press("\ue007")  # Enter: heads are reached and pressed with the keyboard
    browser.run("document.querySelector('th:nth-child(3) button').focus()")
    browser.press("\ue007")
    assert browser.run(scores) == sorted(found)
    browser.click("th:nth-child(1) button")
    names = browser.run(column.format("(c => c.textContent)", 0))
    assert names == sorted(names, reverse=True)
    assert browser.run("return document.querySelectorAll('th[aria-sort]').length") == 1


@pytest.mark.parametrize("n_points", [2000, 50_000])
def test_many_points_are_painted_soon_and_drawn_by_the_graphics_card(
    browser, fitted, tmp_path, n_points
):
    path = tmp_path / "many.html"
    path.write_text(made_page(fitted, n_points)[0], encoding="utf-8")
    assert path.stat().st_size < 30_000_000
    browser.look(1400)
    browser.open(path)
    browser.wait(f"return {FIRST}.data && {FIRST}._fullData.length", 60)
    kinds = {"scattergl" if n_points > 4000 else "scatter"}
    assert set(browser.run(POINTS.format(FIRST) + ".map(t => t.type)")) == kinds
    paint = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    # A loaded machine is slow; what would fail is text that waits for the pictures.
    assert browser.wait(paint) < (5000 if n_points == 2000 else 20_000)
    assert complaints(browser) == []


def test_pages_that_share_plotly_are_small_and_drawn_from_the_file_beside_them(
    browser, pages, tmp_path
):
    names = [f"{kind}.html" for kind in ("embed", "compare", "cliques", "diagnose")]
    texts = {name: (pages / name).read_text(encoding="utf-8") for name in names}
    shared = share_plotly(texts)
    assert sorted(shared) == sorted([*texts, "plotly.min.js"])
    for name, text in shared.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert name == "plotly.min.js" or len(text) < 1_000_000
    browser.open(tmp_path / "embed.html")
    browser.wait(DRAWN)
    assert complaints(browser) == []


def test_a_planted_script_does_not_run(browser, pages, tmp_path):
    text = (pages / "diagnose.html").read_text(encoding="utf-8")
    planted = text.replace("</main>", "<script>window.planted = 1</script></main>")
    (tmp_path / "planted.html").write_text(planted, encoding="utf-8")
    browser.open(tmp_path / "planted.html")
    assert browser.run("return window.planted === undefined")
    assert any("Content Security Policy" in one for one in complaints(browser))


def boxes_of(browser, selector):
    """Left, right, top and bottom of all elements of a page that a selector finds."""
    return browser.run(
        f"return Array.from(document.querySelectorAll({selector!r})).map(e => {{"
        "const b = e.getBoundingClientRect();"
        "return [b.left, b.right, b.top + scrollY, b.bottom + scrollY]})"
    )


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("name", ["one label", "embed", "cliques", "diagnose"])
def test_nothing_is_written_over_a_legend_and_no_text_is_cut(show, pages, fitted, name, width):
    made = datasets.Dataset(
        X=np.zeros((60, 2)), labels=(Labels("kind", np.arange(60) % 3, ("a", "b", "c")),)
    )
    page = report.embed_page(fitted, made)
    (pages / "one label.html").write_text(page, encoding="utf-8")
    browser = show(name, width)
    legends = boxes_of(browser, ".legend .bg") + boxes_of(browser, ".updatemenu-header")
    assert legends or name == "diagnose"
    words = [".modebar-btn", ".gtitle", ".xtitle", ".ytitle"]
    above = [box for word in words for box in boxes_of(browser, word)]
    for left, right, top, bottom in legends:
        for other in above:
            apart = right <= other[0] + 1 or left >= other[1] - 1
            assert apart or bottom <= other[2] + 1 or top >= other[3] - 1
    words = [".legendtext", ".legendtitletext", ".gtitle", ".xtitle"]
    inside = [box for word in words for box in boxes_of(browser, word)]
    assert inside
    assert all(left >= 0 and right <= width for left, right, *_ in inside)
    assert boxes_of(browser, ".modebar-btn")


BROKEN = """
const parts = '.sig-name .pre, .sig-param .n .pre, table.autosummary code .pre';
return [...document.querySelectorAll(parts)].filter(e => {
    const text = document.createRange();
    text.selectNodeContents(e);
    return text.getClientRects().length > 1;
}).map(e => e.textContent)"""
WIDE = """
const inside = e => e && e.tagName !== 'ARTICLE'
    && (['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX)
        || inside(e.parentElement));
return [...document.querySelectorAll('article *')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width && (box.left < -1 || box.right > innerWidth + 1) && !inside(e);
}).map(e => e.outerHTML)"""


@on_the_site
@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_on_the_site_leaves_the_window_and_no_name_is_broken(browser, width, theme):
    names = sorted(path.name for path in DOCS.glob("*.md"))
    pages = [SITE / f"{name.removesuffix('.md')}.html" for name in names]
    pages += [SITE / "api.html", *sorted((SITE / "generated").glob("*.html"))]
    assert len(pages) > 40
    browser.look(width, 900, theme)
    for page in pages:
        browser.open(page)
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), page
        assert browser.run(WIDE) == [], page
        assert browser.run(BROKEN) == [], page


@on_the_site
@pytest.mark.slow
@pytest.mark.parametrize("query", SEARCHED)
def test_the_search_finds_first_the_page_that_is_meant(browser, query):
    browser.look(1400)
    browser.open(SITE / "search.html")
    browser.run(f"location.search = '?q={quote(query)}'")
    said = "document.querySelector('.search-summary')?.textContent"
    browser.wait(f"return {said}?.startsWith('Search finished')")
    found = browser.run("return document.querySelector('#search-results a').getAttribute('href')")
    assert found.partition(".html")[0] == SEARCHED[query]
    links = "[...document.querySelectorAll('#search-results a')].map(e => e.getAttribute('href'))"
    assert not [each for each in browser.run(f"return {links}") if each.startswith("decisions/")]
