"""Names, index and labels of a file are found before anything is exchanged, and can be named."""

import numpy as np
import pytest

from ikd_graph import datasets
from ikd_graph.datasets import Reading, read_file

pd = pytest.importorskip("pandas")


def numbers(n=30, p=6):
    return np.random.default_rng(0).normal(size=(n, p)).round(4)


def frame(n=30, p=6):
    return pd.DataFrame(numbers(n, p), columns=[f"c{k}" for k in range(p)])


@pytest.fixture
def read(tmp_path):
    def read(text, name="t.csv", **reading):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_file(path, reading=Reading(**reading))

    return read


def plain(data=None, **options):
    return (frame() if data is None else data).to_csv(index=False, **options)


def three_lines():
    """Names as DeepLabCut writes them."""
    wide = frame()
    names = [("DLC", part, c) for part in ("nose", "tail") for c in ("x", "y", "likelihood")]
    wide.columns = pd.MultiIndex.from_tuples(names, names=["scorer", "bodyparts", "coords"])
    return wide.to_csv()


HEADS = {
    "one line": (plain, "c0"),
    "a title": (lambda: "Experiment 7\n" + plain(), "c0"),
    "three titles": (lambda: "Rig 3\nMouse: 7\n2020-01-02\n" + plain(), "c0"),
    "a title with commas": (lambda: "rig 3, mouse 7, in the dark\n" + plain(), "c0"),
    "a title and a blank line": (lambda: "Experiment 7\n\n" + plain(), "c0"),
    "three lines": (three_lines, "nose_x"),
    "two lines": (lambda: "a,,,b,,\nx,y,z,x,y,z\n" + plain(header=False), "a_x"),
    "units": (lambda: plain().replace("\n", "\n" + ",".join(["mV"] * 6) + "\n", 1), "c0"),
    "columns of nothing before": (
        lambda: "".join(f",,{line}\n" for line in plain().splitlines()), "c0"
    ),
    "years": (lambda: plain(frame().set_axis(range(2000, 2006), axis=1)), "2000"),
    "years down": (lambda: plain(frame().set_axis(range(2005, 1999, -1), axis=1)), "2005"),
    "words": (lambda: plain().replace("c", "signal of c"), "signal of c0"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HEADS)
def test_the_names_end_where_the_numbers_begin(read, kind):
    text, first = HEADS[kind]
    data = read(text())
    np.testing.assert_array_equal(data.X, numbers())
    assert data.feature_names[0] == first
    assert first in data.notes[0]


def test_years_after_columns_of_words_and_wavelengths_are_names(read):
    table = frame().set_axis([str(year) for year in range(2000, 2006)], axis=1)
    table.insert(0, "country", [f"land {k}" for k in range(30)])
    table.insert(1, "code", [f"L{k}" for k in range(30)])
    data = read(plain(table), drop=("code",))
    assert data.feature_names == tuple(map(str, range(2000, 2006)))
    assert data.row_names[:2] == ("land 0", "land 1")
    waves = [850 + 2.5 * k + 0.01 * k**2 for k in range(12)]
    spectra = pd.DataFrame(numbers(30, 12), columns=waves)
    np.testing.assert_array_equal(read(plain(spectra)).X, numbers(30, 12))


@pytest.mark.filterwarnings("ignore:the first row of t.csv:UserWarning")
def test_rows_of_numbers_are_not_taken_for_names(read):
    for table in (
        frame(),
        pd.DataFrame(np.arange(36).reshape(6, 6) * 7 % 37),
        pd.DataFrame(np.cumsum(np.abs(numbers(30, 10)), axis=1)),
        pd.DataFrame(np.random.default_rng(0).poisson(3, (30, 6))),
    ):
        assert len(read(plain(table, header=False)).X) == len(table)


def test_lines_of_names_can_be_named(read):
    text = "7,8,9,7,8,9\n1,2,4,8,16,32\n" + plain(header=False)
    assert len(read(text).X) == 32
    data = read(text, header="2")
    assert data.feature_names == ("1", "2", "4", "8", "16", "32")
    assert len(data.X) == 30
    assert read(text, header="1-2").feature_names[:2] == ("7_1", "8_2")
    years = HEADS["years"][0]()
    assert len(read(years, no_header=True).X) == 31
    for wrong in ("0", "x", "3-", "-2"):
        with pytest.raises(ValueError, match="header must be the number of a line"):
            read(text, header=wrong)
    with pytest.raises(ValueError, match=r"--header must be the number of a line of t\.csv"):
        read(text, header="32")


def exchanged_file():
    """Ten series in columns, after a clock, a column of words and a column of groups."""
    table = pd.DataFrame(numbers(30, 10), columns=[f"s{k}" for k in range(10)])
    table.insert(0, "time", np.arange(30) * 0.5)
    table.insert(1, "event", [f"e{k % 4}" for k in range(30)])
    table.insert(2, "gene", [f"g{k}" for k in range(30)])
    return table


@pytest.mark.parametrize(
    ("reading", "names"),
    [
        ({}, "gene"),
        ({"index": "time"}, "time"),
        ({"index": "gene", "drop": ("time", "event")}, "gene"),
        ({"drop": ("gene", "time")}, None),
        ({"index": "gene", "labels": ("event",)}, "gene"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_columns_are_named_as_in_the_file_before_they_are_exchanged(
    tmp_path, read, reading, names, kind
):
    pytest.importorskip({"csv": "pandas", "xlsx": "openpyxl", "parquet": "pyarrow"}[kind])
    table, path = exchanged_file(), tmp_path / f"t.{kind}"
    {"csv": table.to_csv, "xlsx": table.to_excel, "parquet": table.to_parquet}[kind](
        path, index=False
    )
    data = read_file(path, reading=Reading(transpose=True, **reading))
    np.testing.assert_allclose(data.X, numbers(30, 10).T)
    assert data.row_names == tuple(f"s{k}" for k in range(10))
    expected = [] if names is None else table[names].tolist()
    shown = [float(name) if names == "time" else name for name in data.feature_names]
    assert shown == expected
    # No line repeats all names.
    assert max(map(len, data.notes)) < 400


def test_a_clock_is_no_point(read):
    table = frame()
    table.insert(0, "time_s", np.arange(30) * 0.25)
    assert read(plain(table), transpose=True).feature_names[1] == "0.25"
    assert read(plain(table), transpose=True).X.shape == (6, 30)
    # A column that only is called so is a measurement.
    table["time_s"] = numbers()[:, 0]
    assert read(plain(table), transpose=True).X.shape == (7, 30)


def test_faults_of_an_exchanged_table_are_placed_as_in_the_file(read):
    table = frame()
    table.insert(0, "date", pd.date_range("2020", periods=30).strftime("%Y-%m-%d"))
    table.iloc[20, 2] = np.nan
    with pytest.raises(ValueError, match="row 22, column 'c1'"):
        read(plain(table), transpose=True)
    text = plain(table).replace(str(table.iloc[10, 3]), "oops")
    with pytest.raises(ValueError, match="'oops' in row 12, column 'c2'"):
        read(text, transpose=True, drop=("2020-01-21",))


def test_rows_of_labels_and_points_can_be_chosen_by_the_names_of_rows(read):
    text = "gene,c1,c2,c3,c4\nkind,x,y,x,y\ng1,1,2,3,4\ng2,4,5,7,9\ng3,5,5,2,1\n"
    data = read(text, transpose=True, labels=("kind",), drop=("g2", "c3"))
    assert data.X.tolist() == [[1, 5], [2, 5], [4, 1]]
    assert data.labels.tolist() == ["x", "y", "y"]
    assert data.feature_names == ("g1", "g3")


def test_numbers_of_which_most_occur_once_are_a_measurement(read):
    for values, measured in (
        (range(100, 130), True),
        ([*range(100, 125), 100, 101, 102, 103, 104], True),
        ([k % 5 for k in range(30)], False),
        ([k // 2 for k in range(30)], False),
    ):
        data = read(plain(frame().assign(label=list(values))))
        assert (not data.label_names) == measured


def test_texts_in_utf_16_need_no_mark(read):
    for encoding in ("utf-16-le", "utf-16-be", "utf-16"):
        np.testing.assert_array_equal(read(plain().encode(encoding)).X, numbers())


def test_a_sheet_of_notes_is_passed_over(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = "Read me"
    book.active["A2"] = "written by hand"
    sheet = book.create_sheet("data")
    sheet["C3"] = "My experiment"
    for row in [list(frame()), *numbers().tolist()]:
        sheet.append(["", "", *row])
    book.save(tmp_path / "t.xlsx")
    data = read_file(tmp_path / "t.xlsx")
    np.testing.assert_array_equal(data.X, numbers())
    assert "sheet 'data' (of 2" in data.notes[0]


@pytest.mark.parametrize("name", ["sample", "Subject", "cell_id", "no."])
def test_a_first_column_that_counts_the_rows_names_them(read, name):
    table = frame()
    table.insert(0, name, range(1, 31))
    data = read(plain(table))
    np.testing.assert_array_equal(data.X, numbers())
    assert data.row_names[:2] == ("1", "2")
    table[name] = np.arange(30) % 7
    assert read(plain(table)).X.shape == (30, 7)


@pytest.mark.parametrize("seed", range(60))
def test_tables_written_in_every_way_come_back(read, seed):
    r = np.random.default_rng(seed)
    n, p = int(r.integers(4, 40)), int(r.integers(3, 15))
    X = [
        r.normal(size=(n, p)).round(4),
        r.poisson(3, (n, p)),
        (1e5 * r.normal(size=(n, p))).round(1),
    ]
    table = pd.DataFrame(X[seed % 3])
    heads = [[f"col{k}" for k in range(p)], [str(1990 + k) for k in range(p)], None]
    heads.append([f"mean of {k}" for k in range(p)])
    head = heads[seed % 4]
    table.columns = table.columns if head is None else head
    if r.random() < 0.3:
        table["label"] = np.array(["red", "green", "blue"])[r.integers(0, 3, n)]
    if seed % 5 in (1, 2):
        dates = pd.date_range("2020", periods=n).strftime("%Y-%m-%d")
        table.insert(0, "name", [f"item {k}" for k in range(n)] if seed % 5 == 1 else dates)
    titles = int(r.integers(0, 3)) * (seed % 4 in (0, 3))
    text = "".join(f"Line {k} of notes\n" for k in range(titles))
    text += plain(table, header=head is not None, sep=[",", ";", "\t"][int(r.integers(3))])
    data = read(text)
    np.testing.assert_allclose(data.X, X[seed % 3])
    assert data.feature_names == (tuple(head) if head else ())
    np.testing.assert_allclose(read(text, transpose=True).X, X[seed % 3].T)


def test_lines_above_the_names_are_counted(tmp_path):
    file = tmp_path / "titled.csv"
    body = "\n".join(f"r{k},{k}.5,{k * k}.25" for k in range(5))
    file.write_text(f"My experiment\n\nanother note\nrow,a,b\n{body}\n")
    data = read_file(file)
    said = " ".join([*data.remarks, *data.notes])
    assert "lines 1, 3 above the names (My experiment) were left out" in said


def test_labels_with_decimal_commas_are_a_measurement(tmp_path):
    lines = ["sample;a;b;fat %"]
    lines += [f"S{k};{k},5;{k % 3},25;{20 + k / 10:.1f}".replace(".", ",") for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    read = Reading(labels=("fat %",), decimal=",")
    labels = datasets.load(tmp_path / "t.csv", reading=read).all_labels[0]
    assert labels.names == ()
    np.testing.assert_allclose(labels.y, 20 + np.arange(12) / 10)
    words = [f"{line.rpartition(';')[0]};{'fat, very' if k % 2 else 'lean'}" for k, line in
             enumerate(lines[1:])]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(["sample;a;b;fat %", *words]))
    labels = datasets.load(tmp_path / "t.csv", reading=read).all_labels[0]
    assert labels.names == ("fat, very", "lean")


def test_points_of_a_table_on_its_side_are_the_first_named(tmp_path):
    rows = [f"{k},{k * k % 7},{k % 3}.5" for k in range(9)]
    (tmp_path / "t.csv").write_text("\n".join(["time (s),FPz,Cz", *rows]))
    data = datasets.load(tmp_path / "t.csv", reading=Reading(transpose=True))
    assert "names of points: line 1 (FPz, Cz);" in data.notes[0]


def test_names_that_are_mostly_numbers_are_found_by_the_advice(tmp_path):
    lines = ["sample,850,852,fat", *(f"S{k},{k}.5,{k % 3}.25,{k}.1" for k in range(12))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match="--header 1 takes such a row for names, or correct it"):
        datasets.load(tmp_path / "t.csv")
    data = datasets.load(tmp_path / "t.csv", reading=Reading(header="1"))
    assert data.feature_names == ("850", "852", "fat")
