"""Pages in a real browser: clicks, hovering, choosing rows, no complaint, no request."""

import csv
import io
import os
import warnings
from copy import copy
from functools import cache

import matplotlib.image
import numpy as np
import pytest
from screens import keep, largest_difference, squares, with_letters
from test_report import clique_view, comparison
from webdriver import CHROMIUM, DRIVER, Browser, NoBrowser

from ikd_graph import IKD
from ikd_graph.show import report
from ikd_graph.show.page import share_plotly
from ikd_graph.study import datasets
from ikd_graph.study.datasets import Dataset, Labels
from ikd_graph.study.diagnosis import diagnose

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver")

# What a machine without a graphics card says of its own drivers, whatever is drawn; and of the
# letters on the axes of a cube.
DRIVERS = ("GL Driver Message", "software WebGL", "willReadFrequently")
DRAWN = (
    "dispatchEvent(new Event('beforeprint'));"
    "return !document.querySelector('[data-kind]:not(.js-plotly-plot)')"
    " && Array.from(document.querySelectorAll('[data-kind]')).every(e => e.data)"
)
# Runs differ by 0.0013, the rounding of what is kept, with plotly 6.0 as with 7.1; letters hinted
# in full by 0.010. Of the faults planted a legend that is not drawn makes least, 0.020.
ALIKE = 0.015
FIRST = "document.querySelector('[data-kind=points]')"


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
    model._standard_errors, model._inverse = rng.random((n_points, 3)), np.arange(n_points)
    model.stage_times_ = {"similarity": 0.5, "search": 2.0}
    data = Dataset(
        X=np.zeros((n_points, 2)), y=np.arange(n_points) % 2, label_names=("cat", '"dog", <b>big'),
        label_title="animal", other_labels=(Labels("age", angle, ()),), name="made",
        row_names=tuple(f"r{k}" for k in range(n_points)), row_title="cell",
    )  # fmt: skip
    return report.embed_page(model, data, "ikd-graph embed made"), Z


@cache
def diagnosis():
    line = np.linspace(0.0, 4.0, 40)[:, None]
    X = datasets.gplvm_data(line, 40, noise=2.0, seed=0).X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return diagnose(X, 1, n_splits=2)


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


def choose(browser, role, value):
    browser.run(
        f"const e = document.querySelector('[data-role={role}]');"
        + (
            f"e.checked = {str(value).lower()};"
            if isinstance(value, bool)
            else f"e.value = {value};"
        )
        + "e.dispatchEvent(new Event('change'))"
    )


def middle(browser, script):
    """Middle of an element in the window."""
    return browser.run(
        f"const e = {script}; e.scrollIntoView({{block: 'center'}});"
        "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]"
    )


def test_a_browser_that_does_not_start_says_so_at_once(tmp_path):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(NoBrowser, match="session not created"):
        Browser(tmp_path, binary=str(broken))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("name", ["embed", "compare", "cliques", "diagnose"])
def test_every_page_is_whole_at_any_width_in_light_and_dark(show, name, width, theme):
    browser = show(name, width, theme)
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    boxes = browser.run(
        "const all = '[data-kind], .legend, table, h2, h3';"
        "return Array.from(document.querySelectorAll(all)).filter("
        "e => e.offsetParent && !e.closest('.scroll')).map(e => {"
        "const b = e.getBoundingClientRect();"
        "return [b.left, b.right, b.top, b.bottom, e.dataset.kind || e.tagName]})"
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
        "return Array.from(document.querySelectorAll('[data-kind]')).every(e =>"
        " e.querySelector('canvas, .point, .js-line, .bars path, .points path'))"
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
        "return Array.from(document.querySelectorAll('[data-kind]')).every("
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        ".legend{visibility:hidden}",
        ".scatterlayer{visibility:hidden}",
        ":root{--accent:#b22e2e!important}",
        "main{padding-left:60px!important}",
    ],
)
def test_a_planted_fault_changes_how_a_page_looks(browser, pages, tmp_path, fault):
    text = with_letters((pages / "embed.html").read_text(encoding="utf-8"))
    (tmp_path / "page.html").write_text(text.replace("</style>", fault + "</style>", 1), "utf-8")
    found = screen(browser, tmp_path / "page.html")
    assert largest_difference("embed", found) > 1.5 * ALIKE


@pytest.mark.parametrize("name", ["embed", "cliques"])
def test_controls_are_reached_with_the_keyboard(show, name):
    browser = show(name)
    wanted = browser.run(
        "const all = 'main button, main select, main input';"
        "const found = Array.from(document.querySelectorAll(all)).filter(e => e.offsetParent);"
        "found.forEach((e, k) => { e.dataset.n = k; });"
        "return found.length"
    )
    reached = set()
    for _ in range(wanted + 5):
        browser.press("\ue004")
        reached.add(browser.run("return document.activeElement.dataset.n"))
    assert len(reached - {None}) == wanted


