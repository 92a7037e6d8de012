"""Objects that are no arrays are told apart at once, with what to pass instead."""

import contextlib
import warnings

import networkx
import numpy as np
import pytest

from ikd_graph import IKD

ROWS = np.sin(np.linspace(0, 1, 40)[:, None] * np.arange(2, 8) + np.arange(6))


def plain():
    return IKD(strategy="geodesic", graph=7, refine=None, affinity="correlation")


def made(library, name, **attributes):
    """An object that looks as if it came from a library."""
    return type(name, (), {"__module__": library, **attributes})()


def test_columns_of_a_frame_that_are_no_numbers_are_named_with_the_cure():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=list("abcdef"))
    assert plain().fit(frame).feature_names_in_.tolist() == list("abcdef")
    frame["when"] = pandas.date_range("2020-01-01", periods=40)
    frame["site"] = ["north", "south"] * 20
    frame["kind"] = pandas.Categorical(["x", "y"] * 20)
    with pytest.raises(ValueError, match=r"'when' \(datetime64.*'site' .*'kind' \(category\)") as e:
        plain().fit(frame)
    assert "drop them, or convert them to numbers" in str(e.value)
    model = plain().fit(frame[list("abcdef")])
    with pytest.raises(ValueError, match="got columns 'when'"):
        model.transform(frame)


def test_an_annotated_matrix_is_told_apart_at_once():
    class Slow:
        def __iter__(self):
            raise AssertionError("a table must not be read cell by cell")

    data = made(
        "anndata._core", "AnnData", obs=Slow(), var=Slow(), X=Slow(), shape=(700, 765),
        obsm={"X_pca": ROWS}, layers={"counts": ROWS}, __iter__=Slow.__iter__,
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"AnnData of anndata; pass adata\.X or adata\.obsm"):
        plain().fit(data)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (made("xarray.core", "Dataset", data_vars={"rates": 1}), "got a Dataset of xarray; pass"),
        (made("pynapple.core", "TsGroup", rates=1, count=1), "pass its values as an array"),
    ],
)
def test_what_is_no_table_says_how_to_make_one(thing, message):
    with pytest.raises(ValueError, match=message):
        plain().fit(thing)


def test_polars_frames_are_tables_too():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS, schema=list("abcdef"))
    np.testing.assert_array_equal(plain().fit_transform(frame), plain().fit_transform(ROWS))
    with pytest.raises(ValueError, match=r"column 'site' .*; drop them"):
        plain().fit(frame.with_columns(polars.lit("x").alias("site")))


SIMPLE = {"strategy": "geodesic", "graph": 8, "refine": None, "affinity": "euclidean"}


def _labeled_tables(X):
    """A table of every kind that has labels of columns, and the same in another order."""
    names = [f"u{k}" for k in range(X.shape[1])]
    numbers = [3 * k + 5 for k in range(X.shape[1])]
    pandas = pytest.importorskip("pandas")
    for labels in (names, numbers):
        frame = pandas.DataFrame(X, columns=labels)
        yield "pandas", frame, frame.iloc[:, ::-1]
    with contextlib.suppress(ImportError):
        import polars

        frame = polars.DataFrame(X, schema=names)
        yield "polars", frame, frame[:, ::-1]


def test_labels_of_columns_hold_for_every_kind_of_table_that_has_them():
    X = np.random.default_rng(0).normal(size=(40, 2)) @ np.random.default_rng(1).normal(size=(2, 9))
    for kind, table, turned in _labeled_tables(X):
        model = IKD(**SIMPLE).fit(table)
        np.testing.assert_array_equal(np.asarray(model.transform(table)), model.embedding_)
        np.testing.assert_array_equal(np.asarray(model.transform(turned)), model.embedding_)
        # A table without labels says nothing against them.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            np.testing.assert_array_equal(model.transform(X), model.embedding_, err_msg=kind)
            assert IKD(**SIMPLE).fit(X).transform(table).shape == (40, 2)


@pytest.mark.parametrize("pairs", [False, True])
def test_training_rows_that_repeat_get_their_stored_coordinates(pairs):
    X = np.random.default_rng(0).normal(size=(40, 12))
    X[30:] = X[:10]
    ring = networkx.cycle_graph(40)
    settings = {**SIMPLE, "graph": 0.9 * networkx.to_scipy_sparse_array(ring)}
    if pairs:
        C = np.corrcoef(X)
        X, settings = (C + C.T) / 2, {**SIMPLE, "affinity": "precomputed"}
    model = IKD(**settings)
    with warnings.catch_warnings():
        # Rows that repeat are as near as one another.
        warnings.simplefilter("ignore", UserWarning)
        Z = model.fit_transform(X)
    np.testing.assert_array_equal(model.transform(X), Z)
    np.testing.assert_array_equal(model.transform(X[20:30]), Z[20:30])


def test_infinite_values_are_named_by_their_rows():
    for value in (np.inf, -np.inf):
        X = ROWS.copy()
        X[37, 2] = value
        with pytest.raises(ValueError, match=r"infinity: got 1 row with infinite values: 37;"):
            plain().fit(X)


def test_a_misspelt_word_is_understood_in_hints_and_verbose_may_be_true():
    for given, said in (
        ({"kernel": "squared_exponental"}, "squared_exponential"),
        ({"affinity": "corelation"}, "'correlation'"),
        ({"strategy": "geodesik"}, "'geodesic'"),
    ):
        with pytest.raises(ValueError, match=f"did you mean .*{said}"):
            IKD(**given).fit(ROWS)
    for verbose in (True, False, 1):
        assert plain().set_params(verbose=verbose).fit(ROWS).embedding_.shape == (40, 2)
