"""Files as users have them: messy tables, archives, MATLAB; what is wrong is named with a flag."""

import gzip
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from ikd_graph import datasets
from ikd_graph.datasets import Reading, TableError

N_ROWS, N_UNITS = 30, 6
RNG = np.random.default_rng(0)
COUNTS, POSITION = RNG.poisson(3.0, size=(N_ROWS, N_UNITS)), np.linspace(0.0, 50.0, N_ROWS)
NUMBERS = [[1.0, 2.0], [3.0, 4.0], [5.5, 6.0]]
TABLES = {
    "1,2\n3,4\n5.5,6\n": ((), None),
    "a,b\n1,2\n3,4\n5.5,6\n": (("a", "b"), None),
    ",0,1\n0,1,2\n1,3,4\n2,5.5,6\n": (("0", "1"), None),
    "cell type x\n1 2 a\n3 4 b\n5.5 6 a\n": (("cell", "type"), ("a", "b")),
    "x|z\n1|2\n3|4\n5.5|6\n": (("x", "z"), None),
    "# rig 3\nx,z\n1,2\n3,4\n5.5,6\n": (("x", "z"), None),
    ",a,b\n0,1,2\n1,3,4\n2,5.5,6\n": (("a", "b"), None),
    "cell7,1,2\ncell8,3,4\ncell9,5.5,6\n": ((), None),
    "a;b\n1;2\n3;4\n5.5;6\n": (("a", "b"), None),
    "a,b,Label\n1,2,7\n3,4,8\n5.5,6,7\n": (("a", "b"), ("7", "8")),
    "y,a,b\n1,1,2\n0,3,4\n1,5.5,6\n": (("a", "b"), ("0", "1")),
    "1,2,x\n3,4,y\n5.5,6,x\n": ((), ("x", "y")),
    'a,b,label\n1,2,"16"\n3,4,"32 TE"\n5.5,6,"2 a"\n': (("a", "b"), ("2 a", "16", "32 TE")),
    "\n1,2\n\n3,4\n5.5,6\n\n": ((), None),
    "\ufeffa,b\n1,2\n3,4\n5.5,6\n": (("a", "b"), None),
}

NAMED = [
    # Name and text of a file, names of columns and of rows; the numbers are always the same.
    ("t.txt", "# a b\n1 2\n3 4\n5.5 6\n", ("a", "b"), ()),
    ("t.csv", "# rig 3\n#a,b\n1,2\n3,4\n5.5,6\n", ("a", "b"), ()),
    ("t.tsv", "# Constructed from biom\n#OTU ID\t18\t15\n7\t1\t2\n9\t3\t4\n4\t5.5\t6\n",
     ("18", "15"), ("7", "9", "4")),
    ("t.tsv", "#SampleID\tP\tpH\n#a mapping file\n7\t1\t2\n9\t3\t4\n4\t5.5\t6\n",
     ("P", "pH"), ("7", "9", "4")),
    ("t.csv", "# a word, another\nx,z\n1,2\n3,4\n5.5,6\n", ("x", "z"), ()),
    ("t.csv", ",18,15\n7,1,2\n9,3,4\n4,5.5,6\n", ("18", "15"), ("7", "9", "4")),
    ("t.csv", ";9.99;0.04\n007;1;2\n009;3;4\n004;5.5;6\n", ("9.99", "0.04"), ("007", "009", "004")),
    ("t.csv", "0,18,15\nu,1,2\nv,3,4\nw,5.5,6\n", ("18", "15"), ("u", "v", "w")),
    ("t.txt", "18 15\n7 1 2\n9 3 4\n4 5.5 6\n", ("18", "15"), ("7", "9", "4")),
    ("t.csv", "sample_id,18,15\n7,1,2\n9,3,4\n4,5.5,6\n", ("18", "15"), ("7", "9", "4")),
    ("t.csv", "SampleID,18,15\nu,1,2\nv,3,4\nw,5.5,6\n", ("18", "15"), ("u", "v", "w")),
    ("t.csv", "YEAR,a,b\n1950,1,2\n1951,3,4\n1952,5.5,6\n", ("a", "b"), ("1950", "1951", "1952")),
    ("t.txt", "     3\nu  1.0 2.0\nv  3 4\nw  5.5 6\n", (), ("u", "v", "w")),
    ("t.txt", "3 2\nu 1 2\nv 3 4\nw 5.5 6\n", (), ("u", "v", "w")),
    # These are rows.
    ("t.csv", "# rig 3\n1,2\n3,4\n5.5,6\n", (), ()),
    ("t.csv", "NA,1,2\nNG,3,4\nUS,5.5,6\n", (), ("NA", "NG", "US")),
    ("t.csv", "acid,b\n1,2\n3,4\n5.5,6\n", ("acid", "b"), ()),
]  # fmt: skip


