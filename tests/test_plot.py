"""Pictures: functions that draw into an Axes and return it."""

import sys
import warnings

import matplotlib as mpl

mpl.use("Agg")

import networkx as nx
import numpy as np
import pytest
from matplotlib import pyplot

from ikd_graph.show import colors, network, plot
from ikd_graph.show.charts import mean_and_spread, spectrum_gap
from ikd_graph.show.words import count, say_kernel, say_number, say_seconds, versions
from ikd_graph.study import dimension


@pytest.fixture(autouse=True)
def _no_figure_left_open():
    before = pyplot.get_fignums()
    yield
    pyplot.close("all")
    assert before == []


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
    Z = rng.normal(size=(40, 3))
    y = rng.integers(0, 3, 40)
    levels = {
        "threshold": [0.1, 0.2, 0.3],
        "edges": [90, 40, 3],
        "components": [1, 1, 7],
        "cliques": [np.nan, 30, 3],
        "coverage": [1.0, 0.9, 0.1],
    }
    return {
        "embedding": lambda ax=None: plot.embedding(Z, y, ax=ax),
        "spectrum": lambda ax=None: plot.spectrum([5.0, 4.0, 1.0, -0.2], 2, ax=ax),
        "clique_graph": lambda ax=None: plot.clique_graph(cliques_like(), ax=ax),
        "degrees": lambda ax=None: plot.degrees([0, 3, 4, 4], ax=ax),
        "clique_sizes": lambda ax=None: plot.clique_sizes([3, 3, 9], ax=ax),
        "threshold_curve": lambda ax=None: plot.threshold_curve(levels, 0.2, ax=ax),
        "noise_curves": lambda ax=None: plot.noise_curves(
            [0.0, 0.5], {"a": [[0.9, 0.8], [0.5, np.nan]], "b": [0.7, np.nan]}, ax=ax
        ),
        "time_bars": lambda ax=None: plot.time_bars({"a": 0.01, "b": np.nan}, ax=ax),
    }


@pytest.mark.parametrize("name", every_picture())
def test_each_picture_draws_into_the_axes_it_is_given_and_returns_it(name, ax):
    assert every_picture()[name](ax) is ax
    assert len(plot.png(ax, dpi=40)) > 1000
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize("name", every_picture())
def test_each_picture_makes_its_own_figure_when_given_none(name):
    assert every_picture()[name]().figure is pyplot.gcf()


@pytest.mark.parametrize("name", every_picture())
def test_the_same_picture_twice_has_the_same_pixels(name):
    one, two = plot.axes(), plot.axes()
    assert plot.png(every_picture()[name](one), dpi=40) == plot.png(
        every_picture()[name](two), dpi=40
    )


