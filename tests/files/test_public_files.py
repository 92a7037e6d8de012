"""Files that people brought to public trackers, made small, and 25 kinds of files as they are."""

import gzip
import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from ikd_graph.cli import main
from ikd_graph.datasets import Reading, read_file

pd = pytest.importorskip("pandas")

FAST = ("--refine", "none", "--strategy", "geodesic", "--affinity", "euclidean", "--graph", "8")


def table(n=40, p=6):
    """Rows that are smooth functions of a plane."""
    r = np.random.default_rng(0)
    X = np.sin(2.0 * r.uniform(0, 1, (n, 2)) @ r.normal(size=(2, p)) + r.uniform(0, 6, p))
    X += 0.05 * r.normal(size=(n, p))
    return pd.DataFrame(X.round(4), columns=[f"c{k}" for k in range(p)])


def three_groups():
    """60 rows in three groups far apart, and their groups."""
    r = np.random.default_rng(0)
    g = np.repeat([0, 1, 2], 20)
    return r.normal(size=(60, 10)) + 8.0 * g[:, None] * (np.arange(10) % 3 == 0), g


@pytest.fixture
def embed(tmp_path, capsys):
    """What `embed --json` says of a file, and its complaints, which are all if it is refused."""

    def run(name, *flags, refused=False):
        words = ["embed", str(tmp_path / name), "--json", "-o", str(tmp_path / "out")]
        assert main([*words, *FAST, *flags]) == 2 * refused
        text = capsys.readouterr()
        return text.err if refused else {**json.loads(text.out), "complaints": text.err}

    return run


# https://github.com/interactivereport/cellxgene_VIP/issues/63
# https://github.com/JonathanShor/DoubletDetection/pull/60
def test_rows_without_a_label_are_no_class_of_their_own(tmp_path, embed):
    X, g = three_groups()
    labels = pd.Series(np.array(["a", "b", "c"])[g])
    labels[np.random.default_rng(1).uniform(size=60) < 0.4] = None
    pd.DataFrame(X.round(4)).add_prefix("c").assign(label=labels).to_csv(
        tmp_path / "t.csv", index=False
    )
    scores = embed("t.csv")["scores"]["label"]
    assert scores["knn"] > 0.95
    assert scores["silhouette"] > 0.8


