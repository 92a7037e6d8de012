import numpy as np
import pytest

from ikd_graph.study import datasets, dimension


def sphere(n_points, n_dimensions, seed):
    X = np.random.default_rng(seed).normal(size=(n_points, n_dimensions + 1))
    return X / np.linalg.norm(X, axis=1)[:, None]


@pytest.mark.parametrize("method", ["grid", "cover"])
@pytest.mark.parametrize("n_dimensions", [1, 2])
def test_box_counting_finds_the_dimension_of_spheres(method, n_dimensions):
    fit = dimension.box_counting_dimension(sphere(2000, n_dimensions, 0), method=method)
    assert fit.dimension == pytest.approx(n_dimensions, abs=0.15)
    assert fit.fit_range[0] < fit.fit_range[1]


@pytest.mark.parametrize("n_dimensions", [1, 2, 3, 5])
def test_the_correlation_dimension_of_spheres(n_dimensions):
    fit = dimension.correlation_dimension(sphere(2000, n_dimensions, 1))
    assert fit.dimension == pytest.approx(n_dimensions, rel=0.06)


def test_a_swiss_roll_is_a_sheet():
    X = datasets.swiss_roll(2000).X
    assert dimension.box_counting_dimension(X).dimension == pytest.approx(2.0, abs=0.15)
    assert dimension.correlation_dimension(X).dimension == pytest.approx(2.0, abs=0.15)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["sphere 1", "sphere 2", "sphere 3", "sphere 5", "roll"])
def test_the_correlation_dimension_is_that_of_scikit_dimension(name):
    skdim = pytest.importorskip("skdim", reason="needs scikit-dimension")
    X = datasets.swiss_roll(1000).X if name == "roll" else sphere(1000, int(name[-1]), 2)
    ours = dimension.correlation_dimension(X).dimension
    assert ours == pytest.approx(skdim.id.CorrInt().fit(X).dimension_, rel=0.08)
    assert ours == pytest.approx(skdim.id.MLE().fit(X).dimension_, rel=0.08)


@pytest.mark.slow
def test_the_box_counting_dimension_of_faces_is_twelve(data_home):
    faces = datasets.load("extended_yale_b")
    fit = dimension.box_counting_dimension(faces.X)
    assert fit.dimension == pytest.approx(12.09, abs=0.01)
    # Light and face together: of pairs of near images only the light is left.
    assert 4.0 < dimension.correlation_dimension(faces.X).dimension < 7.0


def test_the_slope_is_that_of_the_counts_it_returns():
    fit = dimension.box_counting_dimension(sphere(800, 2, 0))
    used = (fit.sizes >= fit.fit_range[0]) & (fit.sizes <= fit.fit_range[1])
    slope, intercept = np.polyfit(np.log(fit.sizes[used]), np.log(fit.counts[used]), 1)
    assert fit.dimension == pytest.approx(-slope)
    assert fit.intercept == pytest.approx(intercept)
    assert np.all(np.diff(fit.counts) >= 0.0)
    assert np.all(np.diff(fit.sizes) <= 0.0)


def test_a_grid_of_boxes_counts_what_a_naive_count_finds():
    X = np.random.default_rng(0).uniform(size=(50, 2))
    fit = dimension.box_counting_dimension(X, method="grid")
    assert fit.counts[-1] == 50.0


def test_a_cover_covers_with_boxes_of_its_size():
    X = np.random.default_rng(0).uniform(size=(60, 7))
    fit = dimension.box_counting_dimension(X, method="cover")
    assert fit.counts[0] == 1.0
    centre = X[np.abs(X - np.median(X, axis=0)).max(axis=1).argmin()]
    assert np.abs(X - centre).max() == pytest.approx(fit.sizes[0] / 2.0)


def test_copies_of_points_change_little_and_a_single_place_has_no_dimension():
    X = sphere(500, 1, 0)
    twice = np.repeat(X, 2, axis=0)
    assert dimension.box_counting_dimension(twice).dimension == pytest.approx(1.0, abs=0.15)
    assert dimension.correlation_dimension(twice).dimension == pytest.approx(1.0, abs=0.1)
    here = np.ones((10, 3))
    assert dimension.box_counting_dimension(here).dimension == 0.0
    assert dimension.correlation_dimension(here).dimension == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dimension.correlation_dimension(np.ones(3)), "X must be a table"),
        (lambda: dimension.correlation_dimension(np.ones((1, 3))), "at least 2 rows"),
        (lambda: dimension.correlation_dimension([[np.inf], [1.0]]), "X must be finite"),
        (lambda: dimension.box_counting_dimension(np.eye(3), method="x"), "method must be one of"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
