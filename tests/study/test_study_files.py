"""Files as users have them: messy tables, archives, MATLAB, recordings; what is wrong is said."""

import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from ikd_graph.study import datasets
from ikd_graph.study.datasets import Reading, TableError

N_ROWS, N_UNITS = 30, 6


@pytest.fixture
def spikes():
    rng = np.random.default_rng(0)
    return rng.poisson(3.0, size=(N_ROWS, N_UNITS)), np.linspace(0.0, 50.0, N_ROWS)


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


NUMBERS = [[1.0, 2.0], [3.0, 4.0], [5.5, 6.0]]


@pytest.mark.parametrize(
    ("text", "features", "classes"),
    [
        ("1,2\n3,4\n5.5,6\n", (), None),
        ("a,b\n1,2\n3,4\n5.5,6\n", ("a", "b"), None),
        ("0,1\n1,2\n3,4\n5.5,6\n", ("0", "1"), None),
        (",a,b\n0,1,2\n1,3,4\n2,5.5,6\n", ("a", "b"), None),
        ("cell7,1,2\ncell8,3,4\ncell9,5.5,6\n", (), None),
        ("a;b\n1;2\n3;4\n5.5;6\n", ("a", "b"), None),
        ("a,b,Label\n1,2,7\n3,4,8\n5.5,6,7\n", ("a", "b"), ("7", "8")),
        ("y,a,b\n1,1,2\n0,3,4\n1,5.5,6\n", ("a", "b"), ("0", "1")),
        ("1,2,x\n3,4,y\n5.5,6,x\n", (), ("x", "y")),
        ('a,b,kind\n1,2,"16"\n3,4,"32 TE"\n5.5,6,"2 a"\n', ("a", "b"), ("2 a", "16", "32 TE")),
        ("\n1,2\n\n3,4\n5.5,6\n\n", (), None),
        ("\ufeffa,b\n1,2\n3,4\n5.5,6\n", ("a", "b"), None),
    ],
)
def test_a_table_is_read_with_or_without_header_index_and_labels(tmp_path, text, features, classes):
    data = datasets.load(write(tmp_path, "t.csv", text))
    np.testing.assert_array_equal(data.X, NUMBERS)
    assert data.feature_names == features
    assert data.label_names == (classes or ())
    assert (data.y is None) == (classes is None)
    assert data.name == "t"