@pytest.fixture
def write(tmp_path):
    """Write a file: text, bytes, arrays of an archive, or what a function writes to its path."""

    def write(name, content):
        path = tmp_path / name
        if callable(content):
            content(path)
        elif isinstance(content, dict) and path.suffix == ".npz":
            np.savez(path, **content)
        elif isinstance(content, dict):
            scipy.io.savemat(path, content)
        elif isinstance(content, np.ndarray):
            np.save(path, content)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize("text", TABLES)
def test_a_table_is_read_with_or_without_header_index_and_labels(write, text):
    features, classes = TABLES[text]
    data = datasets.load(write("t.csv", text))
    np.testing.assert_array_equal(data.X, NUMBERS)
    assert (data.name, data.feature_names) == ("t", features)
    assert data.label_names == (classes or ())
    assert (data.y is None) == (classes is None)


@pytest.mark.parametrize("case", NAMED, ids=lambda case: case[1][:30])
def test_what_stands_behind_a_hash_or_above_names_of_rows_is_a_header(write, case):
    name, text, columns, rows = case
    data = datasets.load(write(name, text))
    np.testing.assert_array_equal(data.X, NUMBERS)
    assert (data.feature_names, data.row_names) == (columns, rows)
    packed = datasets.load(write(f"{name}.gz", gzip.compress(text.encode())))
    assert (packed.feature_names, packed.row_names) == (columns, rows)


def test_a_line_behind_a_hash_is_a_header_as_asked(write):
    path = write("t.csv", "# a,b\n1,2\n3,4\n5.5,6\n")
    assert datasets.load(path, reading=Reading(header="none")).feature_names == ()
    assert datasets.load(path, reading=Reading(header=1)).feature_names == ("a", "b")


@pytest.mark.parametrize("corner", ["", "0"])
@pytest.mark.parametrize("sep", [",", "\t", ";"])
def test_numbers_name_rows_and_columns_of_distances(write, sep, corner):
    points = np.random.default_rng(0).normal(size=(6, 2))
    D = np.linalg.norm(points[:, None] - points, axis=2).round(3)
    names = [18, 15, 24, 7, 9, 3]
    frame = pd.DataFrame(D, names, names)
    data = datasets.load(write("t.csv", corner + frame.to_csv(sep=sep)))
    np.testing.assert_array_equal(data.X, D)
    assert data.row_names == data.feature_names == tuple(map(str, names))
    # Without names the first row is one of distances, whole numbers or not.
    for each in (frame, (10 * frame).round()):
        text = each.to_csv(sep=sep, header=False, index=False)
        assert datasets.load(write("t.csv", text)).X.shape == (6, 6)