def test_the_legend_names_each_class_once_in_natural_order(ax):
    plot.embedding(np.eye(4)[:, :2], ["E10", "E2", "E10", None], ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["E2", "E10", "no label"]


def test_names_of_classes_replace_their_codes(ax):
    plot.embedding(np.eye(3)[:, :2], [1, 0, 1], names=["low", "high"], ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["low", "high"]


def test_a_quantity_gets_a_scale_and_no_legend(ax):
    plot.embedding(np.eye(3)[:, :2], [0.1, np.nan, 2.5], label_title="age", ax=ax)
    assert ax.get_legend() is None
    assert ax.figure.axes[1].get_ylabel() == "age"


def test_one_coordinate_is_drawn_against_the_rows(ax):
    plot.embedding([3.0, 1.0, 2.0], ax=ax)
    assert ax.get_xlabel() == "row"
    np.testing.assert_array_equal(ax.collections[0].get_offsets()[:, 0], [0, 1, 2])


def test_explained_shares_stand_beside_their_axes(ax):
    plot.embedding(np.eye(3), shares=[0.62, 0.2, 0.1], ax=ax)
    assert ax.get_xlabel() == "dimension 1  (62% of the embedding's spread)"
    assert ax.get_ylabel() == "dimension 2  (20% of the embedding's spread)"


def test_both_axes_of_an_embedding_have_the_same_scale(ax):
    plot.embedding(np.random.default_rng(0).normal(size=(9, 2)) * [1, 50], ax=ax)
    assert ax.get_aspect() == 1.0


def test_the_spectrum_gap_is_marked_on_the_spectrum(ax):
    plot.spectrum([9.0, 8.0, 1.0], ax=ax)
    assert [text.get_text() for text in ax.texts] == ["gap after 2"]
    assert spectrum_gap([2.0]) == spectrum_gap([1.0, 1.0]) == 0
    assert spectrum_gap([3.0, -50.0]) == spectrum_gap([-1.0, -2.0]) == 0


def test_few_counts_have_a_bar_each_and_many_share_bars():
    few = plot.degrees([0, 0, 2], ax=plot.axes())
    assert [bar.get_height() for bar in few.patches][:3] == [2, 0, 1]
    many = plot.degrees(np.arange(1000), ax=plot.axes())
    assert len(many.patches) <= 41
    assert sum(bar.get_height() for bar in many.patches) == 1000


def test_empty_counts_say_so(ax):
    plot.clique_sizes([], ax=ax)
    assert ax.texts[0].get_text() == "none"


def test_failed_runs_do_not_count_towards_the_mean():
    mean, spread = mean_and_spread([[1.0, np.nan, 3.0], [np.nan] * 3])
    np.testing.assert_array_equal(mean, [2.0, np.nan])
    np.testing.assert_array_equal(spread, [1.0, 0.0])


def test_bars_of_time_carry_their_value_or_their_failure(ax):
    plot.time_bars({"fast": 0.0123, "never": np.nan}, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["12 ms", "did not finish"]


def test_pictures_are_saved_whole_in_the_format_of_their_suffix(ax, tmp_path):
    plot.spectrum([2.0, 1.0], ax=ax)
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        assert plot.save(ax, tmp_path / f"s{suffix}").read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 3


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "ikd_graph\[plot\]"'):
        plot.embedding([[0.0, 1.0]])


def test_the_layout_is_the_same_on_every_run_and_finite():
    graph = nx.disjoint_union(nx.path_graph(5), nx.complete_graph(4))
    graph.add_node("alone")
    one, two = (network.network(graph).places for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert np.isfinite(one).all()
    assert len(np.unique(one, axis=0)) == 10
    assert network.network(nx.Graph()).places.shape == (0, 2)


def test_cliques_stand_where_they_are_put():
    graph, places = cliques_like(5), np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_array_equal(network.network(graph, places).places, places[:, :2])
    assert np.isfinite(network.network(nx.complete_graph(6)).places).all()


def test_hundreds_of_cliques_are_drawn_quickly(ax):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot.clique_graph(cliques_like(300), labels=np.arange(300) % 7, ax=ax)
    assert len(ax.get_legend().get_texts()) == 7


def lightness(color):
    rgb = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_class_colours_are_distinct_and_read_on_white_and_black():
    assert len(set(colors.CLASSES)) == len(colors.CLASSES) >= 20
    assert all(0.04 < lightness(color) < 0.75 for color in colors.CLASSES)


def test_the_continuous_scale_grows_lighter_all_the_way():
    steps = [lightness(color) for color in colors.ramp(np.linspace(0, 1, 20))]
    assert np.all(np.diff(steps) > 0)
    assert colors.ramp([1.0, np.nan, 1.0])[1] == colors.MUTED
    assert colors.ramp([]) == []


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1, 2], False),
        ([0.0, 1.0], False),
        ([0.5, 1.0], True),
        (np.arange(500), True),
        (["a", "b"], False),
        ([True, False], False),
    ],
)
def test_numbers_are_a_quantity_when_not_whole_or_too_many(labels, expected):
    assert colors.is_quantity(labels) is expected


@pytest.mark.parametrize(
    ("labels", "names", "codes"),
    [
        ([3, 1, 3], ("1", "3"), [1, 0, 1]),
        ([2.0, np.nan], ("2",), [0, -1]),
        (["b", "", None, "a"], ("a", "b"), [1, -1, -1, 0]),
        (["s10", "s9"], ("s9", "s10"), [1, 0]),
        ([], (), []),
    ],
)
def test_labels_become_classes_in_order(labels, names, codes):
    found = colors.group(labels)
    assert found.names == names
    assert found.codes.tolist() == codes


