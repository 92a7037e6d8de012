"""Pictures: functions that draw into an Axes and return it."""

import re
import sys
from functools import cache, partial
from importlib.resources import files
from io import BytesIO
from itertools import combinations

import matplotlib as mpl

mpl.use("Agg")

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from tables import quiet

from ikd_graph import IKD, datasets, loadings, refine
from ikd_graph.dimension import DimensionEstimate
from ikd_graph.plotting import charts, colors, figures, plot
from ikd_graph.report import embed_page


@pytest.fixture
def ax():
    return plot.axes()


def cliques_like(n_cliques=30, seed=0):
    rng = np.random.default_rng(seed)
    graph = nx.Graph()
    graph.add_nodes_from((k, {"size": int(rng.integers(3, 12))}) for k in range(n_cliques))
    for a in range(n_cliques):
        for b in range(a):
            if rng.random() < 0.1:
                graph.add_edge(a, b, overlap=int(rng.integers(1, 5)))
    return graph


def every_picture():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    noisy = {"a": [[0.9, 0.8], [0.5, np.nan]], "b": [0.7, np.nan]}
    sizes = DimensionEstimate(1, (1, 2), np.array([0.0, 0.8, 0.79]), np.array([0.1, 0.0, 0.01]))
    return {
        "embedding": lambda **k: plot.embedding(Z, y, errors=0.1 + 0 * Z, points=[3], **k),
        "cliques": lambda **k: plot.chart(charts.network(cliques_like(40), Z), **k),
        "histogram": lambda **k: plot.chart(charts.counts([5, 4, 4], "a", "b"), **k),
        "noise": lambda **k: plot.chart(charts.noise_curves([0.0, 0.5], noisy), **k),
        "bars": lambda **k: plot.chart(charts.level_bars({"a": 0.01, "b": np.nan}), **k),
        "dimensions": lambda **k: sizes.plot(**k),
    }


@pytest.mark.parametrize("name", every_picture())
def test_each_picture_is_drawn_alike_in_the_axes_given_or_in_its_own(name):
    one, two = plot.axes(), plot.axes()
    assert every_picture()[name](ax=one) is one
    every_picture()[name](ax=two)
    assert plot.image(one, dpi=40) == plot.image(two, dpi=40)
    assert pyplot.get_fignums() == []
    assert every_picture()[name]().figure is pyplot.gcf()


def painted(ax):
    """Pixels of a figure, 0 to 1."""
    return mpl.image.imread(BytesIO(plot.image(ax, dpi=50)))[:, :, :3]


def test_no_margin_of_a_picture_is_empty_and_its_legend_is_inside(ax):
    rng = np.random.default_rng(0)
    plot.embedding(rng.normal(size=(200, 2)), np.arange(200) % 10, label_title="kind", ax=ax)
    ink = (painted(ax) < 0.95).any(axis=2)
    columns = np.flatnonzero(ink.any(axis=0))
    assert columns[0] < 12
    assert ink.shape[1] - columns[-1] < 12
    assert np.diff(columns).max() < 0.1 * ink.shape[1]


@pytest.mark.parametrize("apart", [0.0, 12.0])
def test_odd_names_are_words_that_leave_room_for_the_picture(ax, apart):
    Z = np.random.default_rng(0).normal(size=(40, 2)) + np.arange(40)[:, None] % 2 * [apart, 0]
    names = ["a" * 400, "$x_1$ and $"]
    plot.embedding(Z, np.arange(40) % 2, names=names, label_title="t" * 400, ax=ax)
    plot.image(ax)
    texts = ax.texts or ax.get_legend().get_texts()
    assert [text.get_text() for text in texts] == ["a" * 31 + "…", "$x_1$ and $"]
    assert not texts[1].get_parse_math()


def test_letters_that_no_font_has_are_told_in_one_sentence(ax):
    plot.embedding(np.eye(3)[:, :2], ["\U0001342f", "\U00013430", "b"], ax=ax)
    with pytest.warns(UserWarning, match="lacks 2 letters of some names") as heard:
        plot.image(ax)
    assert len(heard) == 1