def test_hovering_a_point_names_its_row_and_labels_in_every_picture(show):
    browser = show("embed")
    x, y = middle(browser, f"{FIRST}.querySelector('.points path')")
    browser.move(x, y)
    said = browser.wait(f"return {FIRST}.querySelector('.hovertext')?.textContent")
    row = int(said.removeprefix("r").split("animal")[0])
    assert f"animal: {['cat', chr(34) + 'dog' + chr(34) + ', <b>big'][row % 2]}" in said
    assert "age: " in said
    assert "uncertainty ± " in said
    browser = show("compare")
    browser.move(*middle(browser, f"{FIRST}.querySelector('.points path')"))
    labels = "return document.querySelectorAll('[data-kind=points] .hovertext').length"
    assert browser.wait(f"{labels} > 1 && document.querySelectorAll('.hovertext').length") > 1


def test_a_class_is_kept_alone_and_another_added_and_taken_back(show):
    browser = show("embed")
    shown = f"return {FIRST}.data.map(trace => trace.x.length)"
    assert browser.run(shown) == [0, 200]
    browser.click(".legend button[data-key='1']")
    browser.wait(f"return {FIRST}.data[1].x.length === 100")
    assert browser.run("return document.querySelector('[data-role=save]').textContent") == (
        "Save 100 shown rows as CSV"
    )
    browser.click(".legend button[data-key='0']")
    browser.wait(f"return {FIRST}.data[1].x.length === 200")
    browser.click(".legend button[data-key='0']")
    browser.click(".legend button[data-key='1']")
    assert browser.run(shown) == [0, 200]


def test_the_legend_of_methods_dims_the_others_in_every_chart(show):
    browser = show("compare")
    browser.click(".legend button[data-key=pca]")
    faint = browser.run(
        "return Array.from(document.querySelectorAll('[data-kind=chart]')).filter(e =>"
        " e.closest('[data-linked]')).map(e => e.data.map(t => [t.meta, t.opacity]))"
    )
    first = [trace for chart in faint[:1] for trace in chart]
    assert {opacity for name, opacity in first if name == "pca"} == {1}
    assert {opacity for name, opacity in first if name == "blockwise"} == {0.1}


def test_dimensions_are_chosen_turned_joined_and_sized(show, pages):
    browser = show("embed")
    titles = f"return [{FIRST}.layout.xaxis.title.text, {FIRST}.layout.yaxis.title.text]"
    choose(browser, "across", 2)
    assert browser.run(titles)[0].startswith("dimension 3")
    choose(browser, "path", True)
    assert browser.run(f"return {FIRST}.data[0].mode") == "lines"
    choose(browser, "sized", True)
    assert browser.run(f"return new Set({FIRST}.data[2].marker.size).size") > 100
    assert browser.run("return document.querySelector('[data-role=deep]').offsetParent") is None
    choose(browser, "solid", True)
    browser.wait(f"return {FIRST}._fullLayout.scene && {FIRST}.querySelector('canvas')")
    assert set(browser.run(f"return {FIRST}.data.map(t => t.type)")) == {"scatter3d"}
    assert browser.run("return document.querySelector('[data-role=deep]').offsetParent !== null")


def test_another_column_of_labels_brings_its_own_colours_and_scale(show):
    browser = show("embed")
    choose(browser, "column", 1)
    assert browser.run(f"return {FIRST}.data[1].marker.colorscale.length") == 6
    legend = "const found = document.querySelectorAll('[data-legend]'); return found"
    assert browser.run(legend + "[0].offsetParent") is None
    assert browser.run(legend + "[1].innerText").split() == ["age", "0", "6"]


def test_a_lasso_chooses_the_rows_that_are_saved(show, fitted):
    browser = show("embed")
    Z = made_page(fitted, 200)[1]
    browser.run(
        "window.saved = []; URL.createObjectURL = (blob) => {"
        " blob.text().then(text => saved.push(text)); return '#'; };"
        f"{FIRST}.scrollIntoView({{block: 'center'}})"
    )
    browser.click("[data-title='Lasso Select']")
    x, y, width, height = browser.run(
        f"const b = {FIRST}.querySelector('.nsewdrag').getBoundingClientRect();"
        "return [b.x, b.y, b.width, b.height]"
    )
    half = [(x + 5, y + 5), (x + width / 2, y + 5), (x + width / 2, y + height - 5),
            (x + 5, y + height - 5), (x + 5, y + 8)]  # fmt: skip
    browser.press_and_move(half)
    text = browser.wait(
        "const t = document.querySelector('[data-role=save]').textContent;"
        "return t.includes('chosen') && t"
    )
    browser.click("[data-role=save]")
    rows = list(csv.reader(io.StringIO(browser.wait("return saved[0]"))))
    assert rows[0] == ["cell", "dimension 1", "dimension 2", "dimension 3", "animal", "age"]
    edge = browser.run(f"return {FIRST}._fullLayout.xaxis.p2d({width} / 2)")
    expected = [f"r{k}" for k in np.flatnonzero(Z[:, 0] < edge)]
    assert [row[0] for row in rows[1:]] == expected
    assert text == f"Save {len(expected)} chosen rows as CSV"
    assert {row[4] for row in rows[1:]} == {"cat", '"dog", <b>big'}
    kept = [int(row[0][1:]) for row in rows[1:]]
    np.testing.assert_allclose([[float(c) for c in row[1:4]] for row in rows[1:]], Z[kept], 1e-5)