def test_words_that_begin_far_down_a_column_are_still_labels(tmp_path):
    rows = [f"{i},{i},{2 if i < 300 else '32 TE'}" for i in range(700)]
    data = datasets.load(write(tmp_path, "t.csv", "a,b,stage\n" + "\n".join(rows) + "\n"))
    assert data.X.shape == (700, 2)
    assert data.label_names == ("2", "32 TE")
    assert data.labels[299:301].tolist() == ["2", "32 TE"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "must not be empty, got 0 bytes"),
        ("t.csv", "\n \n", "at least one row of numbers, got blank lines only"),
        ("t.csv", "a,b\n", "at least one row of numbers, got a header only"),
        ("t.csv", "a,b\n1,2\n3\n", "every row of t.csv must have 2 cells .* got 1 in row 3"),
        ("t.csv", "a,b\n1,2\n3,4,5\n", "2 cells like the first, got 3 in row 3"),
        (
            "t.csv",
            "a,b\n1,2\n3,4\n5,oops\n",
            "column 'b' .* got 'oops' in row 4 .*; correct it or --drop b$",
        ),
        ("t.csv", "a,b\n1,2\n3,4\n5,\n", "got 1 missing cell.* row 4, column 'b'.*--impute"),
        ("t.csv", "a,b\n1,2\n3,nan\n5,6\n", "finite numbers .* row 3, column 'b'"),
        ("t.csv", "a,u,v\n1,x,p\n2,x,q\n3,y,q\n", "column 'u' .* got 'x'"),
        ("t.csv", "label\nx\ny\nx\n", "must have a column of numbers"),
        ("t.doc", "1,2\n", "must end in .csv, .tsv, .txt, .npy, .npz, .mat, .h5ad"),
        ("t.npy", "1,2\n", "t.npy must be a whole .npy file, got"),
        ("t.npz", "1,2\n", "t.npz must be a whole .npz file, got"),
    ],
)
def test_a_bad_file_gets_an_error_that_says_what_and_where(tmp_path, name, text, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(write(tmp_path, name, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,NA,3\n4,5,6\n7,8,9\n", "got 1 missing cell.* row 1, column '1'"),
        ("1,2,5%\n4,5,6\n7,8,9\n", "column '2' .* got '5%' in row 1"),
        ("1,,3\n4,5,6\n7,8,9\n", "got 1 missing cell.* row 1, column '1'"),
        (",2.5,3\n4,5,6\n7.5,8,9\n", "got 1 missing cell.* row 1, column '0'"),
        ('1,2,"\n4,5,"\n7,8,x\n', "got a line break within quotes in line 2"),
        ('1,2,"\n4,5,6\n7,8,9\n', "plain table of numbers, got"),
        ("1,2.5,3\n,,\n7,8,9\n", "got 3 missing cell.* row 2, column '0'"),
        ('1,2,3\n"4"5,5,6\n', "plain table of numbers, got"),
        ("1,2," + "9" * 140_000 + "\n", "field larger than"),
    ],
)
def test_no_row_of_a_table_is_lost(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(write(tmp_path, "t.csv", text))


def test_an_unknown_label_column_is_listed_against(tmp_path):
    path = write(tmp_path, "t.csv", "a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match=r"labels must be a column of t.csv: a, b; got 'c'"):
        datasets.load(path, label_column="c")
    bare = write(tmp_path, "u.csv", "1,2\n3,4\n")
    with pytest.raises(ValueError, match=r"0 to 1 .no header.; got 5"):
        datasets.load(bare, label_column=5)
    np.savez(tmp_path / "t.npz", X=np.eye(3))
    with pytest.raises(ValueError, match=r"labels must be a column .* 0 to 2 .no header.; got 'c'"):
        datasets.load(tmp_path / "t.npz", label_column="c")
    np.save(tmp_path / "t.npy", np.eye(3))
    with pytest.raises(ValueError, match=r"labels must not be named for a .npy"):
        datasets.load(tmp_path / "t.npy", label_column="c")
    with pytest.raises(ValueError, match="labels must not be named for the built-in"):
        datasets.load("digits", label_column="c")


def test_unknown_names_and_missing_files_say_what_is_known():
    with pytest.raises(ValueError, match=r"must be one of digits, .* got 'digit'"):
        datasets.load("digit")
    with pytest.raises(FileNotFoundError, match="must exist"):
        datasets.load("nowhere.csv")


def test_npy_and_npz_files(tmp_path):
    table = np.arange(12, dtype=np.uint8).reshape(4, 3)
    np.save(tmp_path / "t.npy", table)
    assert datasets.load(tmp_path / "t.npy").X.dtype == np.float64
    np.savez(
        tmp_path / "t.npz",
        X=table,
        labels=np.array(["b", "a", "b", "b"]),
        label_names=np.array(["b", "a"]),
        feature_names=np.array(["u", "v", "w"]),
        image_shape=np.array([1, 3]),
    )
    data = datasets.load(tmp_path / "t.npz")
    assert (data.n_samples, data.n_features) == (4, 3)
    assert data.y.tolist() == [0, 1, 0, 0]
    assert (data.label_names, data.feature_names) == (("b", "a"), ("u", "v", "w"))
    assert data.image_shape == (1, 3)
    np.savez(tmp_path / "only.npz", table=table, extra=np.arange(4))
    np.testing.assert_array_equal(datasets.load(tmp_path / "only.npz").X, table)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.eye(2), "b": np.eye(2)}, r"got keys: a \(2, 2\), b \(2, 2\)"),
        ({"X": np.ones((2, 2, 2))}, "X in t.npz must be a 2-D table"),
        ({"X": np.array([["a"]])}, "X in t.npz must be a 2-D table of numbers"),
        ({"X": np.eye(2), "y": np.arange(3)}, "y must have one label for each row"),
        ({"X": np.array([[1.0, np.inf], [1.0, 2.0]])}, "got 1 infinite cell.* row 0, column '1'"),
    ],
)
def test_a_bad_archive_lists_what_it_holds(tmp_path, arrays, message):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        datasets.load(tmp_path / "t.npz")