def test_ellipses_are_one_standard_error_wide(ax):
    rng = np.random.default_rng(0)
    Z, errors = rng.normal(size=(50, 3)), rng.uniform(0.1, 1.0, (50, 3))
    errors[7] = np.nan
    (line,) = plot.embedding(Z, errors=errors, ax=ax).lines
    ellipses = line.get_xydata().reshape(50, 26, 2)[:, :-1]
    assert np.isnan(ellipses[7]).all()
    wide = np.delete(np.ptp(ellipses, axis=1), 7, axis=0)
    np.testing.assert_allclose(wide, 2 * np.delete(errors[:, :2], 7, axis=0))
    assert (np.array(ax.get_xlim()) * [-1, 1] > np.abs(line.get_xdata()[:25]).max()).all()
    many, errors = rng.normal(size=(800, 2)), np.repeat([[0.1], [3.0]], [700, 100], axis=0)
    (points,) = plot.embedding(many, errors=errors * [1, 1], ax=plot.axes()).collections
    certain = np.unique(points.get_offsets()[points.get_alpha() > 0.5], axis=0)
    np.testing.assert_array_equal(certain, np.unique(many[:700], axis=0))
    with pytest.raises(ValueError, match=r"errors must have the shape of Z, \(50, 3\), got"):
        plot.embedding(Z, errors=errors)


@pytest.mark.parametrize(
    ("n", "known", "n_bars"), [(400, True, 0), (500, True, 1), (500, False, 0)]
)
def test_a_bar_shows_the_standard_error_of_many_points(ax, n, known, n_bars):
    Z = np.random.default_rng(0).normal(size=(n, 2))
    errors = np.full((n, 2), 0.5 if known else np.nan)
    plot.embedding(Z, errors=errors, ax=ax)
    bars = [line for line in ax.lines if line.get_marker() == "o"]
    assert [float(np.ptp(bar.get_xdata())) for bar in bars] == pytest.approx([1.0] * n_bars)
    said = ax.get_legend_handles_labels()[1]
    assert said == ["± 1 standard error"] * n_bars
    said = [trace.get("name") for trace in figures.figure(charts.scatter(Z, errors=errors))["data"]]
    assert said == ["", *["± 1 standard error"] * (n_bars or n == 400)]


def test_angles_have_a_scale_without_a_seam_and_quantities_one_that_grows_lighter():
    turn = np.linspace(0, 2 * np.pi, 60)
    Z = np.column_stack([np.cos(turn), np.sin(turn)])

    def map_of(values, **more):
        (points,) = plot.embedding(Z, values, ax=plot.axes(), **more).collections
        order = np.argsort(np.arctan2(*points.get_offsets().T[::-1]) % (2 * np.pi))
        return points.get_facecolors()[order][:, :3]

    for values, more in ((turn, {"period": 2 * np.pi}), (turn * 20, {"period": 40 * np.pi})):
        shades = map_of(values, **more)
        np.testing.assert_array_equal(shades[0], shades[-1])
        assert np.abs(np.diff(shades, axis=0)).max() < 0.15
    for values in (turn * 3, turn * 0.95):
        light = [lightness(mpl.colors.to_hex(shade)) for shade in map_of(values)]
        assert np.all(np.diff(light) > 0)