def test_a_click_on_a_point_lists_its_cliques_and_their_places_for_it(show):
    browser = show("cliques")
    x, y = middle(browser, f"{FIRST}.querySelector('.points path')")
    browser.move(x, y)
    browser.wait(f"return {FIRST}.querySelector('.hovertext')")
    browser.press_and_move([(x, y), (x, y)])
    said = browser.wait("return document.querySelector('[data-role=places]').innerText")
    row = int(browser.run("return document.querySelector('[data-role=point]').value"))
    held = clique_view().cliques.of_point(row).tolist()
    assert [int(line.split()[1]) for line in said.splitlines()[1:]] == held
    choose(browser, "point", 7)
    assert browser.run("return document.querySelector('[data-role=places]').dataset.row") == "7"


def test_cliques_are_coloured_by_residual_or_by_label(show):
    browser = show("cliques")
    net = "document.querySelector('[data-kind=chart]')"
    shades = f"return {net}.data[{net}.data.length - 1].marker.color.join()"
    before = browser.run(shades)
    choose(browser, "column", 1)
    assert browser.run(shades) != before


def test_the_slider_shows_the_numbers_of_its_level(show):
    browser = show("cliques")
    read = "return Array.from(document.querySelectorAll('[data-value]')).map(d => d.textContent)"
    cursor = (
        "return Array.from(document.querySelectorAll('[data-linked-levels] [data-kind]'))"
        ".map(e => e.layout.shapes[e.layout.shapes.length - 1].x0)"
    )
    before = browser.run(read)
    browser.run(
        "const s = document.querySelector('.slider input'); s.value = 0;"
        "s.dispatchEvent(new Event('input'))"
    )
    after = browser.run(read)
    assert after != before
    assert browser.run(cursor) == [float(after[0])] * 2


def test_a_click_on_a_head_sorts_by_value_and_a_second_one_turns_it_round(show):
    browser = show("compare")
    column = (
        "return Array.from(document.querySelectorAll('tbody')[0].rows).map(r => {}(r.cells[{}]))"
    )
    scores = column.format("(c => +c.dataset.v)", 2)
    browser.click("th:nth-child(3) button")
    found = browser.run(scores)
    assert found == sorted(found, reverse=True)
    browser.click("th:nth-child(3) button")
    assert browser.run(scores) == sorted(found)
    browser.click("th:nth-child(1) button")
    names = browser.run(column.format("(c => c.textContent)", 0))
    assert names == sorted(names)
    assert browser.run("return document.querySelectorAll('th[aria-sort]').length") == 1


def test_the_page_of_a_diagnosis_says_all_it_found(show):
    text = show("diagnose").run("return document.querySelector('main').innerText")
    found = diagnosis()
    assert "<line>" in text
    for said in (*found.findings().values(), *found.warnings):
        assert said in text


@pytest.mark.parametrize("n_points", [2000, 70_000])
def test_many_points_are_painted_soon_and_drawn_by_the_graphics_card(
    browser, fitted, tmp_path, n_points
):
    path = tmp_path / "many.html"
    path.write_text(made_page(fitted, n_points)[0], encoding="utf-8")
    browser.look(1400)
    browser.open(path)
    kind = "scattergl" if n_points > 4000 else "scatter"
    browser.wait(f"return {FIRST}.data && {FIRST}.data[1].x.length === {n_points}", 60)
    assert browser.run(f"return {FIRST}.data[1].type") == kind
    paint = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    # A loaded machine is slow; what would fail is text that waits for the pictures.
    assert browser.wait(paint) < (5000 if n_points == 2000 else 20_000)
    middle(browser, FIRST)
    x, y = browser.run(
        f"const e = {FIRST}, b = e.querySelector('.nsewdrag').getBoundingClientRect();"
        "const {xaxis, yaxis} = e._fullLayout;"
        "return [b.x + xaxis.d2p(e.data[1].x[0]), b.y + yaxis.d2p(e.data[1].y[0])]"
    )
    browser.move(x - 1, y)
    browser.move(x, y)
    assert "animal: " in browser.wait(f"return {FIRST}.querySelector('.hovertext')?.textContent")
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


def test_a_planted_script_does_not_run_and_is_complained_of(browser, pages, tmp_path):
    text = (pages / "diagnose.html").read_text(encoding="utf-8")
    planted = text.replace("</main>", "<script>window.planted = 1</script></main>")
    (tmp_path / "planted.html").write_text(planted, encoding="utf-8")
    browser.open(tmp_path / "planted.html")
    assert browser.run("return window.planted === undefined")
    assert any("Content Security Policy" in one for one in complaints(browser))
