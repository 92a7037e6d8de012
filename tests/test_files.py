"""Files as users have them: messy tables, archives, MATLAB, recordings; what is wrong is named."""

import sys
import warnings
import zipfile

import numpy as np
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
    "0,1\n1,2\n3,4\n5.5,6\n": (("0", "1"), None),
    ",a,b\n0,1,2\n1,3,4\n2,5.5,6\n": (("a", "b"), None),
    "cell7,1,2\ncell8,3,4\ncell9,5.5,6\n": ((), None),
    "a;b\n1;2\n3;4\n5.5;6\n": (("a", "b"), None),
    "a,b,Label\n1,2,7\n3,4,8\n5.5,6,7\n": (("a", "b"), ("7", "8")),
    "y,a,b\n1,1,2\n0,3,4\n1,5.5,6\n": (("a", "b"), ("0", "1")),
    "1,2,x\n3,4,y\n5.5,6,x\n": ((), ("x", "y")),
    'a,b,kind\n1,2,"16"\n3,4,"32 TE"\n5.5,6,"2 a"\n': (("a", "b"), ("2 a", "16", "32 TE")),
    "\n1,2\n\n3,4\n5.5,6\n\n": ((), None),
    "\ufeffa,b\n1,2\n3,4\n5.5,6\n": (("a", "b"), None),
}


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