def test_a_clock_among_the_columns_is_told(write):
    X = np.random.default_rng(0).normal(size=(12, 3)).round(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(week=np.arange(40, 52))
    note = "week rises or falls evenly, as clocks do, and counts as a measurement; drop=('week',)"
    assert note in datasets.load(write("t.csv", frame.to_csv(index=False))).notes[1]
    assert len(datasets.load(write("t.csv", frame.drop(columns="week").to_csv())).notes) == 1


def test_a_year_that_is_asked_for_is_a_column(write):
    path = write("t.csv", "YEAR,a,b\n1950,1,2\n1951,3,4\n1952,5.5,6\n")
    data = datasets.load(path, reading=Reading(columns=("YEAR", "b")))
    assert data.X.tolist() == [[1950, 2], [1951, 4], [1952, 6]]
    assert datasets.load(write("u.csv", "time,a\n0,1\n0,2\n1,3\n")).n_features == 2


def test_no_advice_drops_every_column(write):
    path = write("t.csv", "a,b\n1,\nx,2\n")
    with pytest.raises(TableError) as refusal:
        datasets.load(path)
    first, second = refusal.value.problems
    assert first.endswith("drop=('a',) reads the rest")
    assert "reads the rest" not in second


EDGES = [
    # Name and text of a file, points, and each edge with its weight.
    ("t.csv", "source,target,weight\n0,1,.5\n1,2,.25\n", "012", "01 0.5 12 0.25"),
    ("t.tsv", "source\ttarget\tweight\tstability\n0\t1\t.5\t1\n1\t2\t.25\t1\n", "012",
     "01 0.5 12 0.25"),
    ("t.txt", "a b .5\nb c -.25\n", "abc", "ab 0.5 bc -0.25"),
    ("t.csv", "x;y;r\na;b;.5\nb;c;.25\nb;a;.5\n", "abc", "ab 0.5 bc 0.25"),
]  # fmt: skip
ASKED = [
    ("t.txt", "0 1\n1 2\n", "012", "01 1.0 12 1.0"),
    ("t.csv", "a,b\nb,c\n", "abc", "ab 1.0 bc 1.0"),
    ("t.csv", "one,other\na,b\nb,c\n", "abc", "ab 1.0 bc 1.0"),
    ("t.csv", ",from,to,r\n1,a,b,.5\n2,a,c,.25\n", "abc", "ab 0.5 ac 0.25"),
    ("t.csv", "source,target,weight\na,b,.5\nc,c,1\n", "abc", "ab 0.5 cc 1.0"),
]


@pytest.mark.parametrize("case", [*EDGES, *ASKED], ids=lambda case: case[1][:30])
def test_edges_are_weights_of_pairs(write, case):
    name, text, points, edges = case
    path = write(name, text)
    for asked in [True, None][: 1 + (case in EDGES)]:
        data = datasets.load(path, reading=Reading(edges=asked))
        assert "".join(data.row_names) == points
        low, high = data.X.nonzero()
        found = [f"{points[a]}{points[b]} {data.X[a, b]}" for a, b in zip(low, high, strict=True)]
        assert " ".join(found) == edges


@pytest.mark.parametrize("case", EDGES, ids=lambda case: case[1][:30])
def test_edges_are_no_rows(write, case):
    with pytest.raises(
        ValueError, match=r"got a list of edges; edges=True \(of cliques\) takes it"
    ):
        datasets.load(write(*case[:2]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,5\nb,c,.5\n", "a weight from -1 to 1 .* got a, b, 5.0 in row 1"),
        ("a,b,.5\nb,a,.7\n", "the same for a pair, got b, a, 0.7 in row 2"),
        ("a,b,.5\nb,,.7\n", "two names .* in row 2"),
        ("a,b,.5,.1\nb,c,.7,.2\n", "a weight .* got a, b, 0.5, 0.1 in row 1; columns names"),
    ],
)
def test_edges_without_one_correlation_are_refused(write, text, words):
    with pytest.raises(ValueError, match=words):
        datasets.load(write("t.csv", text), reading=Reading(edges=True))


@pytest.mark.parametrize(
    "text",
    [
        "smoker,drinker,bmi\nyes,no,20\nno,no,21\nyes,yes,22\nno,yes,25\nno,no,26\n",
        "symbol,date,price\nA,Jan 1,3\nA,Feb 1,4\nB,Jan 1,5\n",
    ],
)
def test_a_table_of_words_is_no_list_of_edges(write, text):
    with pytest.raises(TableError, match=r"numbers only, got .*edges=True"):
        datasets.load(write("t.csv", text), reading=Reading(edges=None))


def sparse_annotated(shape=(2, 2), **members):
    """A function that writes a sparse .h5ad."""

    def write(path):
        h5py = pytest.importorskip("h5py")
        pytest.importorskip("anndata")
        arrays = {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2]} | members
        with h5py.File(path, "w") as file:
            group = file.create_group("X")
            group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0"})
            group.attrs["shape"] = shape
            for name, values in arrays.items():
                group[name] = np.array(values)
            for name in ("obs", "var"):
                frame = file.create_group(name)
                frame.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0"})
                frame.attrs.update({"_index": "_index", "column-order": np.zeros(0)})
                frame["_index"] = np.array([b"a", b"b"])

    return write