def old_matlab(path, counts, position):
    scipy.io.savemat(
        path,
        {
            "spikes": counts.astype(float),
            "place": {"position": position, "both": np.column_stack([position, -position])},
            "rate": 10.0,
            "stage": np.array(["a", "bc"] * (N_ROWS // 2), dtype=object),
        },
    )


def new_matlab(path, counts, position):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        # MATLAB counts columns first: what it shows as (30, 6) is stored as (6, 30).
        file["spikes"] = counts.T.astype(float)
        file["place/position"] = position[None, :]
        file["place/both"] = np.stack([position, -position])
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
def test_matlab_files_of_both_formats(tmp_path, spikes, save):
    counts, position = spikes
    path = tmp_path / "t.mat"
    save(path, counts, position)
    for known in (r"spikes \(30, 6\)", r"place.both \(30, 2\)", "--key NAME chooses"):
        with pytest.raises(ValueError, match=known):
            datasets.load(path)
    data = datasets.load(
        path,
        label_column=("place.position", "place.both", "stage"),
        reading=Reading(key="spikes"),
    )
    np.testing.assert_array_equal(data.X, counts)
    np.testing.assert_array_equal(data.y, position)
    titles = [one.title for one in data.all_labels]
    assert titles == ["place.position", "place.both[0]", "place.both[1]", "stage"]
    assert len(data.other_labels[-1].names) == 2
    with pytest.raises(ValueError, match=r"--key must name an array of t\.mat: .*spikes"):
        datasets.load(path, reading=Reading(key="counts"))


def test_a_table_of_units_in_rows_asks_to_be_transposed(tmp_path, spikes):
    counts, position = spikes
    scipy.io.savemat(tmp_path / "t.mat", {"spikes": counts.T, "position": position})
    with pytest.raises(ValueError, match=r"shape \(30,\) for 6 rows; --transpose"):
        datasets.load(tmp_path / "t.mat", label_column="position")
    with pytest.warns(UserWarning, match="position of t.mat has a value for each column of spikes"):
        datasets.load(tmp_path / "t.mat")
    data = datasets.load(
        tmp_path / "t.mat", label_column="position", reading=Reading(transpose=True)
    )
    np.testing.assert_array_equal(data.X, counts)
    np.testing.assert_array_equal(data.y, position)
    assert "exchanged" in " ".join(data.notes)


MESSY = "time,site,a,b,c\n" + "".join(
    f"{k / 2},{'north' if k % 3 else 'south'},{k},"
    f"{'' if k == 3 else k * k},{'err' if k == 5 else 1 - k}\n"
    for k in range(12)
)


def test_everything_wrong_with_a_table_is_said_at_once_with_its_cure(tmp_path):
    path = write(tmp_path, "t.csv", MESSY.replace("site", "kind").replace("time,", "when,", 1))
    text = path.read_text().replace("0.0,", "2020-01-01,", 1)
    rows = text.splitlines()
    rows[1:] = [
        f"2020-01-{k + 1:02d},{row.split(',', 1)[1]},u{k % 2}" for k, row in enumerate(rows[1:])
    ]
    path.write_text("\n".join([rows[0] + ",tag", *rows[1:]]) + "\n")
    with pytest.raises(TableError) as caught:
        datasets.load(path, reading=Reading(index="a"))
    said = str(caught.value)
    assert len(caught.value.problems) == 5
    assert "t.csv has 5 problems:" in said
    for part in (
        "column 'when' .* (12 of 12 cells are dates); --drop when or --index when",
        "column 'kind' .* --drop kind or --labels kind",
        "column 'tag' .* --drop tag or --labels tag",
        "column 'c' .* got 'err' in row 7 (1 of 12 cells are not numbers); correct it or --drop c",
        "1 missing cell(s), the first in row 5, column 'b'",
        "to read the rest of it: --drop when,kind,c,tag --impute median",
    ):
        head, _, tail = part.partition(" .* ")
        assert head in said
        assert tail in said


def test_the_cures_cure(tmp_path):
    data = datasets.load(
        write(tmp_path, "t.csv", MESSY),
        label_column="site",
        reading=Reading(index="time", drop=("c",), impute="mean"),
    )
    assert data.feature_names == ("a", "b")
    assert data.row_names[:2] == ("0.0", "0.5")
    squares = [k * k for k in range(12) if k != 3]
    assert data.X[3, 1] == pytest.approx(np.mean(squares))
    assert data.label_names == ("north", "south")
    said = "\n".join(data.notes)
    assert "12 rows, 2 columns of numbers; header: line 1 (time, site, a, ...)" in said
    assert "row names: 'time'; labels: 'site' (2 classes)" in said
    assert "left out: c" in said
    assert (
        "1 missing cell(s), 4.2% of the table, filled with the mean of their column ('b': 1)"
        in said
    )


def test_jokers_choose_columns_and_one_that_fits_nothing_is_said(tmp_path):
    path = write(tmp_path, "t.csv", "ab,ac,bc,label\n1,2,3,x\n4,5,6,y\n7,8,9,x\n")
    data = datasets.load(path, reading=Reading(columns=("a*",), drop=("?c",)))
    assert data.feature_names == ("ab",)
    assert data.label_title == "label"
    with pytest.raises(TableError, match=r"--drop z. fits no column of t\.csv: ab, ac, bc, label"):
        datasets.load(path, reading=Reading(drop=("z?",)))


def test_a_transposed_table_finds_its_labels_in_a_row(tmp_path):
    path = write(tmp_path, "t.csv", "gene,c1,c2,c3\nlabel,x,y,x\ng1,1,2,3\ng2,4,5,7\n")
    data = datasets.load(path, reading=Reading(transpose=True))
    assert data.X.tolist() == [[1, 4], [2, 5], [3, 7]]
    assert data.labels.tolist() == ["x", "y", "x"]
    assert data.row_names == ("c1", "c2", "c3")
    assert data.feature_names == ("g1", "g2")


def test_columns_are_transformed_then_scaled(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.poisson([2.0, 50.0, 4000.0], size=(40, 3)).astype(float)
    path = tmp_path / "t.npy"
    np.save(path, np.column_stack([X, np.ones(40)]))
    data = datasets.load(path, reading=Reading(transform="sqrt", scale="standard"))
    np.testing.assert_allclose(data.X[:, :3].std(axis=0), 1.0)
    root = np.sqrt(X)
    np.testing.assert_allclose(data.X[:, :3], (root - root.mean(axis=0)) / root.std(axis=0))
    assert not data.X[:, 3].any()
    assert "those without one only centred" in data.notes[-1]
    robust = datasets.load(path, reading=Reading(scale="robust", transform="anscombe")).X[:, :3]
    np.testing.assert_allclose(np.subtract(*np.percentile(robust, [75, 25], axis=0)), 1.0)
    np.save(path, -X)
    for transform in ("sqrt", "log1p", "anscombe"):
        with pytest.raises(TableError, match=f"--transform {transform} must not meet values below"):
            datasets.load(path, reading=Reading(transform=transform))


def test_built_in_data_are_scaled_and_nothing_else():
    data = datasets.load("digits", reading=Reading(transform="log1p"))
    assert data.X.max() == pytest.approx(np.log(17.0))
    with pytest.raises(ValueError, match="--drop is for files"):
        datasets.load("digits", reading=Reading(drop=("a",)))
    with pytest.raises(ValueError, match="scale must be one of"):
        Reading(scale="max")


def test_labels_with_holes_keep_their_kind(tmp_path):
    path = write(tmp_path, "t.csv", "a,b,place,kind\n1,2,.5,0\n3,4,,1\n5,6,1.5,\n7,8,2.5,1\n")
    data = datasets.load(path, label_column=("place", "kind"))
    np.testing.assert_array_equal(data.y, [0.5, np.nan, 1.5, 2.5])
    assert data.label_names == ()
    assert data.other_labels[0].names == ("0", "1", "missing")
    assert "'place' (a measurement, 1 missing)" in data.notes[0]


def test_a_sheet_is_a_table_of_cells(tmp_path):
    pytest.importorskip("openpyxl")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.5, 2.5], "b": [3, None], "label": ["x", "y"]})
    with pandas.ExcelWriter(tmp_path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="one", index=False)
        (frame.drop(columns="b")).to_excel(book, sheet_name="two", index=False)
    with pytest.raises(TableError, match="1 missing cell"):
        datasets.load(tmp_path / "t.xlsx")
    data = datasets.load(tmp_path / "t.xlsx", reading=Reading(key="two"))
    assert data.X.tolist() == [[1.5], [2.5]]
    assert "sheet 'two' (of 2: one, two)" in data.notes[0]