# https://github.com/scverse/scirpy/issues/190
def test_whole_numbers_with_holes_are_classes_in_every_format(tmp_path, embed):
    X, g = three_groups()
    y = np.where(np.arange(60) % 7 == 0, np.nan, g)
    np.savez(tmp_path / "t.npz", X=X, y=y)
    scipy.io.savemat(tmp_path / "t.mat", {"X": X, "y": y})
    frame = pd.DataFrame(X).add_prefix("c").assign(y=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.npz", "t.mat", "t.csv"):
        said = embed(name)
        assert said["data"]["labels"][0]["classes"] == ["0", "1", "2", "missing"], name
        assert said["scores"]["y"]["knn"] > 0.95, name


# https://github.com/scverse/anndata/issues/467
# https://github.com/single-cell-data/TileDB-SOMA/issues/1762
def test_an_annotated_matrix_without_x(tmp_path, embed):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(obsm={"X_pca": table().to_numpy()}).write_h5ad(tmp_path / "t.h5ad")
    assert "obsm/X_pca (40, 6)" in embed("t.h5ad", refused=True)
    for key in ("obsm/X_pca", "X_pca"):
        assert embed("t.h5ad", "--key", key)["data"]["columns"] == 6


# https://github.com/krishnanlab/PecanPy/issues/47
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_archives_of_scipy_in_every_format(tmp_path, embed, form):
    X = table(40, 12).to_numpy()
    X = np.where(np.abs(X) > 0.3, X, 0)
    sp.save_npz(tmp_path / "t.npz", sp.coo_array(X).asformat(form))
    assert embed("t.npz")["data"]["columns"] == 12
    np.testing.assert_array_equal(read_file(tmp_path / "t.npz").X, X)


# https://github.com/JuliaData/CSV.jl/issues/83
def test_decimal_commas_are_one_line_whose_cure_cures(tmp_path, embed):
    table(40, 60).to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    said = embed("t.csv", refused=True)
    assert "t.csv must hold numbers only, got 2400 other cell(s)" in said
    assert said.count("\n") == 1
    assert "--decimal , reads decimal commas" in said
    assert embed("t.csv", "--decimal", ",")["data"]["columns"] == 60
    read = read_file(tmp_path / "t.csv", reading=Reading(decimal=","))
    np.testing.assert_array_equal(read.X, table(40, 60))


# https://github.com/pandas-dev/pandas/pull/1691, https://github.com/JuliaData/CSV.jl/issues/79
# https://github.com/gvwilson/tidyblocks/issues/119, https://github.com/Swirrl/csv2rdf/issues/26
@pytest.mark.parametrize("form", [str, lambda cell: str(cell).upper(), lambda c: str(c).lower()])
def test_true_and_false_are_numbers(tmp_path, form):
    frame = table(40, 12) > 0
    frame.map(form).to_csv(tmp_path / "t.csv", index=False)
    np.testing.assert_array_equal(read_file(tmp_path / "t.csv").X, frame)


# https://github.com/Swirrl/csv2rdf/issues/26
def test_words_of_pandas_and_own_ones_for_missing_values(tmp_path, embed):
    frame = table(40, 12)
    holes = frame.mask(np.random.default_rng(0).uniform(size=frame.shape) < 0.02)
    holes.to_csv(tmp_path / "t.csv", index=False, na_rep="<NA>")
    assert embed("t.csv", "--impute", "median")["data"]["columns"] == 12
    holes.to_csv(tmp_path / "u.csv", index=False, na_rep="-999")
    data = read_file(tmp_path / "u.csv", reading=Reading(na=("-999",), keep_missing=True))
    np.testing.assert_array_equal(data.X, holes)


# https://github.com/kevinblighe/PCAtools/issues/3, https://github.com/fishfollower/SAM/issues/68
def test_a_class_name_of_400_letters(tmp_path, embed):
    frame = table().assign(label=np.where(np.arange(40) % 2, "x" * 400, "y"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert "constrained_layout" not in embed("t.csv")["complaints"]


# https://github.com/scverse/squidpy/issues/1089, https://github.com/dmcable/spacexr/issues/9
def test_a_first_line_of_numbers_is_not_lost(tmp_path, embed):
    table().to_csv(tmp_path / "a.csv", index=False, header=False)
    assert embed("a.csv")["data"]["rows"] == 40
    years = table().set_axis([str(2000 + k) for k in range(6)], axis=1)
    years.to_csv(tmp_path / "b.csv", index=False)
    said = embed("b.csv", "--header", "none")
    assert said["data"]["rows"] == 41
    said = embed("b.csv")
    assert said["data"]["rows"] == 40
    assert "header: line 1 (2000, 2001, 2002, ...)" in said["data"]["notes"][0]


def test_label_rows_are_named_with_a_cure(tmp_path, embed):
    turned = table().T.set_axis([f"cell{k}" for k in range(40)], axis=1)
    labels = pd.DataFrame([[f"k{k % 3}" for k in range(40)]], ["kind"], turned.columns)
    pd.concat([labels, turned]).to_csv(tmp_path / "t.csv")
    assert "--transpose exchanges rows and columns" in (said := embed("t.csv", refused=True))
    assert said.count("\n") == 1
    assert embed("t.csv", "--transpose")["data"]["labels"][0]["classes"] == ["k0", "k1", "k2"]


PLAIN = table()
NAMED = PLAIN.set_axis([f"cell{k}" for k in range(40)])
TEXT = PLAIN.to_csv(index=False)
KINDS = {
    "comma separated": ("t.csv", lambda p: PLAIN.to_csv(p, index=False)),
    "no header": ("t.csv", lambda p: PLAIN.to_csv(p, index=False, header=False)),
    "semicolons": ("t.csv", lambda p: PLAIN.to_csv(p, index=False, sep=";")),
    "bars": ("t.txt", lambda p: PLAIN.to_csv(p, index=False, sep="|")),
    "tabs": ("t.tsv", lambda p: PLAIN.to_csv(p, index=False, sep="\t")),
    "blanks": ("t.txt", lambda p: p.write_text(PLAIN.to_string(index=False))),
    "numpy.savetxt": ("t.txt", lambda p: np.savetxt(p, PLAIN, header=" ".join(PLAIN))),
    "R write.table": (
        "t.txt",
        lambda p: p.write_text(NAMED.to_csv(sep=" ", quoting=2).replace('"" ', "", 1)),
    ),
    "index of pandas": ("t.csv", lambda p: PLAIN.to_csv(p)),
    "row names": ("t.csv", lambda p: NAMED.to_csv(p)),
    "byte order mark": ("t.csv", lambda p: PLAIN.to_csv(p, index=False, encoding="utf-8-sig")),
    "UTF-16 of Excel": (
        "t.txt",
        lambda p: PLAIN.to_csv(p, index=False, encoding="utf-16", sep="\t"),
    ),
    "lines of Windows": ("t.csv", lambda p: PLAIN.to_csv(p, index=False, lineterminator="\r\n")),
    "everything quoted": ("t.csv", lambda p: PLAIN.to_csv(p, index=False, quoting=1)),
    "commas at the ends": ("t.csv", lambda p: p.write_text(TEXT.replace("\n", ",\n"))),
    "commas after rows": (
        "t.csv",
        lambda p: p.write_text(TEXT.replace("\n", ",\n").replace(",\n", "\n", 1)),
    ),
    "comments": ("t.csv", lambda p: p.write_text("# rig 3\n# units: mV\n" + TEXT)),
    "gzip": ("t.csv.gz", lambda p: p.write_bytes(gzip.compress(PLAIN.to_csv().encode()))),
    "npy": ("t.npy", lambda p: np.save(p, PLAIN)),
    "npz": ("t.npz", lambda p: np.savez(p, table=PLAIN, when=np.arange(40.0) / 7)),
    "sparse npz": ("t.npz", lambda p: sp.save_npz(p, sp.csr_array(PLAIN.to_numpy()))),
    "old MATLAB": ("t.mat", lambda p: scipy.io.savemat(p, {"s": {"X": PLAIN.to_numpy()}})),
    "sparse MATLAB": (
        "t.mat",
        lambda p: scipy.io.savemat(p, {"X": sp.csc_array(PLAIN.to_numpy())}),
    ),
    "MATLAB 7.3": ("t.mat", lambda p: matlab_73(p)),
    "Excel": ("t.xlsx", lambda p: PLAIN.to_excel(p, index=False)),
    "parquet": ("t.parquet", lambda p: NAMED.to_parquet(p)),
    "AnnData": ("t.h5ad", lambda p: annotated(p)),
}


NEEDS = {"Excel": "openpyxl", "parquet": "pyarrow", "MATLAB 7.3": "h5py", "AnnData": "anndata"}


def matlab_73(path):
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        # MATLAB counts columns first: what it shows as (40, 6) is stored as (6, 40).
        file["X"] = PLAIN.to_numpy().T
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")


def annotated(path):
    import anndata

    anndata.AnnData(NAMED).write_h5ad(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_same_table(tmp_path, kind):
    name, write = KINDS[kind]
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    write(tmp_path / name)
    data = read_file(tmp_path / name)
    np.testing.assert_allclose(data.X, PLAIN, rtol=1e-12)
    if kind in ("R write.table", "row names", "parquet", "AnnData"):
        assert data.row_names == tuple(NAMED.index)
    if kind != "no header" and name[:5] not in ("t.mat", "t.npy", "t.npz"):
        assert data.feature_names == tuple(PLAIN)