def test_text_for_readers():
    assert say_number(1234567) == "1\u202f234\u202f567"
    assert say_number(np.float64("nan")) == "–"
    assert say_number(True) == "yes"
    assert say_number(1234.56) == "1\u202f235"
    assert say_seconds(0.0012) == "1.2 ms"
    assert say_seconds(0.9999) == "1.0 s"
    assert say_seconds(130) == "2 min"
    assert count(1, "entry", "entries") == "1 entry"
    assert count(2, "entry", "entries") == "2 entries"
    assert versions().startswith("ikd_graph ")


def test_kernels_are_written_with_what_is_unusual_about_them():
    from ikd_graph.kernels import RationalQuadratic, SquaredExponential

    assert say_kernel(SquaredExponential(length_scale=2.0)) == "squared exponential, length scale 2"
    assert say_kernel(RationalQuadratic(alpha=1.0)) == "rational quadratic, alpha 1"


def test_small_multiples_draw_the_same_points_in_the_same_colours(ax):
    rng = np.random.default_rng(0)
    panels = {"first": rng.normal(size=(12, 3)), "line": rng.normal(size=12)}
    first = plot.small_multiples(panels, ["a", "b"] * 6, captions={"line": "0.5"}, ax=ax)
    drawn = [one for one in ax.figure.axes if one is not ax]
    assert drawn[0] is first
    assert [one.get_title(loc="left") for one in drawn] == ["first", "line"]
    assert [one.get_xlabel() for one in drawn] == ["", "0.5"]
    colors_of = [one.collections[0].get_facecolors() for one in drawn]
    np.testing.assert_array_equal(colors_of[0], colors_of[1])
    np.testing.assert_array_equal(drawn[1].collections[0].get_offsets()[:, 0], np.arange(12))
    assert len(np.unique(colors_of[0], axis=0)) == 2


def test_small_multiples_take_a_quantity_or_nothing_as_colours_and_want_a_subplot(ax):
    Z = np.random.default_rng(0).normal(size=(9, 2))
    shades = plot.small_multiples({"a": Z}, np.linspace(0.0, 1.0, 9), ax=ax).collections[0]
    assert len(np.unique(shades.get_facecolors(), axis=0)) == 9
    free = ax.figure.add_axes((0, 0, 1, 1))
    with pytest.raises(ValueError, match="ax must be a subplot, got free Axes"):
        plot.small_multiples({"a": Z}, ax=free)


@pytest.mark.parametrize("measure", ["box_counting_dimension", "correlation_dimension"])
def test_the_line_of_a_dimension_runs_through_its_counts(measure, ax):
    sheet = np.random.default_rng(0).uniform(size=(800, 2))
    fit = getattr(dimension, measure)(sheet)
    plot.scaling(fit, ax=ax)
    rest, used, line = ax.lines
    assert len(rest.get_xdata()) + len(used.get_xdata()) == np.count_nonzero(fit.counts)
    assert (line.get_xdata() == fit.fit_range).all()
    fitted = np.exp(np.interp(np.log(used.get_xdata()), np.log(line.get_xdata()),
                              np.log(line.get_ydata())))  # fmt: skip
    np.testing.assert_allclose(np.log(fitted), np.log(used.get_ydata()), atol=0.5)
    assert ax.texts[0].get_text() == f"dimension {fit.dimension:.2f}"
    assert ax.get_xscale() == ax.get_yscale() == "log"


def test_a_circle_has_no_seam_and_points_can_be_named():
    angles = np.array([1.0, 359.0, 180.0, 721.0])
    ax = plot.embedding(
        np.eye(4)[:, :2], angles, period=360.0, quantity=True, points={0: "first", 2: "y" * 99}
    )
    shades = ax.collections[0].get_cmap()(ax.collections[0].norm(angles % 360.0))
    assert np.abs(shades[0] - shades[1]).max() < 0.02
    np.testing.assert_array_equal(shades[0], shades[3])
    assert np.abs(shades[0] - shades[2]).max() > 0.3
    assert ax.texts[0].get_text() == "first"
    assert len(ax.texts[1].get_text()) < 40