def test_spike_times_and_series_of_a_recording(tmp_path):
    pytest.importorskip("pynapple")
    pynwb = pytest.importorskip("pynwb")
    import datetime

    from pynwb.behavior import SpatialSeries

    path = tmp_path / "t.nwb"
    began = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    nwb = pynwb.NWBFile(session_description="spikes", identifier="one", session_start_time=began)
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0.0, 15.0, 60)) for _ in range(N_UNITS)]
    for unit, spikes in enumerate(times):
        nwb.add_unit(spike_times=spikes, id=7 + unit)
    at = 0.5 * np.arange(25) + 0.25
    nwb.add_acquisition(
        SpatialSeries(
            name="position",
            data=0.1 * np.arange(25.0),
            timestamps=at,
            reference_frame="x",
            unit="cm",
        )
    )
    field = pynwb.TimeSeries(
        name="field", data=np.arange(40.0).reshape(20, 2), starting_time=1.0, rate=4.0, unit="V"
    )
    nwb.add_acquisition(field)
    with pynwb.NWBHDF5IO(path, "w") as file:
        file.write(nwb)
    with pytest.raises(ValueError, match=r"spike times of 6 units over .* --bin 0.1"):
        datasets.load(path)
    data = datasets.load(path, label_column="position", reading=Reading(bin=0.5))
    first = min(map(min, times))
    edges = first + 0.5 * np.arange(len(data.X) + 1)
    expected = np.stack([np.histogram(one, edges)[0] for one in times], axis=1)
    np.testing.assert_array_equal(data.X, expected)
    assert data.feature_names[:2] == ("unit 7", "unit 8")
    assert (data.row_title, float(data.row_names[0])) == ("time", pytest.approx(first + 0.25))
    # Bins after the last known position have none.
    np.testing.assert_allclose(data.y[:25], 0.1 * np.arange(25))
    assert np.isnan(data.y[27:]).all()
    field = datasets.load(path, reading=Reading(key="field"))
    assert field.X.shape == (20, 2)
    assert field.row_names[:2] == ("1", "1.25")
    with pytest.raises(ValueError, match=r"--key must name one series .*; did you mean 'field'"):
        datasets.load(path, reading=Reading(key="fields"))


