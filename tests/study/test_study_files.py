"""Files as users have them: MATLAB, NWB, both generations of .h5ad, frames, messy tables."""

import sys
import types

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from ikd_graph.study import datasets
from ikd_graph.study.datasets import Reading, TableError, hdf
from ikd_graph.study.datasets.frames import FrameSource

N_ROWS, N_UNITS = 30, 6


@pytest.fixture
def spikes():
    rng = np.random.default_rng(0)
    return rng.poisson(3.0, size=(N_ROWS, N_UNITS)), np.linspace(0.0, 50.0, N_ROWS)


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


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


def test_sparse_matlab_arrays_are_unpacked_within_limits(tmp_path, spikes):
    scipy.io.savemat(tmp_path / "t.mat", {"spikes": sp.csc_matrix(spikes[0].astype(float))})
    np.testing.assert_array_equal(datasets.load(tmp_path / "t.mat").X, spikes[0])
    scipy.io.savemat(tmp_path / "u.mat", {"spikes": sp.csc_matrix((100_000, 30_000))})
    with pytest.raises(ValueError, match="must fit into 8 GiB unpacked"):
        datasets.load(tmp_path / "u.mat")


def test_links_without_end_are_refused(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(hdf, "MOST_PARTS", 500)
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["X"] = np.eye(3)
        group = file.create_group("obs")
        for _ in range(40):
            group["a"] = group["b"] = inner = file.create_group(None)
            group = inner
    with pytest.raises(ValueError, match="must have at most 500 parts, got more"):
        datasets.load(tmp_path / "t.h5ad")


def test_a_class_that_is_not_there_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["X"] = np.eye(3)
        file["obs/kind/codes"], file["obs/kind/categories"] = [0, 1, 2], [b"a", b"b"]
    with pytest.raises(ValueError, match=r"t\.h5ad must be a whole .*class of number 2 among 2"):
        datasets.load(tmp_path / "t.h5ad", label_column="kind")


def recording(path, counts, position, step=0.5):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        # Within its bin each spike has a place of its own, the first of all at the very start.
        per_unit = [
            np.concatenate([(k + np.linspace(0.0, 0.9, c)) * step for k, c in enumerate(column)])
            for column in counts.T
        ]
        file["units/spike_times"] = np.concatenate(per_unit)
        file["units/spike_times_index"] = np.cumsum([len(times) for times in per_unit])
        file["units/id"] = np.arange(7, 7 + N_UNITS)
        behaviour = file.create_group("processing/behavior/Position/position")
        behaviour["data"] = position[: N_ROWS - 5]
        behaviour["timestamps"] = (np.arange(N_ROWS - 5) + 0.5) * step
        field = file.create_group("acquisition/field")
        field["data"] = np.arange(40.0).reshape(20, 2)
        field.create_dataset("starting_time", data=1.0).attrs["rate"] = 4.0


def test_spike_times_of_a_recording_are_counted_in_bins(tmp_path, spikes):
    counts, position = spikes
    recording(tmp_path / "t.nwb", counts, position)
    with pytest.raises(ValueError, match=r"spike times of 6 units over .* --bin 0.1"):
        datasets.load(tmp_path / "t.nwb")
    data = datasets.load(tmp_path / "t.nwb", label_column="position", reading=Reading(bin=0.5))
    np.testing.assert_array_equal(data.X, counts)
    assert data.feature_names[:2] == ("unit 7", "unit 8")
    assert (data.row_title, data.row_names[:2]) == ("time", ("0.25", "0.75"))
    # Five bins lie after the last known position.
    np.testing.assert_array_equal(data.y[:25], position[:25])
    assert np.isnan(data.y[26:]).all()
    assert "bins of 0.5 s" in data.notes[0]
    field = datasets.load(tmp_path / "t.nwb", reading=Reading(key="field"))
    assert field.X.shape == (20, 2)
    assert field.row_names[:2] == ("1", "1.25")
    with pytest.raises(ValueError, match=r"--key must name one series .*field \(20, 2\) or units"):
        datasets.load(tmp_path / "t.nwb", reading=Reading(key="nothing"))


def test_bins_are_for_recordings(tmp_path):
    with pytest.raises(ValueError, match=r"--bin must not be given for t\.csv"):
        datasets.load(write(tmp_path, "1,2\n3,4\n"), reading=Reading(bin=1.0))


def test_annotations_of_the_newest_generation(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["X"] = np.eye(3)
        obs = file.create_group("obs")
        obs.attrs["_index"] = "barcode"
        obs["barcode"] = np.array([b"c1", b"c2", b"c3"])
        cluster = obs.create_group("cluster")
        cluster["codes"] = np.array([1, 0, 1], dtype=np.int8)
        # Text that may be missing is a group of values and a mask since anndata 0.12.
        cluster["categories/values"] = np.array([b"late", b"early"])
        cluster["categories/mask"] = np.array([False, False])
        obs["depth/values"], obs["depth/mask"] = np.array([3, 4, 5]), np.array([0, 1, 0], bool)
        obs["good/values"], obs["good/mask"] = np.array([1, 0, 1], bool), np.array([0, 0, 1], bool)
        file["layers/counts"] = 2 * np.eye(3)
        file["uns/cluster_colors"] = np.array([b"#112233ff", b"#445566ff"])
        obs["site/codes"], obs["site/categories"] = np.array([0, 1, 0]), np.array([b"x", b"y"])
        file["uns/site_colors"] = np.array([b"red; background: url(http://a)", b"#445566"])
    columns = ("cluster", "depth", "good", "site")
    data = datasets.load(tmp_path / "t.h5ad", label_column=columns)
    assert data.labels.tolist() == ["early", "late", "early"]
    assert (data.row_title, data.row_names) == ("barcode", ("c1", "c2", "c3"))
    np.testing.assert_array_equal(data.other_labels[0].y, [3.0, np.nan, 5.0])
    assert data.other_labels[1].texts == ["True", "False", "missing"]
    assert [one.palette for one in data.all_labels] == [("#112233", "#445566"), (), (), ()]
    assert "barcode" not in data.notes[0].split("--labels")[-1].split("row names")[0]
    for key in ("counts", "layers/counts"):
        assert datasets.load(tmp_path / "t.h5ad", reading=Reading(key=key)).X[0, 0] == 2.0


MESSY = "time,site,a,b,c\n" + "".join(
    f"{k / 2},{'north' if k % 3 else 'south'},{k},"
    f"{'' if k == 3 else k * k},{'err' if k == 5 else 1 - k}\n"
    for k in range(12)
)


def test_everything_wrong_with_a_table_is_said_at_once_with_its_cure(tmp_path):
    path = write(tmp_path, MESSY.replace("site", "kind").replace("time,", "when,", 1))
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
        write(tmp_path, MESSY),
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
    path = write(tmp_path, "ab,ac,bc,label\n1,2,3,x\n4,5,6,y\n7,8,9,x\n")
    data = datasets.load(path, reading=Reading(columns=("a*",), drop=("?c",)))
    assert data.feature_names == ("ab",)
    assert data.label_title == "label"
    with pytest.raises(TableError, match=r"--drop z. fits no column of t\.csv: ab, ac, bc, label"):
        datasets.load(path, reading=Reading(drop=("z?",)))


def test_a_transposed_table_finds_its_labels_in_a_row(tmp_path):
    path = write(tmp_path, "gene,c1,c2,c3\nlabel,x,y,x\ng1,1,2,3\ng2,4,5,7\n")
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
    assert "1 of them without one stay at 0" in data.notes[-1]
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
    path = write(tmp_path, "a,b,place,kind\n1,2,.5,0\n3,4,,1\n5,6,1.5,\n7,8,2.5,1\n")
    data = datasets.load(path, label_column=("place", "kind"))
    np.testing.assert_array_equal(data.y, [0.5, np.nan, 1.5, 2.5])
    assert data.label_names == ()
    assert data.other_labels[0].names == ("0", "1", "missing")
    assert "'place' (a measurement, 1 missing)" in data.notes[0]


def test_dates_are_no_labels(tmp_path):
    rows = "".join(f"{k},{k * k},2020-01-{k + 1:02d}\n" for k in range(9))
    with pytest.raises(TableError, match=r"9 of 9 cells are dates\); --drop day or --index day"):
        datasets.load(write(tmp_path, "a,b,day\n" + rows))


def test_frames_say_the_same_as_text(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "a": [1.0, np.nan, 3.0],
            "n": pandas.array([1, None, 3], dtype="Int64"),
            "day": pandas.date_range("2020-01-01", periods=3),
            "kind": pandas.Categorical(["x", "y", "x"]),
        }
    )
    source = FrameSource("t.parquet", frame)
    assert source.words == {2, 3}
    monkeypatch.setitem(sys.modules, "pyarrow", types.ModuleType("pyarrow"))
    monkeypatch.setattr(pandas, "read_parquet", lambda path: frame)
    path = write(tmp_path, "x", "t.parquet")
    with pytest.raises(TableError) as caught:
        datasets.load(path)
    assert len(caught.value.problems) == 3
    data = datasets.load(path, reading=Reading(index="day", impute="median"))
    assert data.X.tolist() == [[1, 1], [2, 2], [3, 3]]
    assert data.labels.tolist() == ["x", "y", "x"]
    genes = pandas.DataFrame({"gene": ["g1", "g2"], "c1": [1, 2], "c2": [3, 4], "c3": [5, 7]})
    monkeypatch.setattr(pandas, "read_parquet", lambda path: genes.set_index("gene"))
    turned = datasets.load(path, reading=Reading(transpose=True))
    assert turned.X.tolist() == [[1, 2], [3, 4], [5, 7]]
    assert (turned.feature_names, turned.row_names) == (("g1", "g2"), ("c1", "c2", "c3"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="needs the package pyarrow"):
        datasets.load(path)


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