CLEAN = "a,b\n1,2\n3,4\n"
COUNTED = {"spikes": COUNTS.T, "position": POSITION}
REFUSED = [
    # File, what it holds, how it is read, words of the message.
    ("t.csv", "", {}, "at least one row of numbers, got blank lines only"),
    ("t.csv", "\n \n", {}, "at least one row of numbers, got blank lines only"),
    ("t.csv", "a,b\n", {}, "at least one row of numbers, got a header only"),
    ("t.csv", "a,b\n1,2\n3\n", {}, "got 1 missing cell.* row 3, column 'b'"),
    ("t.csv", "a,b\n1,2\n3,4,5\n", {}, "Expected 2 fields in line 3, saw 3.*header, sep"),
    ("t.csv", "a,b\n1,2\n3,4\n5,oops\n", {}, "'oops' in row 4.*; correct the file, or .*; drop="),
    ("t.csv", "a,b\n1,2\n3,4\n5,\n", {}, "got 1 missing cell.* row 4, column 'b'.*impute='median'"),
    ("t.csv", "a,b\n1,2\n3,nan\n5,6\n", {}, "finite numbers .* row 3, column 'b'"),
    ("t.csv", "a,u,v\n1,x,p\n2,x,q\n3,y,q\n", {}, "6 other .*'x' in row 2, column 'u'"),
    ("t.csv", "label\nx\ny\nx\n", {}, "must have a column of numbers"),
    ("t.doc", "1,2\n", {}, "a file that ends in .csv, .tsv, .txt, .npy, .npz, .mat, .h5ad"),
    ("t.npy", "1,2\n", {}, "t.npy cannot be read as .npy"),
    ("t.npz", "1,2\n", {}, "t.npz cannot be read as .npz"),
    # No row is lost.
    ("t.csv", "1,NA,3\n4,5,6\n7,8,9\n", {}, "got 1 missing cell.* row 1, column '1'"),
    ("t.csv", "1,2,5%\n4,5,6\n7,8,9\n", {}, "'5%' in row 1, column '2'"),
    ("t.csv", "1,,3\n4,5,6\n7,8,9\n", {}, "got 1 missing cell.* row 1, column '1'"),
    ("t.csv", ",2.5,3\n4,5,6\n7.5,8,9\n", {}, "got 1 missing cell.* row 1, column '0'"),
    ("t.csv", '1,2,"\n4,5,6\n7,8,9\n', {}, "EOF inside string"),
    ("t.csv", "1,2.5,3\n,,\n7,8,9\n", {}, "got 3 missing cell.* row 2, column '0'"),
    ("t.csv", "1,2," + "9" * 140_000 + "\n", {}, "field larger than"),
    # What was asked for is not there.
    ("t.csv", CLEAN, {"labels": ("c",)}, "labels asks for 'c', which t.csv lacks; it has a, b"),
    ("t.csv", CLEAN, {"labels": (5,)}, "labels asks for 5, which t.csv lacks; it has a, b"),
    ("u.csv", "1,2\n3,4\n", {"labels": (5,)}, "asks for 5, .* it has columns 0 to 1 .no header."),
    ("t.csv", "ab,ac\n1,2\n4,5\n", {"drop": ("z?",)}, "drop asks for 'z.', which t.csv lacks"),
    ("t.csv", CLEAN, {"key": "X"}, "key must not be given for t.csv"),
    ("t.csv", "a,b\n1,-2\n3,4\n", {"transform": "sqrt"}, r"sqrt. must be defined .* -2"),
    ("t.csv", "a,b\n1,-1\n3,4\n", {"transform": "log1p"}, r"log1p. must be defined .* -1"),
    ("t.npz", {"X": np.eye(3)}, {"labels": ("c",)}, "for 'c', .* 0 to 2 .no header."),
    ("t.npy", np.eye(3), {"labels": ("c",)}, "for 'c', .* 0 to 2 .no header."),
    ("t.npz", {"X": np.eye(3)}, {"sep": ";"}, "sep must not be given for t.npz"),
    ("t.csv", CLEAN, {"sheet": "x"}, "sheet must not be given for t.csv"),
    ("t.csv", CLEAN, {"header": 3}, "header must be the number of a line of t.csv with a table"),
    ("t.csv", "g,c1,c2\na,1,\nb,2,3\nc,3,4\n", {"transpose": True}, "in row 'c2', column 'a'"),
    ("t.csv", "Growth\n\na,b,c\n1,2,3\n", {}, "'a' in row 3.*names .now line 1 .Growth"),
    ("t.csv", "a,b\nmV,s\n1,2\n3,4\n5,6\n", {}, "'mV' in row 2.*, header names the line"),
    ("t.csv", "a;b\n0,5;1,5\n2,5;3,5\n", {}, "'0,5' in row 2.*, decimal=',' reads"),
    ("t.csv", 'a,b\n"1,500.5",2\n"2,500.5",3\n', {}, "the first '1,500.5' in row 2"),
    ("t.csv", "gr\xf6\xdfe,b\n1,2\n".encode("latin-1"), {}, "must be text in UTF-8, got"),
    ("t.npz", {"a": np.eye(2), "b": np.eye(2)}, {}, r"got a \(2, 2\), b \(2, 2\) .*; key names"),
    ("t.npz", {"X": np.ones((2, 2, 2))}, {}, "X in t.npz must be a 2-D table"),
    ("t.npz", {"X": np.array([["a"]])}, {}, "X in t.npz must be a 2-D table of numbers"),
    ("t.npz", {"X": np.array([[1, np.inf], [1, 2]])}, {}, "1 infinite cell.* row 0, column '1'"),
    ("t.mat", COUNTED, {"key": "spike"}, "key must name a table of t.mat: .*'spikes'"),
    # What points outside itself is seen.
    ("t.h5ad", sparse_annotated((10**9, 400)), {}, "cannot be read as .h5ad"),
    ("t.h5ad", sparse_annotated(indices=[0, 10**9]), {}, r"t\.h5ad must be a whole"),
    ("t.h5ad", sparse_annotated(indptr=[0, 2 * 10**6, 2]), {}, r"t\.h5ad must be a whole"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[0]}: {case[3][:40]}")
def test_what_cannot_be_read_is_refused_with_place_and_cure(write, case):
    name, content, reading, words = case
    with pytest.raises(ValueError, match=words):
        datasets.load(write(name, content), reading=Reading(**reading))


def test_what_is_no_file_is_compared_with_what_there_is():
    with pytest.raises(ValueError, match=r"must be one of digits, .* got 'digit'"):
        datasets.load("digit")
    with pytest.raises(FileNotFoundError, match="must exist"):
        datasets.load("nowhere.csv")
    for reading in ({"drop": ("a",)}, {"labels": ("c",)}, {"header": 2}):
        with pytest.raises(ValueError, match="must not be given for the built-in data set"):
            datasets.load("digits", reading=Reading(**reading))
    with pytest.raises(ValueError, match="scale must be one of"):
        Reading(scale="max")
    data = datasets.load("digits", reading=Reading(transform="log1p"))
    assert data.X.max() == pytest.approx(np.log(17.0))


def test_arrays_bring_names_and_labels(write):
    table = np.arange(12, dtype=np.uint8).reshape(4, 3)
    assert datasets.load(write("t.npy", table)).X.dtype == np.float64
    arrays = {
        "X": table,
        "labels": np.array(["b", "a", "b", "b"]),
        "feature_names": np.array(["u", "v", "w"]),
        "both": np.zeros((4, 2)),
    }
    data = datasets.load(write("t.npz", arrays))
    assert "left out: both (4, 2)" in data.notes
    assert data.y.tolist() == [1, 0, 1, 1]
    assert (data.label_names, data.feature_names) == (("a", "b"), ("u", "v", "w"))


def old_matlab(path):
    stage = np.array(["a", "bc"] * (N_ROWS // 2), dtype=object)
    content = {"spikes": COUNTS.astype(float), "place": {"position": POSITION}, "stage": stage}
    scipy.io.savemat(path, {**content, "both": np.column_stack([POSITION, -POSITION])})


def matlab_73(path, fill):
    """A file whose arrays are stored as MATLAB does: columns first."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        fill(file, h5py)
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")


def link_to_a_file(file, h5py):
    file["X"] = h5py.ExternalLink("other.h5", "/X")


def table_in_a_file(file, h5py):
    layout = h5py.VirtualLayout(shape=(4, 3), dtype="f8")
    layout[:] = h5py.VirtualSource("other.h5", "X", shape=(4, 3))
    file.create_virtual_dataset("X", layout)


@pytest.mark.parametrize("fill", [link_to_a_file, table_in_a_file])
def test_links_out_of_a_mat_file_are_not_followed(write, fill):
    h5py = pytest.importorskip("h5py")
    path = write("t.mat", lambda path: matlab_73(path, fill))
    with h5py.File(path.with_name("other.h5"), "w") as other:
        other["X"] = np.ones((4, 3))
    with pytest.raises(ValueError, match="got none"):
        datasets.load(path)


def new_matlab(path):
    def fill(file, h5py):
        file["spikes"] = COUNTS.T.astype(float)
        file["place/position"] = POSITION[None, :]
        file["both"] = np.stack([POSITION, -POSITION])
        file.create_dataset("name", data=np.array([[97, 98]], "u2")).attrs["MATLAB_class"] = (
            np.bytes_("char")
        )

    matlab_73(path, fill)


@pytest.mark.parametrize("save", [old_matlab, new_matlab])
def test_matlab_files_of_both_formats(write, save):
    path = write("t.mat", save)
    for words in (r"spikes \(30, 6\)", r"both \(30, 2\)", "key names the table"):
        with pytest.raises(ValueError, match=words):
            datasets.load(path)
    data = datasets.load(path, reading=Reading(labels=("place.position",), key="spikes"))
    np.testing.assert_array_equal(data.X, COUNTS)
    np.testing.assert_array_equal(data.y, POSITION)
    with pytest.raises(ValueError, match=r"labels asks for 'both', .*place\.position"):
        datasets.load(path, reading=Reading(labels=("both",), key="spikes"))


def links_of_links(file, h5py):
    before = file.create_dataset("leaf", data=np.ones((3, 3)))
    for k in range(40):
        group = file.create_group(f"g{k}")
        group["a"] = group["b"] = before
        before = group


def test_links_of_links_are_followed_once(write):
    data = datasets.load(write("t.mat", lambda p: matlab_73(p, links_of_links)))
    np.testing.assert_array_equal(data.X, np.ones((3, 3)))


def test_a_table_of_units_in_rows_is_transposed(write):
    path = write("t.mat", COUNTED)
    data = datasets.load(path, reading=Reading(labels=("position",), transpose=True))
    np.testing.assert_array_equal(data.X, COUNTS)
    np.testing.assert_array_equal(data.y, POSITION)
    assert "exchanged" in " ".join(data.notes)
    text = "gene,c1,c2,c3\nlabel,x,y,x\ng1,1,2,3\ng2,4,5,7\n"
    data = datasets.load(write("t.csv", text), reading=Reading(transpose=True))
    assert data.X.tolist() == [[1, 4], [2, 5], [3, 7]]
    assert data.labels[0].texts == ["x", "y", "x"]
    assert (data.row_names, data.feature_names) == (("c1", "c2", "c3"), ("g1", "g2"))


def test_columns_of_words_are_no_points_of_a_transposed_table(write):
    text = "gene,about,c1,c2,c3\ng1,first one,1,2,3\ng2,second,4,5,7\n"
    reading = Reading(transpose=True, drop=("c2",))
    data = datasets.load(write("t.csv", text), reading=reading)
    assert data.X.tolist() == [[1, 4], [3, 7]]
    assert (data.row_names, data.feature_names) == (("c1", "c3"), ("g1", "g2"))
    assert "left out of the points: about, c2" in " ".join(data.notes)
    data = datasets.load(write("t.csv", text), reading=Reading(transpose=True, drop=("g1",)))
    assert data.X.tolist() == [[4], [5], [7]]


MESSY = "when,kind,a,b,c,tag\n" + "".join(
    f"2020-01-{k + 1:02d},{'north' if k % 3 else 'south'},{k},"
    f"{'' if k == 3 else k * k},{'err' if k == 5 else 1 - k},u{k % 2}\n"
    for k in range(12)
)


def test_everything_wrong_with_a_table_is_listed_and_the_cures_cure(write):
    path = write("t.csv", MESSY)
    with pytest.raises(TableError) as refusal:
        datasets.load(path, reading=Reading(index="a"))
    lines = str(refusal.value).splitlines()
    assert lines[0] == "t.csv has 2 problems:"
    assert "numbers only, got 37 other cell(s), the first '2020-01-01' in row 2" in lines[1]
    assert "('when': 12, 'kind': 12, 'c': 1, 'tag': 12)" in lines[1]
    assert lines[1].endswith("; drop=('when', 'kind', 'c', 'tag') reads the rest")
    assert "1 missing cell(s), the first in row 5, column 'b' ('b': 1)" in lines[2]
    reading = Reading(index="when", drop=("c", "tag"), impute="mean")
    data = datasets.load(path, reading=replace(reading, labels=("kind",)))
    assert data.feature_names == ("a", "b")
    assert data.row_names[:2] == ("2020-01-01", "2020-01-02")
    assert data.X[3, 1] == pytest.approx(np.mean([k * k for k in range(12) if k != 3]))
    assert data.label_names == ("north", "south")
    notes = "\n".join(data.notes)
    assert "12 rows, 2 columns of numbers; header: line 1 (when, kind, a, ...)" in notes
    assert "row names: 'when'; labels: 'kind' (2 classes)" in notes
    assert "left out: c, tag" in notes
    assert "1 missing cell(s), 4.2% of the table ('b': 1)" in notes
    assert "missing cells filled with the mean of their column" in notes


def test_jokers_choose_columns(write):
    path = write("t.csv", "ab,ac,bc,label\n1,2,3,x\n4,5,6,y\n7,8,9,x\n")
    data = datasets.load(path, reading=Reading(columns=("a*",), drop=("?c",)))
    assert (data.feature_names, data.labels[0].title) == (("ab",), "label")


def test_columns_are_transformed_then_scaled(write):
    X = np.random.default_rng(3).poisson([2.0, 50.0, 4000.0], size=(40, 3)).astype(float)
    path = write("t.npy", np.column_stack([X, np.ones(40)]))
    data = datasets.load(path, reading=Reading(transform="sqrt", scale="standard"))
    root = np.sqrt(X)
    np.testing.assert_allclose(data.X[:, :3], (root - root.mean(axis=0)) / root.std(axis=0))
    assert not data.X[:, 3].any()
    assert "those without one only centered" in data.notes[-1]
    robust = datasets.load(path, reading=Reading(scale="robust", transform="log1p")).X[:, :3]
    np.testing.assert_allclose(np.subtract(*np.percentile(robust, [75, 25], axis=0)), 1.0)


def test_labels_keep_their_kind(write):
    path = write("t.csv", "a,b,place,kind\n1,2,.5,0\n3,4,,1\n5,6,1.5,\n7,8,2.5,1\n")
    data = datasets.load(path, reading=Reading(labels=("place", "kind")))
    np.testing.assert_array_equal(data.y, [0.5, np.nan, 1.5, 2.5])
    assert data.label_names == ()
    assert data.labels[1].names == ("0", "1", "missing")
    assert "'place' (a measurement, 1 missing)" in data.notes[0]
    rows = [f"{i},{i},{2 if i < 300 else '32 TE'}" for i in range(700)]
    data = datasets.load(write("t.csv", "a,b,stage\n" + "\n".join(rows) + "\n"))
    assert data.labels[0].texts[299:301] == ["2", "32 TE"]


def test_a_sheet_is_a_table_of_cells(tmp_path):
    pytest.importorskip("openpyxl")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.5, 2.5], "b": [3, None], "label": ["x", "y"]})
    with pandas.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="one", index=False)
        frame.drop(columns="b").to_excel(book, sheet_name="two", index=False)
    with pytest.raises(TableError, match="1 missing cell"):
        datasets.load(tmp_path / "t.xlsx")
    data = datasets.load(tmp_path / "t.xlsx", reading=Reading(sheet="two"))
    assert data.X.tolist() == [[1.5], [2.5]]
    assert "sheet 'two' (of 2: one, two)" in data.notes[0]


def test_a_sheet_of_notes_and_a_title_name_the_flag_that_reads_them(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = "Read me"
    sheet = book.create_sheet("data")
    for row in (["My experiment"], [], ["a", "b", "c"], [1, 2, 3], [4, 5, 6], [7, 8, 9]):
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(
        ValueError, match=r"sheet names one of Sheet, data\) must hold .*a header only"
    ):
        datasets.load(tmp_path / "t.xlsx")
    with pytest.raises(ValueError, match=r"the first .My experiment. in row 1.*header names"):
        datasets.load(tmp_path / "t.xlsx", reading=Reading(sheet="data"))
    data = datasets.load(tmp_path / "t.xlsx", reading=Reading(sheet="data", header=3))
    assert data.feature_names == ("a", "b", "c")
    assert data.X.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_names_of_rows_are_kept_letter_by_letter(write):
    for names in (
        ["00123", "00124"],
        [str(2**53 + 1), str(2**53 + 2)],
        ["NA", "1.10"],
        ["1_1", "1_2"],
    ):
        text = f"sample,a,b\n{names[0]},1,2\n{names[1]},3,4\n"
        data = datasets.load(write("t.csv", text), reading=Reading(index="sample"))
        assert data.row_names == tuple(names)
    assert datasets.load(write("t.csv", text)).row_names == ("1_1", "1_2")
    data = datasets.load(write("t.csv", "a,well\n1,1_1\n2,1_2\n3,1_2\n"))
    assert data.label_names == ("1_1", "1_2")


def test_names_that_come_twice_are_told_apart(write):
    data = datasets.load(write("t.csv", "x,z,x,x_2\n1,2,3,4\n5,6,7,8\n"))
    assert data.feature_names == ("x", "z", "x_3", "x_2")


@pytest.mark.timeout(15)
def test_thousands_of_columns_are_chosen_by_name(write):
    names = [f"g{k}" for k in range(8000)]
    path = write("t.csv", "\n".join([",".join(names), *[",".join(["1.5"] * 8000)] * 5]) + "\n")
    # A pass over all names for each of them takes twenty seconds.
    data = datasets.load(path, reading=Reading(drop=tuple(names[::2])))
    assert data.feature_names == tuple(names[1::2])


def test_annotated_matrices_are_read_as_anndata_reads_them(tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame({"kind": pandas.Categorical(["a", None, "b"]), "age": [1.5, 2, 4]})
    cells = anndata.AnnData(sp.csr_matrix(np.eye(3)), obs=obs.set_index(pandas.Index([*"uvw"])))
    cells.layers["twice"] = 2 * np.eye(3)
    cells.uns["kind_colors"] = np.array(["#ff0000", "#00ff00"])
    cells.write_h5ad(tmp_path / "t.h5ad")
    data = datasets.load(tmp_path / "t.h5ad", reading=Reading(labels=("kind", "age")))
    np.testing.assert_array_equal(data.X, np.eye(3))
    assert data.row_names == ("u", "v", "w")
    assert data.label_names == ("a", "b", "missing")
    assert data.labels[0].palette == ("#ff0000", "#00ff00")
    assert data.labels[1].y.tolist() == [1.5, 2.0, 4.0]
    data = datasets.load(tmp_path / "t.h5ad", reading=Reading(key="twice"))
    np.testing.assert_array_equal(data.X, 2 * np.eye(3))


@pytest.mark.filterwarnings("ignore")
def test_annotated_matrices_of_old_are_read(tmp_path):
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    path = tmp_path / "t.h5ad"
    # As anndata 0.6 wrote: tables of records, and no word on their kinds.
    with h5py.File(path, "w") as file:
        file["X"] = np.arange(6.0, dtype="f4").reshape(3, 2)
        file["obs"] = np.array(
            [(b"u", 1.5), (b"v", 2.0), (b"w", 4.0)], [("index", "S1"), ("age", "f8")]
        )
        file["var"] = np.array([(b"g",), (b"h",)], [("index", "S1")])
    assert anndata.read_h5ad(path).shape == (3, 2)
    data = datasets.load(path, reading=Reading(labels=("age",)))
    assert (data.row_names, data.feature_names) == (("u", "v", "w"), ("g", "h"))
    assert data.y.tolist() == [1.5, 2.0, 4.0]


@pytest.mark.parametrize("ending", ["csv.gz", "npy", "npz", "parquet", "xlsx", "h5ad"])
def test_a_file_that_ends_too_soon_is_named(tmp_path, ending):
    pd = pytest.importorskip("pandas")
    pytest.importorskip({"parquet": "pyarrow", "xlsx": "openpyxl"}.get(ending, "pandas"))
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 6))).add_prefix("c")
    path = tmp_path / f"t.{ending}"
    if ending == "h5ad":
        pytest.importorskip("anndata").AnnData(X.set_axis(map(str, X.index))).write_h5ad(path)
    else:
        write = {
            "csv.gz": X.to_csv, "npy": lambda p: np.save(p, X),
            "npz": lambda p: np.savez(p, X=X), "parquet": X.to_parquet, "xlsx": X.to_excel,
        }  # fmt: skip
        write[ending](path)
    whole = path.read_bytes()
    for size in (1, 5, len(whole) // 3, len(whole) // 2, len(whole) - 7):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=rf"^[^\n]*t\.{ending}[^\n]*$"):
            datasets.load(path, reading=Reading(impute="mean"))


@pytest.mark.parametrize("name", ["t.h5ad", "t.parquet", "t.xlsx"])
def test_a_library_that_is_missing_is_named_with_its_extra(write, monkeypatch, name):
    for package in ("anndata", "pyarrow", "fastparquet", "openpyxl"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"needs a package .*ikd_graph\[data,anndata\]"):
        datasets.load(write(name, "x"))