def test_the_legend_names_each_class_once_in_natural_order(ax):
    plot.embedding(np.eye(4)[:, :2], ["E10", "E2", "E10", None], ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["E2", "E10", "no label"]


def test_a_quantity_gets_a_scale_and_no_legend(ax):
    plot.embedding(np.eye(3)[:, :2], [0.1, np.nan, 2.5], label_title="age", ax=ax)
    assert ax.get_legend() is None
    assert ax.figure.axes[1].get_ylabel() == "age"


def test_one_coordinate_is_drawn_against_the_rows(ax):
    plot.embedding([3.0, 1.0, 2.0], ax=ax)
    assert ax.get_xlabel() == "row"
    assert sorted(ax.collections[0].get_offsets().tolist()) == [[0, 3], [1, 1], [2, 2]]


def test_failed_runs_do_not_count_towards_the_mean(ax):
    runs = {"a": [[1.0, np.nan, 3.0], [np.nan] * 3], "b": [0.5, 0.5]}
    first, second = charts.noise_curves([0.0, 1.0], runs).curves
    np.testing.assert_array_equal(first.y, [2.0, np.nan])
    np.testing.assert_array_equal([first.errors, second.errors], [[1.0, 0.0], [0.0, 0.0]])


def test_bars_are_as_long_as_their_values(ax):
    values = {"a": 1.0, "b": 0.5, "c": np.nan, "d" * 400: -3.0}
    plot.chart(charts.level_bars(values), ax=ax)
    assert [bar.get_width() for bar in ax.patches] == [1.0, 0.5, 0.0, -3.0]
    assert [text.get_text() for text in ax.texts] == ["1", "0.5", "did not finish", "-3"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c", "d" * 31 + "…"]


def test_pictures_are_saved_whole_in_the_format_of_their_suffix(ax, tmp_path):
    plot.embedding(np.eye(3)[:, :2], ["a", "β", "b"], ax=ax)
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        assert plot.save(ax, tmp_path / f"s{suffix}").read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 3


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "ikd_graph\[plot\]"'):
        plot.embedding([[0.0, 1.0]])


def test_cliques_stand_where_they_are_put_and_their_discs_have_their_size():
    assert charts.network(nx.Graph(), np.zeros((0, 2))).points.at.shape == (0, 2)
    graph, at = cliques_like(5), np.random.default_rng(0).normal(size=(5, 3))
    drawn = charts.network(graph, at).points
    np.testing.assert_array_equal(drawn.at, at[:, :2])
    sizes = np.array([size for _, size in graph.nodes.data("size")])
    np.testing.assert_allclose(drawn.size**2 / sizes, (drawn.size**2 / sizes)[0], rtol=0.02)


def test_only_the_strongest_edges_of_a_crowded_network_are_drawn():
    graph = nx.complete_graph(20)
    for weight, (a, b) in enumerate(graph.edges):
        graph.edges[a, b]["overlap"] = weight + 1
    lines = charts.network(graph, np.eye(20)).curves
    assert sum(line.x.size for line in lines) == 3 * 5 * 20  # both ends, and a gap


def lightness(color):
    rgb = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(first, second):
    """Contrast of two colors as the WCAG define it."""
    dark, bright = sorted([lightness(first), lightness(second)])
    return (bright + 0.05) / (dark + 0.05)


def test_class_colors_are_distinct_and_read_on_white_and_dark_pages():
    assert len(set(colors.CLASSES)) == len(colors.CLASSES) >= 20
    css = files("ikd_graph.report").joinpath("templates/page.css").read_text(encoding="utf-8")
    papers = re.findall(r"--paper:(#\w+)", css)
    papers = ["#ffffff" if paper == "#fff" else paper for paper in papers]
    assert len(papers) == 2
    every = (*colors.CLASSES, colors.MUTED)
    low = [c for c in every if min(contrast(c, paper) for paper in papers) < 3.0]
    assert low == []


def test_neighboring_classes_differ_for_eyes_without_green_cones():
    # Machado, Oliveira and Fernandes 2009, in linear light.
    deuteranopia = [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
    rgb = mpl.colors.to_rgba_array(colors.CLASSES)[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(deuteranopia), 0.0, 1.0)
    cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    oklab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    at = np.cbrt(seen @ np.transpose(cones)) @ np.transpose(oklab)
    gaps = np.linalg.norm(np.diff(at, axis=0), axis=1)
    assert gaps[:11].min() > 0.1
    assert gaps.min() > 0.07


KINDS = np.arange(60) % 3


@pytest.mark.parametrize(
    "labels",
    [
        KINDS,
        KINDS.tolist(),
        pd.Series(KINDS, index=range(100, 160)),
        pd.Categorical(KINDS),
        np.array(["a", "b", "c"])[KINDS],
        pd.Series(np.array(["a", "b", "c"])[KINDS], dtype="category"),
    ],
)
def test_color_and_labels_are_one_argument_whatever_holds_the_values(labels):
    shades = [
        draw(ax=plot.axes(), **{name: labels}).collections[0].get_facecolors()
        for draw in (partial(plot.embedding, np.eye(60)), fitted_path().plot)
        for name in ("color", "labels")
    ]
    assert len(np.unique(shades[0], axis=0)) == 3
    for shade in shades[1:]:
        np.testing.assert_array_equal(shade, shades[0])


def test_error_bars_are_drawn_only_where_the_columns_look_like_samples_of_the_model():
    rng = np.random.default_rng(0)
    skew = rng.gamma(0.3, size=(36, 40)) * np.exp(2.0 * rng.normal(size=40))
    search = refine.Likelihood(descent="annealed")
    samples = datasets.gplvm_data("medium", 60, noise=0.1).X[:36]
    for X, looks in ((skew + np.linspace(0, 3, 36)[:, None] * rng.random(40), 0), (samples, 1)):
        model = quiet(IKD(3, strategy="geodesic", refine=search), X)
        assert np.isfinite(model.standard_errors_).all()
        drawn = model.plot(ax=plot.axes()).lines
        assert len(drawn) == looks
        html = embed_page(model, datasets.Dataset(X))
        assert (' 1 standard error"' in html) == ("uncertainty: " in html) == bool(looks)


@cache
def fitted_path(kind=""):
    """A model of rows along a path, of a data frame with an index of a kind."""
    X = np.random.default_rng(0).normal(size=(60, 20)).cumsum(axis=0)
    frame = pd.DataFrame(X, INDICES[kind][0]) if kind else X
    return IKD(strategy="geodesic", refine=None).fit(frame)


def test_columns_of_polars_are_colors():
    polars = pytest.importorskip("polars")
    for values in (["b", "a", "b"], [2, 1, 2]):
        expected = colors.paint(values)
        found = colors.paint(polars.Series("kind", values))
        assert (found.names, found.y.tolist()) == (expected.names, expected.y.tolist())


def test_classes_keep_the_order_that_their_categories_have():
    labels = pd.Categorical(["high", "low", None], ["low", "high"], ordered=True)
    assert [name for _, name in colors.paint(labels).classes()] == ["low", "high", "no label"]
    ax = plot.embedding(np.eye(3), [1, 0, -1], names=["low", "high"], ax=plot.axes())
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["low", "high", "no label"]


@pytest.mark.parametrize("color", [[1, 2], "red", 3, KINDS[:, None]])
def test_colors_that_are_not_one_for_each_row_are_refused_by_every_plot(color):
    shape = " x ".join(map(str, np.shape(color))) or "a single value"
    for draw in (fitted_path().plot, partial(plot.embedding, np.eye(60))):
        for name in ("color", "labels"):
            with pytest.raises(
                ValueError, match=f"color, or labels, must be one for each of 60 rows, got {shape};"
            ):
                draw(**{name: color})
    with pytest.raises(TypeError, match="multiple values"):
        fitted_path().plot(color=KINDS, labels=KINDS)


DAYS = pd.date_range("2020-01-01", periods=60, name="day")
INDICES = {
    "dates": (DAYS, "day", True),
    "dates of a zone": (DAYS.tz_localize("Europe/Berlin"), "day", True),
    "newest first": (DAYS[::-1], "day", True),
    "unsorted dates": (DAYS[np.argsort(KINDS)], "day", False),
    "months": (pd.period_range("2001-01", periods=60, freq="M"), "time", True),
    "durations": (pd.timedelta_range("1min", periods=60, freq="7s"), "time (s)", True),
    "texts": (DAYS.strftime("%Y-%m-%d %H:%M"), "day", True),
    "years": (pd.Index(range(1950, 2010), name="year"), "year", True),
    "numbers": (np.linspace(0.0, 1.0, 60), "index", True),
    "counted from 1": (range(1, 61), "", False),
    "numbers in no order": (np.argsort(KINDS), "", False),
    "names": ([f"n{k}" for k in range(60)], "", False),
}


@pytest.mark.parametrize("kind", INDICES)
def test_an_index_that_is_a_clock_or_a_number_colors_the_path(kind):
    _, title, is_path = INDICES[kind]
    ax = fitted_path(kind).plot(ax=plot.axes())
    scales = [panel for panel in ax.figure.axes if panel is not ax]
    assert [scale.get_ylabel() for scale in scales] == [title] * bool(title)
    texts = [] if ax.get_legend() is None else [t.get_text() for t in ax.get_legend().get_texts()]
    assert texts == ["consecutive rows are joined"] * is_path
    if is_path:
        x, y = ax.lines[0].get_xdata(), ax.lines[0].get_ydata()
        np.testing.assert_array_equal(np.column_stack([x, y])[:-1], fitted_path(kind).embedding_)
    ax = fitted_path(kind).plot(KINDS, ax=plot.axes())
    assert len(ax.lines) == 0


def test_dates_are_written_as_dates_where_their_colors_are():
    paint = colors.paint_index(DAYS + pd.Timedelta("7h"))
    values, texts = paint.ticks
    assert texts == ["2020-01-01", "2020-01-20", "2020-02-09", "2020-02-29"]
    assert values[0] == 0.0
    for value, text in zip(values[1:], texts[1:], strict=True):
        assert DAYS[0] + pd.Timedelta(seconds=value, hours=7) == pd.Timestamp(text)
    hours = colors.paint_index(["2020-05-01 10:00", "2020-05-01 11:00"]).ticks[1]
    assert hours == [
        f"2020-05-01 {text}" for text in ("10:00:00", "10:20:00", "10:40:00", "11:00:00")
    ]


@pytest.mark.parametrize(
    ("labels", "names", "codes"),
    [
        ([3, 1, 3], ("1", "3"), [1, 0, 1]),
        ([2.0, np.nan], ("2",), [0, -1]),
        (["b", "", None, "a"], ("a", "b"), [1, -1, -1, 0]),
        (["s10", "s9"], ("s9", "s10"), [1, 0]),
    ],
)
def test_labels_become_classes_in_order(labels, names, codes):
    found = colors.paint(labels)
    assert tuple(name for code, name in found.classes() if code >= 0) == names
    assert found.y.tolist() == codes


def test_positions_among_many_numbers_are_those_numbers():
    names = [str(k) for k in range(100)]
    np.testing.assert_array_equal(colors.paint([5, -1, 99], names).y, [5.0, np.nan, 99.0])
    assert colors.paint([1, -1, 0], ["a", "b"]).y.tolist() == [1, -1, 0]


def test_small_multiples_draw_the_same_points_in_the_same_colors(ax):
    rng = np.random.default_rng(0)
    panels = {"first": rng.normal(size=(12, 3)), "line": rng.normal(size=12)}
    first = plot.small_multiples(panels, ["a", "b"] * 6, captions={"line": "0.5"}, ax=ax)
    drawn = [panel for panel in ax.figure.axes if panel is not ax]
    assert drawn[0] is first
    assert [panel.get_title(loc="left") for panel in drawn] == ["first", "line"]
    assert [panel.get_xlabel() for panel in drawn] == ["", "0.5"]
    shades = [panel.collections[0].get_facecolors() for panel in drawn]
    np.testing.assert_array_equal(shades[0], shades[1])
    assert len(np.unique(shades[0], axis=0)) == 2
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
    with pytest.raises(ValueError, match="ax must be a subplot, got free Axes"):
        plot.small_multiples(panels, ax=ax.figure.add_axes((0, 0, 1, 1)))


def test_a_fitted_model_draws_itself_by_labels_quantities_and_angles():
    X = np.random.default_rng(0).normal(size=(60, 20)).cumsum(axis=0)
    model = IKD(strategy="geodesic", refine=None).fit(X)
    for color in (None, np.arange(60) > 30, X[:, 0], np.linspace(0, 360, 60)):
        ax = model.plot(color, ax=plot.axes())
        assert sum(len(one.get_offsets()) for one in ax.collections) >= 60
    with pytest.raises(ValueError, match="labels, must be one for each of 60 rows, got 2"):
        model.plot([1, 2])


def overlapping(boxes):
    """Pairs of boxes that share more than a line."""
    pairs = combinations([box.padded(-1) for box in boxes], 2)
    return [(a, b) for a, b in pairs if a.overlaps(b)]


def test_names_of_points_do_not_overlap_and_do_not_hide_behind_classes():
    r = np.random.default_rng(0)
    names = [f"row {k}" for k in range(60)]
    Z = r.normal(size=(60, 2))
    labels = np.where(Z[:, 0] > 0, "right", "left")
    ax = plot.embedding(Z, labels, points=plot.names_of_points(names), ax=plot.axes(7.2, 5.4))
    FigureCanvasAgg(ax.figure).draw()
    boxes = [Text.get_window_extent(t) for t in ax.texts if t.get_text()]
    assert {t.get_text() for t in ax.texts} <= set(names)
    assert len(boxes) > 50
    assert not overlapping(boxes)
    assert {text.get_text() for text in ax.figure.findobj(Text)} >= {
        "left",
        "right",
    }
    # Where there is no room nothing is written far away from its point.
    ax = plot.embedding(np.zeros((60, 2)), points=plot.names_of_points(names), ax=plot.axes())
    assert 0 < len(ax.texts) < 60
    assert plot.names_of_points(["a"] * 101) == {}


def test_discs_of_cliques_do_not_hide_one_another_and_are_drawn_whole():
    graph = cliques_like(40)
    # Cliques that share nearly all of their points have nearly the same middle.
    at = np.random.default_rng(0).normal(size=(8, 2)).repeat(5, axis=0)
    at += 0.01 * np.random.default_rng(1).normal(size=(40, 2))
    ax = plot.chart(charts.network(graph, at), ax=plot.axes(7.2, 5.6))
    FigureCanvasAgg(ax.figure).draw()
    (discs,) = ax.collections
    middles = ax.transData.transform(discs.get_offsets())
    reach = 0.5 * np.sqrt(discs.get_sizes()) * ax.figure.dpi / 72.0
    gap = np.linalg.norm(middles[:, None] - middles, axis=2) - (reach[:, None] + reach)
    assert gap[np.triu_indices(40, 1)].min() > -0.15 * reach.max()
    assert not discs.get_clip_on()


def test_a_graph_of_cliques_names_the_points():
    graph, names = cliques_like(12), [f"cell {k}" for k in range(30)]
    rng = np.random.default_rng(0)
    named = charts.Names(rng.normal(size=(30, 2)), names, dots=True)
    what = charts.network(graph, rng.normal(size=(12, 2)), names=named)
    ax = plot.chart(what, ax=plot.axes(7.2, 5.6))
    FigureCanvasAgg(ax.figure).draw()
    assert len(ax.texts) > 25
    assert {text.get_text() for text in ax.texts} <= set(names)
    assert not overlapping([Text.get_window_extent(text) for text in ax.texts])
    assert what.names is not None
    assert figures.figure(what)["data"][1]["text"] == names


def test_names_stay_inside_the_picture_and_apart_in_small_multiples():
    rng = np.random.default_rng(0)
    panels = {"one": rng.normal(size=(30, 2)), "two": rng.normal(size=(30, 2))}
    names = {row: f"row {row}" for row in range(30)}
    ax = plot.axes(9, 5)
    plot.small_multiples(panels, points=names, n_columns=2, ax=ax)
    FigureCanvasAgg(ax.figure).draw()
    for panel in ax.figure.axes[1:]:
        boxes = [Text.get_window_extent(text) for text in panel.texts]
        assert len(boxes) > 20
        assert not overlapping(boxes)
        whole = panel.get_window_extent().padded(2)
        assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes)


def test_error_bars_much_larger_than_the_map_do_not_shrink_it():
    Z = np.random.default_rng(0).normal(size=(30, 2))
    errors = np.full_like(Z, 0.1)
    errors[3] = 1000.0
    ax = plot.embedding(Z, errors=errors, ax=plot.axes())
    assert np.ptp(ax.get_xlim()) < 2.0 * np.ptp(Z[:, 0]) + 2.0
    (line,) = charts.scatter(Z, errors=errors).curves
    assert np.nanmax(np.abs(line.x)) < 2.0 * np.ptp(Z[:, 0])


def planted_gradients(n=400):
    """A map of which "up" rises in the left half, "right" in the right one; where; the slopes."""
    Z = np.random.default_rng(0).uniform(-1.0, 1.0, size=(n, 2))
    rows = plot.grid(Z)[0]
    values = np.zeros((rows.size, 4, 2))
    values[Z[rows, 0] < 0.0, 1] = [0.0, 2.0]
    values[Z[rows, 0] > 0.0, 3] = [1.0, 0.0]
    return Z, rows, values, ["a", "up", "b", "right"]


def test_arrows_show_which_column_rises_where_and_none_where_that_is_not_sure(ax):
    Z, rows, values, names = planted_gradients()
    errors = np.full(values.shape, 0.1)
    errors[Z[rows, 1] > 0.5] = 3.0
    assert plot.gradients(Z, values, errors, names, ax=ax) is ax
    up, right = ax.collections[:2]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(texts) == ["right", "up"]
    if texts[0] == "right":
        up, right = right, up
    assert (up.get_offsets()[:, 0] < 0.0).all()
    assert (right.get_offsets()[:, 0] > 0.0).all()
    # Six of eight rows of cells are sure; the longest arrow is as long as a cell is wide.
    assert up.get_offsets()[:, 1].max() <= 0.5
    assert len(up.get_offsets()) == len(right.get_offsets()) == 24
    cell = np.ptp(Z, axis=0).max() / 8
    np.testing.assert_allclose(np.column_stack([up.U, up.V]), [[0.0, cell]] * 24, atol=1e-12)
    np.testing.assert_allclose(right.U, cell / 2)
    # Fewer names than columns: the others are gray.
    few = plot.gradients(Z, values, errors, names, n=1, color=Z[:, 0] > 0, ax=plot.axes())
    texts = [text.get_text() for text in few.get_legend().get_texts()]
    assert texts[:2] == ["False", "True"]
    assert texts[-1] == "others"
    shades = [mpl.colors.to_hex(each.get_facecolor()[0]) for each in few.collections[:2]]
    assert shades == [colors.class_color(2), colors.MUTED]
    assert not plot.gradients(Z, values, errors + 9, names, ax=plot.axes()).get_legend()


def test_gradients_over_a_line_are_curves_in_bands_of_two_standard_errors(ax):
    z = np.random.default_rng(0).permutation(np.linspace(0.0, 1.0, 50))[:, None]
    values = np.stack([np.cos(6.0 * z), 0.0 * z], axis=1)[plot.grid(z)[0]]
    plot.gradients(z, values, np.full(values.shape, 0.1), ["wave", "flat"], ax=ax)
    (curve,), (band,) = ax.lines, ax.collections
    y = curve.get_ydata()
    np.testing.assert_allclose(y, np.cos(6.0 * np.linspace(0.0, 1.0, 50)))
    low, high = band.get_paths()[0].get_extents().intervaly
    assert (low, high) == pytest.approx((y.min() - 0.2, y.max() + 0.2))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["wave"]


def test_surfaces_have_arrows_of_their_slopes(ax):
    Z, _, values, names = planted_gradients()
    slopes = np.where(values.any(axis=2, keepdims=True), values, np.nan)[:, [1, 3]]
    first = plot.surfaces(Z, None, Z, [names[1], names[3]], slopes=slopes, ax=ax)
    panels = ax.figure.axes[ax.figure.axes.index(first) :]
    assert [panel.get_title(loc="left") for panel in panels] == ["up", "right"]
    up, right = (panel.collections[-1] for panel in panels)
    assert (~up.Umask).sum() == (~right.Umask).sum() == 32
    assert (up.get_offsets()[~up.Umask, 0] < 0.0).all()
    assert (up.V[~up.Umask] > 0.0).all()
    assert (right.get_offsets()[~right.Umask, 0] > 0.0).all()


def test_loadings_draw_themselves(ax):
    rng = np.random.default_rng(0)
    Z = rng.uniform(-1.0, 1.0, size=(300, 3))
    table = pd.DataFrame({"noise": rng.normal(size=300), "east": Z[:, 0], "hill": -(Z[:, 1] ** 2)})
    found = loadings(Z, table)
    found.plot(color=Z[:, 2] > 0.0, n=1, ax=ax)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["False", "True", "hill", "others"]
    hill = ax.collections[0]
    # The hill rises to its top, most at its foot; arrows of other columns are where it is flat.
    assert (hill.V * hill.get_offsets()[:, 1] < 0.0).all()
    first = found.plot("surfaces", n=2, ax=plot.axes())
    panels = first.figure.axes[first.figure.axes.index(first) :]
    assert [panel.get_title(loc="left") for panel in panels] == found.top(2)["column"].tolist()
    line = loadings(Z[:, :1], table).plot("surfaces", ax=plot.axes())
    assert line.get_xlabel() == "dimension 1"
    assert [text.get_text() for text in line.get_legend().get_texts()] == ["east"]
    # Where nothing changes surely there is the map alone.
    none = loadings(Z, rng.normal(size=(300, 2)))
    for kind in ("arrows", "surfaces"):
        (points,) = none.plot(kind, ax=plot.axes()).collections
        assert len(points.get_offsets()) == 300
    with pytest.raises(ValueError, match="kind must be one of 'arrows', 'surfaces', got 'hills'"):
        found.plot("hills")


def test_a_mark_is_named_in_the_legend_on_paper_and_on_pages(ax):
    bars = charts.Bars(np.linspace(0, 1, 21), np.ones(21), name="pairs")
    curve = charts.Curve("chance", bars.at, bars.at, "#000000")
    what = charts.Chart("a", "b", "c", curves=(curve,), bars=(bars,), mark=(0.05, "x" * 20))
    plot.chart(what, ax=ax)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(texts) == ["chance", "pairs", "x" * 20]
    (shape,) = figures.figure(what)["layout"]["shapes"]
    assert (shape["name"], shape["x0"], shape["showlegend"]) == ("x" * 20, 0.05, True)
