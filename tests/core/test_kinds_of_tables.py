"""Kinds of files and objects: rows, names and labels that come out, and the embedding."""

import gzip
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from tables import sq_distances

from ikd_graph import IKD
from ikd_graph.datasets import Reading, read_file

pd = pytest.importorskip("pandas")

R = np.random.default_rng(0)
X = np.sin(2.0 * R.uniform(size=(24, 2)) @ R.normal(size=(2, 6)) + R.uniform(0, 6, 6)).round(4)
PLACES = tuple(f"place {k}" for k in range(24))
COLUMNS = tuple("abcdef")
YEARS = tuple(str(year) for year in range(2000, 2006))
GROUPS = ("x", "y", "z") * 8
FRAME = pd.DataFrame(X, index=PLACES, columns=COLUMNS)
CSV = FRAME.rename_axis("name").to_csv()
CHEAP: dict[str, Any] = {
    "strategy": "geodesic", "graph": 8, "refine": None, "affinity": "euclidean",
}  # fmt: skip
HOLES = FRAME.mask(FRAME.loc["place 3", "c"] == FRAME)


class File(NamedTuple):
    """A kind of file, and what is read from it."""

    name: str
    write: Any
    reading: Mapping[str, Any] = MappingProxyType({})
    rows: tuple[str, ...] = PLACES
    columns: tuple[str, ...] = COLUMNS
    labels: tuple[str, ...] = ()
    X: Any = X
    needs: str = ""


def second_sheet(path):
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"notes": ["read me first"]}).to_excel(book, sheet_name="notes", index=False)
        FRAME.to_excel(book, sheet_name="data")


def annotated(path):
    import anndata

    data = anndata.AnnData(FRAME)
    data.obs["group"] = pd.Categorical(GROUPS)
    data.write_h5ad(path)


FILES = {
    "a title above the names": File(
        "t.csv", lambda p: p.write_text("Table 3. Growth\n\n" + CSV), {"header": 3}
    ),
    "tabs, true and false": File(
        "t.tsv", lambda p: (FRAME > 0).to_csv(p, sep="\t"), X=(X > 0).astype(float)
    ),
    "UTF-16 with its mark": File("t.csv", lambda p: p.write_bytes(CSV.encode("utf-16"))),
    "years as names": File(
        "t.csv", lambda p: FRAME.set_axis(YEARS, axis=1).to_csv(p, index_label="state"),
        columns=YEARS,
    ),
    "semicolons and decimal commas": File(
        "t.csv", lambda p: FRAME.to_csv(p, sep=";", decimal=","), {"decimal": ","}
    ),
    "a clock, channels in columns": File(
        "t.csv",
        lambda p: FRAME.T.assign(time=np.arange(6) * 0.5).to_csv(p, index=False),
        {"transpose": True, "drop": ("time",)}, columns=(),
    ),
    "a missing cell": File(
        "t.csv", lambda p: HOLES.to_csv(p), {"impute": "mean"},
        X=HOLES.fillna(HOLES.mean()).to_numpy(),
    ),
    "packed, with a group": File(
        "t.csv.gz",
        lambda p: p.write_bytes(gzip.compress(FRAME.assign(group=GROUPS).to_csv().encode())),
        reading={"labels": ("group",)}, labels=("x", "y", "z"),
    ),
    # Typesetters and word processors write the sign of mathematics.
    "minus signs of typeset tables": File(
        "t.csv", lambda p: p.write_text(CSV.replace("-", "\u2212"), encoding="utf-8")
    ),
    "a table at C3": File(
        "t.xlsx", lambda p: FRAME.to_excel(p, startrow=2, startcol=2), needs="openpyxl"
    ),
    "a first sheet of notes": File(
        "t.xlsx", second_sheet, {"sheet": "data"}, needs="openpyxl"
    ),
    "parquet with classes": File(
        "t.parquet", lambda p: FRAME.assign(group=pd.Categorical(GROUPS)).to_parquet(p),
        reading={"labels": ("group",)}, labels=("x", "y", "z"), needs="pyarrow",
    ),
    "AnnData": File(
        "t.h5ad", annotated, reading={"labels": ("group",)}, labels=("x", "y", "z"), needs="anndata"
    ),
    "npz with names of rows": File(
        "t.npz",
        lambda p: np.savez(p, X=X, y=np.array(GROUPS), row_names=PLACES, feature_names=COLUMNS),
        labels=("x", "y", "z"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_a_file_gives_its_rows_names_labels_and_embedding(tmp_path, kind):
    what = FILES[kind]
    if what.needs:
        pytest.importorskip(what.needs)
    what.write(tmp_path / what.name)
    data = read_file(tmp_path / what.name, reading=Reading(**what.reading))
    np.testing.assert_allclose(data.X, what.X, rtol=1e-6)
    assert data.row_names == what.rows
    assert data.feature_names == what.columns
    assert data.label_names == what.labels
    if what.labels:
        assert tuple(data.label_names[k] for k in data.y) == GROUPS
    Z = IKD(**CHEAP).fit_transform(data.X)
    assert Z.shape == (24, 2)
    assert np.isfinite(Z).all()


def from_library(library, make):
    """What makes an object of a library that may be missing."""
    return lambda: make(pytest.importorskip(library))


PAIRS = np.exp(-0.5 * sq_distances(X))
OBJECTS: dict[str, Any] = {
    "data frame": lambda: FRAME,
    "nullable numbers": lambda: FRAME.astype("Float64"),
    "several levels of names": lambda: FRAME.set_axis(
        pd.MultiIndex.from_product([["u", "v"], [1, 2, 3]]), axis=1
    ),
    "polars": from_library("polars", lambda polars: polars.DataFrame(X, schema=[*COLUMNS])),
    "sparse, a dictionary of keys": lambda: sp.dok_array(X),
}


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_an_object_is_embedded_as_its_numbers_are(kind):
    table = OBJECTS[kind]()
    model = IKD(**CHEAP).fit(table)
    np.testing.assert_allclose(model.embedding_, IKD(**CHEAP).fit(X).embedding_, atol=1e-9)
    np.testing.assert_allclose(np.asarray(model.transform(table)), model.embedding_, atol=1e-9)
    if kind == "data frame":
        assert model.set_output(transform="pandas").transform(FRAME).index.tolist() == [*PLACES]


REFUSED: dict[str, Any] = {
    "columns by name": lambda: {c: X[:, k].tolist() for k, c in enumerate(COLUMNS)},
    "generator": lambda: (row for row in X),
    "numbers as text": lambda: FRAME.astype(str),
    "a list of points": lambda: pdist(X),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_table_is_refused(kind):
    with pytest.raises(ValueError, match=r"X must (be a table of|hold) numbers|Expected 2D array"):
        IKD(**CHEAP).fit(REFUSED[kind]())


def test_names_of_several_kinds_are_names():
    mixed = IKD(**CHEAP).fit(FRAME.set_axis([1, "b", 2, "c", 3, "d"], axis=1))
    assert mixed.feature_names_in_.tolist() == ["1", "b", "2", "c", "3", "d"]


@pytest.mark.parametrize("kind", ["graph", "correlations"])
def test_pairs_of_points_are_embedded(kind):
    graph = nx.from_numpy_array(PAIRS - np.eye(24))
    given = graph if kind == "graph" else pd.DataFrame(PAIRS, PLACES, PLACES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        Z = IKD(strategy="eigen", refine=None, affinity="precomputed").fit_transform(given)
    assert Z.shape == (24, 2)
    assert np.isfinite(Z).all()
