"""Tables in memory are read alike by the estimator and by every job."""

import contextlib
import decimal
import functools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ikd_graph
from ikd_graph import IKD

RNG = np.random.default_rng(0)
Z = RNG.uniform(size=(40, 2))
X = np.sin(3.0 * Z @ RNG.normal(size=(2, 24)) + RNG.uniform(0.0, 6.0, 24))
NAMES = [f"r{k}" for k in range(40)]

DOORS = {
    "IKD": lambda table: IKD(refine=None, graph=8, affinity="euclidean").fit(table),
    "compare": lambda table: ikd_graph.compare(table, ("geodesic",), noise=0.0, refine=None),
    "diagnose": lambda table: ikd_graph.diagnose(table),
    "columns": lambda table: ikd_graph.columns(Z, table),
    "dubious": lambda table: ikd_graph.dubious(Z, table),
    "topology": lambda table: ikd_graph.topology(table, voids=False),
    "align": lambda table: ikd_graph.align([table, table], columns="same", refine=None),
}


@functools.cache
def of_array(door):
    """What a door says of the array."""
    return door(X)


@pytest.fixture(params=DOORS)
def door(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield DOORS[request.param]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            pd.DataFrame(X).add_prefix("c").assign(site="north"),
            r"must hold numbers only, got column 'site'",
        ),
        ({"a": X[:, 0]}, r"must be a table of numbers, got a dict .*such as pandas\.DataFrame"),
        (iter(X.tolist()), r"must be a table of numbers, got a list_iterator .*pass its values"),
        (X[:, 0], "Expected 2D array, got 1D array"),
        (X + 1j, "Complex data not supported"),
        (np.where(np.arange(24) == 3, np.inf, X), "contains infinity: got 40 rows"),
        (np.array([["a"] * 24] * 40), "could not convert string to float"),
    ],
    ids=["words", "dict", "iterator", "1d", "complex", "infinite", "text"],
)
def test_what_is_no_table_is_refused_in_the_same_words_everywhere(door, table, words):
    with pytest.raises(ValueError, match=words):
        door(table)


def test_holes_are_named_by_their_rows_everywhere(door, request):
    frame = pd.DataFrame(X.copy(), index=NAMES)
    frame.iloc[7, 3] = np.nan
    if {"align", "dubious"} & {*re.findall(r"\w+", request.node.name)}:
        return door(frame)  # sessions, and what judges a map, may have holes
    with pytest.raises(ValueError, match=r"contains NaN: got 1 row with missing values: r7;"):
        door(frame)
    masked = np.ma.masked_invalid(frame.to_numpy())
    with pytest.raises(ValueError, match=r"contains NaN: got 1 row with missing values: 7;"):
        door(masked)


@pytest.mark.parametrize(
    "same",
    [
        lambda X: pd.DataFrame(X),
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X).astype(object),
        lambda X: pd.DataFrame(X).astype("Float64"),
        lambda X: np.ma.masked_invalid(X),
        sp.csr_array,
        sp.coo_matrix,
    ],
    ids=["frame", "lists", "objects", "nullable", "masked", "csr", "coo"],
)
def test_what_is_the_same_table_gives_the_same_result(door, same, request):
    first, again = of_array(door), door(same(X))
    first, again = (each.rows[0] if hasattr(each, "titles") else each for each in (first, again))
    for name in ("embedding_", "embedding", "r2", "coordinates"):
        if hasattr(first, name):
            one, two = (getattr(each, name) for each in (first, again))
            np.testing.assert_allclose(np.array(one), np.array(two), atol=1e-10)
            return
    raise AssertionError("nothing was compared")


def test_names_of_columns_that_are_numbers_hold_as_others_do():
    frame = pd.DataFrame(X[:, :9], columns=[3 * k + 5 for k in range(9)])
    model = DOORS["IKD"](frame)
    assert model.feature_names_in_.tolist() == [str(3 * k + 5) for k in range(9)]
    np.testing.assert_array_equal(model.transform(frame), model.embedding_)
    np.testing.assert_array_equal(model.transform(frame.iloc[:, ::-1]), model.embedding_)


def test_columns_that_are_numbers_from_0_in_two_orders_are_refused():
    turned = pd.DataFrame(X)[[*range(24)][::-1]]
    with pytest.raises(ValueError, match=r"0 in two orders; rename them .* X\.to_numpy\(\)"):
        DOORS["IKD"](X).transform(turned)


def test_decimals_flags_and_missing_cells_are_numbers_in_every_library():
    decimals = [decimal.Decimal(str(round(value, 3))) for value in X[:, 0]]
    flags = (X[:, 1] > 0.0).tolist()
    frame = pd.DataFrame(X[:, :5]).add_prefix("c").assign(c0=decimals, c1=flags)
    exact = frame.astype(np.float64)
    wanted = DOORS["IKD"](exact).embedding_
    tables = [frame, frame.astype({"c1": object})]
    polars = pytest.importorskip("polars")
    whole = polars.DataFrame({name: column.tolist() for name, column in frame.items()})
    tables += [whole, whole.lazy()]
    with contextlib.suppress(ImportError):
        import pyarrow

        tables.append(pyarrow.table({name: column.tolist() for name, column in frame.items()}))
    for table in tables:
        np.testing.assert_array_equal(DOORS["IKD"](table).embedding_, wanted)
    holed = whole.with_columns(polars.when(polars.int_range(40) > 9).then(polars.col("c1")))
    for table in (holed, holed.to_pandas().astype({"c1": "boolean"})):
        with pytest.raises(ValueError, match=r"contains NaN: got 10 rows with missing values"):
            DOORS["IKD"](table)


def test_tables_of_arrow_have_names_and_types():
    pyarrow = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X).add_prefix("c")
    table = pyarrow.Table.from_pandas(frame)
    model = DOORS["IKD"](table)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    turned = pyarrow.Table.from_pandas(frame.iloc[:, ::-1])
    np.testing.assert_array_equal(model.transform(turned), model.embedding_)
    dates = pyarrow.array([1] * 40, pyarrow.date32())
    for words in (pyarrow.array(["x", "y"] * 20), dates):
        with pytest.raises(ValueError, match=r"must hold numbers only, got column 'site' \("):
            model.transform(table.append_column("site", words))
    with pytest.raises(ValueError, match="unique column names"):
        model.transform(pyarrow.table([table["c0"]] * 2, ["a", "a"]))


@pytest.mark.parametrize("make", ["pandas", "polars", "pyarrow"])
def test_a_frame_without_columns_is_refused_in_words(make):
    library = pytest.importorskip(make)
    empty = library.table({}) if make == "pyarrow" else library.DataFrame()
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        DOORS["IKD"](empty)