def sparse_annotated(path, shape=(2, 2), **parts):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("anndata")
    parts = {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2]} | parts
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0"})
        group.attrs["shape"] = shape
        for name, values in parts.items():
            group[name] = np.array(values)
        for name in ("obs", "var"):
            frame = file.create_group(name)
            frame.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0"})
            frame.attrs.update({"_index": "_index", "column-order": np.zeros(0)})
            frame["_index"] = np.array([b"a", b"b"])


@pytest.mark.parametrize("part", [{"indices": [0, 10**9]}, {"indptr": [0, 2 * 10**6, 2]}])
def test_a_sparse_table_that_points_outside_itself_is_refused(tmp_path, part):
    sparse_annotated(tmp_path / "t.h5ad")
    assert datasets.load(tmp_path / "t.h5ad").X.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    sparse_annotated(tmp_path / "t.h5ad", **part)
    with pytest.raises(ValueError, match=r"t\.h5ad must be a whole"):
        datasets.load(tmp_path / "t.h5ad")


def declared(path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("anndata")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(10**9, 4), chunks=(1000, 4), dtype="f8")


def far_cell(path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for _ in range(3):
        sheet.append([1.0, 2.0])
    book.save(path)
    import zipfile

    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    far = b'<dimension ref="A1:XFD20000"/><sheetData>'
    parts[name] = parts[name].replace(b"<sheetData>", far)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


BOMBS = {
    "t.mat": (
        lambda path: scipy.io.savemat(path, {"X": sp.csc_matrix((100_000, 30_000))}),
        "must fit into 8 GiB unpacked",
    ),
    "t.npz": (
        lambda path: sp.save_npz(path, sp.csr_array((100_000, 30_000))),
        "must fit into 8 GiB unpacked",
    ),
    "t.h5ad": (declared, "must fit into 8 GiB unpacked"),
    "t.xlsx": (far_cell, "20000 rows x 16384 columns; delete cells far from the table"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_sizes_are_asked_before_a_table_is_unpacked(tmp_path, name):
    make, said = BOMBS[name]
    make(tmp_path / name)
    with pytest.raises(ValueError, match=said):
        datasets.load(tmp_path / name)


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


@pytest.mark.parametrize(
    ("name", "package"),
    [("t.h5ad", "anndata"), ("t.nwb", "pynapple"), ("t.parquet", "pyarrow"), ("t.xlsx", "pandas")],
)
def test_a_library_that_is_missing_is_named_with_its_extra(tmp_path, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'needs the package {package}.*"ikd_graph\[\w+\]"'):
        datasets.load(write(tmp_path, name, "x"))


def test_text_and_arrays_need_no_extra(tmp_path, monkeypatch):
    for package in ("pandas", "h5py", "anndata", "openpyxl", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    np.save(tmp_path / "t.npy", np.eye(3))
    np.savez(tmp_path / "t.npz", X=np.eye(3))
    write(tmp_path, "t.csv", "a,b\n1,2\n3,4\n")
    for name in ("t.npy", "t.npz", "t.csv"):
        assert datasets.load(tmp_path / name).n_samples > 1