def far_cell(path):
    """A sheet with a cell in the last column of every row, and no word on its size."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    rows = "".join(f'<row r="{k}"><c r="XFD{k}"><v>1</v></c></row>' for k in range(1, 20001))
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'
    members["xl/worksheets/sheet1.xml"] = sheet.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def two_tables(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "1,2\n3,4\n")
        archive.writestr("b.csv", "1,2\n3,4\n")


def recording(path):
    """Spike times, a position and a field of two columns."""
    pytest.importorskip("pynapple")
    pynwb = pytest.importorskip("pynwb")
    import datetime

    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    nwb = pynwb.NWBFile("spikes", "one", start)
    rng = np.random.default_rng(0)
    for unit in range(N_UNITS):
        nwb.add_unit(spike_times=np.sort(rng.uniform(0.0, 15.0, 60)), id=7 + unit)
    nwb.add_acquisition(
        pynwb.behavior.SpatialSeries(
            name="position", data=0.1 * np.arange(25.0), timestamps=0.5 * np.arange(25) + 0.25,
            reference_frame="x", unit="cm",
        )
    )  # fmt: skip
    values = np.arange(40.0).reshape(20, 2)
    nwb.add_acquisition(
        pynwb.TimeSeries(name="field", data=values, starting_time=1.0, rate=4.0, unit="V")
    )
    with pynwb.NWBHDF5IO(path, "w") as file:
        file.write(nwb)


CLEAN = "a,b\n1,2\n3,4\n"
COUNTED = {"spikes": COUNTS.T, "position": POSITION}
REFUSED = [
    # File, what it holds, how it is read, words of the message.
    ("t.csv", "", {}, "must not be empty, got 0 bytes"),
    ("t.csv", "\n \n", {}, "at least one row of numbers, got blank lines only"),
    ("t.csv", "a,b\n", {}, "at least one row of numbers, got a header only"),
    ("t.csv", "a,b\n1,2\n3\n", {}, "every row of t.csv must have 2 cells .* got 1 in row 3"),
    ("t.csv", "a,b\n1,2\n3,4,5\n", {}, "2 cells like the first, got 3 in row 3"),
    ("t.csv", "a,b\n1,2\n3,4\n5,oops\n", {}, "'oops' in row 4 .*; correct it or --drop b"),
    ("t.csv", "a,b\n1,2\n3,4\n5,\n", {}, "got 1 missing cell.* row 4, column 'b'.*--impute"),
    ("t.csv", "a,b\n1,2\n3,nan\n5,6\n", {}, "finite numbers .* row 3, column 'b'"),
    ("t.csv", "a,u,v\n1,x,p\n2,x,q\n3,y,q\n", {}, "2 columns .* got 'x' in row 2, column 'u'"),
    ("t.csv", "label\nx\ny\nx\n", {}, "must have a column of numbers"),
    ("t.doc", "1,2\n", {}, "must end in .csv, .tsv, .txt, .npy, .npz, .mat, .h5ad"),
    ("t.npy", "1,2\n", {}, "t.npy must be a whole .npy file, got"),
    ("t.npz", "1,2\n", {}, "t.npz must be a whole .npz file, got"),
    ("t.csv.zip", two_tables, {}, "must hold one table, got 2"),
    # No row is lost.
    ("t.csv", "1,NA,3\n4,5,6\n7,8,9\n", {}, "got 1 missing cell.* row 1, column '1'"),
    ("t.csv", "1,2,5%\n4,5,6\n7,8,9\n", {}, "column '2' .* got '5%' in row 1"),
    ("t.csv", "1,,3\n4,5,6\n7,8,9\n", {}, "got 1 missing cell.* row 1, column '1'"),
    ("t.csv", ",2.5,3\n4,5,6\n7.5,8,9\n", {}, "got 1 missing cell.* row 1, column '0'"),
    ("t.csv", '1,2,"\n4,5,"\n7,8,x\n', {}, "got a line break within quotes in line 2"),
    ("t.csv", '1,2,"\n4,5,6\n7,8,9\n', {}, "plain table of numbers, got"),
    ("t.csv", "1,2.5,3\n,,\n7,8,9\n", {}, "got 3 missing cell.* row 2, column '0'"),
    ("t.csv", '1,2,3\n"4"5,5,6\n', {}, "plain table of numbers, got"),
    ("t.csv", "1,2," + "9" * 140_000 + "\n", {}, "field larger than"),
    # What was asked for is not there.
    ("t.csv", CLEAN, {"labels": ("c",)}, "labels must be a column of t.csv: a, b; got 'c'"),
    ("t.csv", CLEAN, {"labels": (5,)}, "labels must be a column of t.csv: a, b; got 5"),
    ("u.csv", "1,2\n3,4\n", {"labels": (5,)}, "0 to 1 .no header.; got 5"),
    ("t.csv", "ab,ac\n1,2\n4,5\n", {"drop": ("z?",)}, "--drop z. fits no column of t.csv"),
    ("t.csv", CLEAN, {"measured": ("c",)}, "--measured must name labels of t.csv"),
    ("t.csv", "a,b,y\n1,2,u\n3,4,v\n", {"measured": ("y",)}, "'y' of t.csv must be numbers"),
    ("t.csv", CLEAN, {"key": "X"}, "--key must not be given for t.csv"),
    ("t.csv", "a,b\n1,-2\n3,4\n", {"transform": "sqrt"}, r"--transform sqrt .*\[-2\.\], in 'b'"),
    ("t.csv", "a,b\n1,-1\n3,4\n", {"transform": "log1p"}, r"--transform log1p .*\[-1\.\]"),
    ("t.npz", {"X": np.eye(3)}, {"labels": ("c",)}, "0 to 2 .no header.; got 'c'"),
    ("t.npy", np.eye(3), {"labels": ("c",)}, "labels must not be named for a .npy"),
    ("t.npz", {"X": np.eye(3)}, {"bin": 0.1}, "--bin must not be given for t.npz"),
    ("t.npz", {"a": np.eye(2), "b": np.eye(2)}, {}, r"got a \(2, 2\), b \(2, 2\); --key"),
    ("t.npz", {"X": np.ones((2, 2, 2))}, {}, "X in t.npz must be a 2-D table"),
    ("t.npz", {"X": np.array([["a"]])}, {}, "X in t.npz must be a 2-D table of numbers"),
    ("t.npz", {"X": np.eye(2), "y": np.arange(3)}, {}, "y must have one label for each row"),
    ("t.npz", {"X": np.array([[1, np.inf], [1, 2]])}, {}, "1 infinite cell.* row 0, column '1'"),
    ("t.npz", {"X": np.eye(2), "y": np.array(["a", "b"], object)}, {}, "y of t.npz holds Python"),
    ("t.mat", COUNTED, {"labels": ("position",)}, r"shape \(30,\) for 6 rows; --transpose"),
    ("t.mat", COUNTED, {"key": "spike"}, "--key must name a table of t.mat: .*'spikes'"),
    ("t.nwb", recording, {}, "spike times of 6 units over .* --bin 0.1"),
    ("t.nwb", recording, {"key": "fields"}, "--key must name a table .*; did you mean 'field'"),
    # Sizes are asked first; what points outside itself is seen.
    ("t.mat", {"X": sp.csc_matrix((1_000_000, 300_000))}, {}, "must fit into a quarter"),
    ("t.npz", lambda p: sp.save_npz(p, sp.csr_array((10**6, 3 * 10**5))), {}, "must fit into"),
    ("t.h5ad", sparse_annotated((10**9, 400)), {}, "must fit into a quarter"),
    ("t.h5ad", sparse_annotated((10**8, 4)), {}, "a row for each of 2 observations"),
    ("t.xlsx", far_cell, {}, "got more in its first 610 rows; delete cells far from the table"),
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
    for reading in ({"drop": ("a",)}, {"labels": ("c",)}, {"labels_file": "t.csv"}):
        with pytest.raises(ValueError, match="must not be given for the built-in data set"):
            datasets.load("digits", reading=Reading(**reading))
    with pytest.raises(ValueError, match="scale must be one of"):
        Reading(scale="max")
    data = datasets.load("digits", reading=Reading(transform="log1p"))
    assert data.X.max() == pytest.approx(np.log(17.0))


def test_arrays_bring_names_classes_and_the_shape_of_images(write):
    table = np.arange(12, dtype=np.uint8).reshape(4, 3)
    assert datasets.load(write("t.npy", table)).X.dtype == np.float64
    arrays = {
        "X": table,
        "labels": np.array(["b", "a", "b", "b"]),
        "label_names": np.array(["b", "a"]),
        "feature_names": np.array(["u", "v", "w"]),
        "image_shape": np.array([1, 3]),
    }
    data = datasets.load(write("t.npz", arrays))
    assert data.y.tolist() == [0, 1, 0, 0]
    assert (data.label_names, data.feature_names) == (("b", "a"), ("u", "v", "w"))
    assert data.image_shape == (1, 3)


def old_matlab(path):
    struct = {"position": POSITION, "both": np.column_stack([POSITION, -POSITION])}
    stage = np.array(["a", "bc"] * (N_ROWS // 2), dtype=object)
    content = {"spikes": COUNTS.astype(float), "place": struct, "rate": 10.0, "stage": stage}
    scipy.io.savemat(path, content)


def new_matlab(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        # MATLAB counts columns first: what it shows as (30, 6) is stored as (6, 30).
        file["spikes"] = COUNTS.T.astype(float)
        file["place/position"] = POSITION[None, :]
        file["place/both"] = np.stack([POSITION, -POSITION])
        cells = [
            file.create_dataset(f"#refs#/{k}", data=np.array([[97 + k]], "u2")) for k in (0, 1)
        ]
        for cell in cells:
            cell.attrs["MATLAB_class"] = np.bytes_("char")
        refs = np.array([cell.ref for cell in cells] * (N_ROWS // 2), dtype=h5py.ref_dtype)
        file.create_dataset("stage", data=refs[None, :], dtype=h5py.ref_dtype)
        file["stage"].attrs["MATLAB_class"] = np.bytes_("cell")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124))


@pytest.mark.parametrize("save", [old_matlab, new_matlab])
def test_matlab_files_of_both_formats(write, save):
    path = write("t.mat", save)
    for words in (r"spikes \(30, 6\)", r"place.both \(30, 2\)", "--key NAME chooses"):
        with pytest.raises(ValueError, match=words):
            datasets.load(path)
    labels = ("place.position", "place.both", "stage")
    data = datasets.load(path, label_column=labels, reading=Reading(key="spikes"))
    np.testing.assert_array_equal(data.X, COUNTS)
    np.testing.assert_array_equal(data.y, POSITION)
    titles = [column.title for column in data.all_labels]
    assert titles == ["place.position", "place.both[0]", "place.both[1]", "stage"]
    assert len(data.other_labels[-1].names) == 2


def test_a_table_of_units_in_rows_is_transposed(write):
    path = write("t.mat", COUNTED)
    with pytest.warns(UserWarning, match="position of t.mat has a value for each column of spikes"):
        datasets.load(path)
    data = datasets.load(path, label_column="position", reading=Reading(transpose=True))
    np.testing.assert_array_equal(data.X, COUNTS)
    np.testing.assert_array_equal(data.y, POSITION)
    assert "exchanged" in " ".join(data.notes)
    text = "gene,c1,c2,c3\nlabel,x,y,x\ng1,1,2,3\ng2,4,5,7\n"
    data = datasets.load(write("t.csv", text), reading=Reading(transpose=True))
    assert data.X.tolist() == [[1, 4], [2, 5], [3, 7]]
    assert data.labels.tolist() == ["x", "y", "x"]
    assert (data.row_names, data.feature_names) == (("c1", "c2", "c3"), ("g1", "g2"))


def test_labels_of_a_transposed_table_come_from_a_file_of_their_own(write):
    genes = write("t.csv", "gene,c1,c2,c3\ng1,1,2,3\ng2,4,5,7\n")
    labels = write("l.csv", "cell,kind,age\nc3,x,1.5\nc1,y,2.5\nc2,x,4\n")
    data = datasets.load(genes, reading=Reading(transpose=True, labels_file=str(labels)))
    assert data.labels.tolist() == ["y", "x", "x"]
    assert data.other_labels[0].title == "age"
    assert data.other_labels[0].y.tolist() == [2.5, 4.0, 1.5]
    assert data.row_names == ("c1", "c2", "c3")
    asked = Reading(transpose=True, labels_file=str(labels), labels=("age",))
    assert datasets.load(genes, reading=asked).y.tolist() == [2.5, 4.0, 1.5]
    plain = write("p.csv", "kind\nx\ny\ny\n")
    data = datasets.load(write("t.npy", np.eye(3)), reading=Reading(labels_file=str(plain)))
    assert data.labels.tolist() == ["x", "y", "y"]
    with pytest.raises(ValueError, match=r"p\.csv must have a row of labels for each row"):
        datasets.load(genes, reading=Reading(labels_file=str(plain)))


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
    assert lines[0] == "t.csv has 4 problems:"
    assert "(12 of 12 cells are dates); --drop when or --index when" in lines[1]
    assert "column 'kind' (12 of 12 cells are not numbers); --drop kind,tag or --labels" in lines[2]
    assert "got 'err' in row 7 (1 of 12 cells are not numbers); correct it" in lines[3]
    assert "1 missing cell(s), the first in row 5, column 'b'" in lines[4]
    assert lines[5] == "to read the rest of it: --drop when,kind,tag,c --impute median"
    reading = Reading(index="when", drop=("c", "tag"), impute="mean")
    data = datasets.load(path, label_column="kind", reading=reading)
    assert data.feature_names == ("a", "b")
    assert data.row_names[:2] == ("2020-01-01", "2020-01-02")
    assert data.X[3, 1] == pytest.approx(np.mean([k * k for k in range(12) if k != 3]))
    assert data.label_names == ("north", "south")
    notes = "\n".join(data.notes)
    assert "12 rows, 2 columns of numbers; header: line 1 (when, kind, a, ...)" in notes
    assert "row names: 'when'; labels: 'kind' (2 classes)" in notes
    assert "left out: c, tag" in notes
    assert "1 missing cell(s), 4.2% of the table, filled with the mean of their column" in notes


def test_jokers_choose_columns(write):
    path = write("t.csv", "ab,ac,bc,label\n1,2,3,x\n4,5,6,y\n7,8,9,x\n")
    data = datasets.load(path, reading=Reading(columns=("a*",), drop=("?c",)))
    assert (data.feature_names, data.label_title) == (("ab",), "label")


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
    data = datasets.load(path, label_column=("place", "kind"))
    np.testing.assert_array_equal(data.y, [0.5, np.nan, 1.5, 2.5])
    assert data.label_names == ()
    assert data.other_labels[0].names == ("0", "1", "missing")
    assert "'place' (a measurement, 1 missing)" in data.notes[0]
    rows = [f"{i},{i},{2 if i < 300 else '32 TE'}" for i in range(700)]
    data = datasets.load(write("t.csv", "a,b,stage\n" + "\n".join(rows) + "\n"))
    assert data.labels[299:301].tolist() == ["2", "32 TE"]


def test_a_sheet_is_a_table_of_cells(tmp_path):
    pytest.importorskip("openpyxl")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.5, 2.5], "b": [3, None], "label": ["x", "y"]})
    with pandas.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="one", index=False)
        frame.drop(columns="b").to_excel(book, sheet_name="two", index=False)
    with pytest.raises(TableError, match="1 missing cell"):
        datasets.load(tmp_path / "t.xlsx")
    data = datasets.load(tmp_path / "t.xlsx", reading=Reading(key="two"))
    assert data.X.tolist() == [[1.5], [2.5]]
    assert "sheet 'two' (of 2: one, two)" in data.notes[0]


def test_spike_times_and_series_of_a_recording(write):
    path = write("t.nwb", recording)
    data = datasets.load(path, label_column="position", reading=Reading(bin=0.5))
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0.0, 15.0, 60)) for _ in range(N_UNITS)]
    first = min(map(min, times))
    edges = first + 0.5 * np.arange(len(data.X) + 1)
    expected = np.stack([np.histogram(unit, edges)[0] for unit in times], axis=1)
    np.testing.assert_array_equal(data.X, expected)
    assert data.feature_names[:2] == ("unit 7", "unit 8")
    assert (data.row_title, float(data.row_names[0])) == ("time", pytest.approx(first + 0.25))
    # Bins after the last known position have none.
    np.testing.assert_allclose(data.y[:25], 0.1 * np.arange(25))
    assert np.isnan(data.y[27:]).all()
    field = datasets.load(path, reading=Reading(key="field"))
    assert field.X.shape == (20, 2)
    assert field.row_names[:2] == ("1", "1.25")


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


NEEDED = {"t.h5ad": "anndata", "t.nwb": "pynapple", "t.parquet": "pyarrow", "t.xlsx": "openpyxl"}


@pytest.mark.parametrize("name", NEEDED)
def test_a_library_that_is_missing_is_named_with_its_extra(write, monkeypatch, name):
    package = NEEDED[name]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'needs the package {package}.*"ikd_graph\[\w+\]"'):
        datasets.load(write(name, "x"))


def test_text_and_arrays_need_no_extra(write, monkeypatch):
    for package in ("pandas", "h5py", "anndata", "openpyxl", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    for name, content in {"t.npy": np.eye(3), "t.npz": {"X": np.eye(3)}, "t.csv": CLEAN}.items():
        assert datasets.load(write(name, content)).n_samples > 1


def test_spikes_at_the_edges_of_bins_fall_into_those_that_begin_there(write):
    cells = np.empty(3, object)
    for first in (0.0, 17.3, 1e4):
        for at, step in enumerate((0.1, 0.025, 1 / 3)):
            cells[at] = np.round(first + step * np.arange(60), 12)
            data = datasets.load(
                write("t.mat", {"units": cells[at : at + 1].repeat(2)}), reading=Reading(bin=step)
            )
            assert data.X.shape == (60, 2)
            assert (data.X == 1).all(), (first, step)


def test_spike_times_in_samples_are_told(write):
    cells = np.empty(3, object)
    rng = np.random.default_rng(0)
    cells[:] = [np.sort(rng.integers(0, 3_000_0, 40)) for _ in range(3)]
    path = write("t.mat", {"units": cells})
    with pytest.warns(UserWarning, match=r"empty and all times are whole numbers.*--bin 3000"):
        datasets.load(path, reading=Reading(bin=0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert datasets.load(path, reading=Reading(bin=3000)).X.sum() == 120
