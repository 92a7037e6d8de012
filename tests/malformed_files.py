"""Files that are wrong on purpose: name, bytes and flags of each."""

import io
import struct
import zipfile

import numpy as np
import scipy.io
from whole_files import COLUMNS, ROWS, has, hdf, members, saved, sheet, table, text, zipped

LINES = text().decode().splitlines()


def texts():
    """Tables of text that are none, or odd ones."""
    whole = "\n".join(LINES) + "\n"
    cells = ["NA", "5%", "1,5", "--", "0x10", "1_0", "1e999", "-inf", "nan", "١", "1 000", "#REF!"]
    cells += ["2020-01-02", "=1+1", '"', '""', '"1', "\x00", "\x1c", "\u2028", "\ufeff", "'1'", ""]
    cells += ["1;2", "9" * 400, "1e-400", "1e308", "-1e308", "True", "1j", "a" * 200_000, "\x0b"]
    found = [whole.replace(LINES[1].split(",")[0], cell, 1) for cell in cells]
    found += [whole.replace("a,", cell + ",", 1) for cell in cells]
    found += [whole + cell + "\n" for cell in cells]
    found += [
        "\n",
        ",",
        ",,,\n,,,\n",
        "a",
        "a,b\n",
        "1",
        "1\n2\n",
        "1,2\n",
        '"',
        '"\n"\n"\n',
        "\ufeff",
    ]
    found += [
        ",".join("0" * 30_000) + "\n",
        "1,2\n3\n",
        "1\n2,3\n",
        "a,a\n1,2\n3,4\n",
        "1,2\r3,4\r5,6",
    ]
    found += [
        "\n".join(["1"] * 5000),
        "1\t2\n3\t5\n",
        "1;2,3\n4;5,6\n",
        "x,y\n" * 9,
        "1999,2000,2001\n" * 3,
    ]
    found += [whole.replace("\n", ending) for ending in ("\r", "\r\n", "\n\r", "\n\n", "\n,,,,,\n")]
    found += [whole.replace(",", other) for other in (";", "\t", "|", " ", ", ", '","')]
    codings = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig")
    made = [one.encode("utf-8") for one in found] + [whole.encode(one) for one in codings]
    made += [b"\xff\xfe", b"\xef\xbb\xbf", whole.encode().replace(b"x", b"\xe9"), b"\0" * 500]
    made += [whole.encode()[:cut] for cut in (1, 5, 12, 30, 61)]
    return [(f"t.{ending}", one, ()) for one in made for ending in ("csv", "tsv")]


def npy(header, body=b"", version=(1, 0)):
    """A .npy file with a header as it is given."""
    told = header.encode("latin-1") if isinstance(header, str) else header
    size = struct.pack("<H" if version[0] == 1 else "<I", len(told))
    return b"\x93NUMPY" + bytes(version) + size + told + body


def headers():
    """Headers of arrays that say what is not so."""
    body = table().tobytes()
    shapes = [
        "(12, 5)",
        "(-12, 5)",
        "(10**9, 5)",
        f"({10**9}, 5)",
        f"({2**62}, 2)",
        f"({2**40}, 0)",
    ]
    shapes += [
        "()",
        "(0, 5)",
        "(12, 0)",
        "(60,)",
        "(2, 6, 5)",
        "12",
        "None",
        "(12.0, 5)",
        "(True, 5)",
    ]
    types = [
        "'<f8'",
        "'|O'",
        "'<U1000000000'",
        "'|V8'",
        "'<M8[D]'",
        "'<c16'",
        "'<f2'",
        "'<g'",
        "'|b1'",
    ]
    types += [
        "'|S0'",
        "'>i8'",
        "[('a', '<f8')]",
        "[('a', '<f8', (3,))] * 3",
        "{'x': 1}",
        "'no'",
        "8",
    ]
    pattern = "{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}"
    made = [npy(pattern.format("'<f8'", False, one), body) for one in shapes]
    made += [npy(pattern.format(one, False, "(12, 5)"), body * 2) for one in types]
    made += [npy(pattern.format("'<f8'", one, "(12, 5)"), body) for one in ("True", "3", "'x'")]
    good = pattern.format("'<f8'", False, "(12, 5)")
    made += [npy(good, body, one) for one in ((0, 0), (2, 0), (3, 0), (4, 0), (255, 255))]
    made += [
        npy(one, body) for one in ("", "{}", "(" * 500, "{" * 60, good[:-3], "__import__('os')")
    ]
    made += [npy(good, body[:-1]), npy(good), npy(good, body + b"x"), npy(b"\xff" * 60000, body)]
    made += [npy(good, b"\xff" * len(body)), npy(good, b"\0" * len(body)), npy(" " * 10**4 + good)]
    return made


def archives():
    """Archives of arrays, and what is called so."""
    X, good = table(), saved(np.save, table())
    made = [zipped([("X.npy", one)]) for one in headers()]
    made += [
        zipped([]),
        zipped([("X", b"junk")]),
        zipped([("../X.npy", good)]),
        good,
        b"PK\x05\x06",
    ]
    made += [
        zipped([("X.npy", good), ("y.npy", saved(np.save, np.arange(k)))]) for k in (0, 1, 3, 5, 12)
    ]
    made += [zipped([("a.npy", good), ("b.npy", good)]), zipped([("X.npy", good), ("y.npy", b"")])]
    others = (
        ("label_names", np.arange(3)),
        ("image_shape", np.array([1, 2, 3])),
        ("image_shape", X),
    )
    others += (("image_shape", np.array(["a", "b"])), ("feature_names", X), ("y", np.array(3)))
    others += (("image_shape", np.array([])), ("image_shape", np.array([-5, 0])), ("y", X[:, :0]))
    others += (("y", np.array([b"\xff"] * ROWS)), ("feature_names", np.array([b"\xff"] * COLUMNS)))
    others += (
        ("y", np.full(ROWS, 1e300)),
        ("y", np.full(ROWS, np.inf)),
        ("y", np.arange(ROWS) * 1j),
    )
    made += [saved(np.savez, X=X, **{key: value}) for key, value in others]
    out = io.BytesIO()
    header = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000), }")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        # Much more than it seems.
        archive.writestr("X.npy", header + b"\0" * 2**24)
    return [*made, out.getvalue()]


def old_matlab():
    """MATLAB files of versions 4 to 7."""
    good = saved(scipy.io.savemat, {"spikes": table()})
    made = [good[:cut] for cut in (1, 100, 124, 127, 128, 129, 136, 150, 200, len(good) - 1)]
    made += [
        good[:124] + two + good[128:] for two in (b"\0\0IM", b"\0\1MI", b"\xff\xffIM", b"\0\2IM")
    ]
    for at in range(128, 200, 4):
        made += [
            good[:at] + struct.pack("<i", one) + good[at + 4 :] for one in (-1, 2**31 - 1, 14, 0)
        ]
    X = table()
    words = {"X": X, "f": np.array(["a", 1, X[0]], object), "y": np.array([["ab"], ["c"]])}
    made += [saved(scipy.io.savemat, words), saved(scipy.io.savemat, {"X": {"X": {"X": 1.0}}})]
    made += [
        saved(scipy.io.savemat, {"X": np.zeros((0, 3))}),
        saved(scipy.io.savemat, {"s": "word"}),
    ]
    return made


def hdf_files():
    """HDF5 files that are not what their ending says, each under every ending of such files."""
    import h5py

    def with_parts(**parts):
        def fill(file):
            for name, value in parts.items():
                file[name.replace("__", "/")] = value

        return hdf(fill)

    def sparse(kind="csr_matrix", shape=(3, 3), data=(1.0, 2.0), at=(0, 1), starts=(0, 1, 2, 2)):
        def fill(file):
            group = file.create_group("X")
            group["data"], group["indices"], group["indptr"] = data, at, starts
            group["ir"], group["jc"] = at, starts
            group.attrs["encoding-type"], group.attrs["shape"] = kind, shape
            group.attrs["MATLAB_sparse"] = shape[0] if np.size(shape) else 3

        return hdf(fill)

    def circle(file):
        file["X"] = table()
        file["obs/again"] = file["obs"] if "obs" in file else h5py.SoftLink("/")

    def doubled(file):
        file["X"] = table()
        group = file.create_group("obs")
        for _ in range(40):
            group["a"] = inner = file.create_group(None)
            group["b"] = inner
            group = inner

    def huge(file):
        file.create_dataset("X", shape=(10**9, 10**5), chunks=(1, 1000), dtype="f8")

    def filtered(file):
        file.create_dataset("X", data=table(), chunks=(3, 5), shuffle=True, fletcher32=True)

    inf, far = float("inf"), 10**9
    made = [
        sparse(at=(0, far)),
        sparse(at=(0, -1)),
        sparse(starts=(0, far, 2, 2)),
        sparse(data=(1.0,)),
    ]
    made += [
        sparse(starts=(0, 2, 1, 2)),
        sparse(starts=(0, 1)),
        sparse(starts=()),
        sparse(shape=()),
    ]
    made += [
        sparse(shape=(far, far)),
        sparse(shape=(-3, 3)),
        sparse(shape=(3.0, 3.0)),
        sparse(shape="ab"),
    ]
    made += [sparse(at=(0.5, 1.5)), sparse(kind="coo"), sparse(kind=7), sparse(kind="csc_matrix")]
    made += [
        sparse(data=(1j, 2)),
        sparse(data=(b"a", b"b")),
        sparse(at=(2**40, 1)),
        sparse(data=(inf, 1)),
    ]
    made += [
        with_parts(X=one) for one in (1.0, "word", [b"a"], np.zeros((0, 3)), np.zeros((2, 2, 2)))
    ]
    made += [with_parts(X=table(), obs=one) for one in (1.0, np.arange(3), "word", table())]
    made += [
        with_parts(X=table(), var__a=1.0, obs__kind=one) for one in (np.arange(5), 1.0, table())
    ]
    made += [
        with_parts(X=table(), obs__kind__codes=one, obs__kind__categories=[b"a"])
        for one in (
            np.full(ROWS, 9),
            np.full(ROWS, 0.5),
            np.full(ROWS, -(2**40)),
            np.arange(3),
            1.0,
        )
    ]
    made += [with_parts(X=table(), obs__kind__codes=np.zeros(ROWS, int))]
    made += [
        with_parts(X=table(), obs__d__values=np.arange(ROWS), obs__d__mask=one)
        for one in (np.zeros(3, bool), 1.0, np.full(ROWS, 7))
    ]
    spikes = "units__spike_times", "units__spike_times_index"
    ends = ([3], [-1, 3], [far], [2, 1], [], [0.5, 3], [[1, 3]], 3, [b"a"])
    made += [with_parts(**{spikes[0]: [0.1, 0.2, 0.9], spikes[1]: one}) for one in ends]
    times = (
        [],
        [np.nan, 1.0],
        [inf, 0.0],
        [0.0, 1e300],
        [1e300, -1e300],
        [b"a"],
        1.0,
        [[0.0, 1.0]],
    )
    made += [with_parts(**{spikes[0]: one, spikes[1]: [np.size(one)]}) for one in times]
    made += [with_parts(units__spike_times=[1.0]), with_parts(units=1.0), with_parts(units__id=[1])]
    made += [
        with_parts(f__data=table(), f__timestamps=one)
        for one in (np.full(ROWS, np.nan), np.arange(3), [b"a"] * ROWS, 1.0, np.zeros((ROWS, 2)))
    ]
    made += [
        with_parts(f__data=table(), f__starting_time=1.0),
        with_parts(f__data=[], f__timestamps=[]),
    ]
    made += [hdf(one) for one in (circle, doubled, huge, filtered, lambda file: None)]
    for link in (h5py.ExternalLink("/etc/passwd", "/"), h5py.SoftLink("/X"), h5py.SoftLink("/no")):
        made.append(with_parts(X=link))
    return made


def frames():
    """Tables of typed columns that are odd."""
    import pandas

    stamps = pandas.date_range("2020", periods=4)
    columns = [
        [],
        [None] * 4,
        [[1], [2], [3], [4]],
        [{"a": 1}] * 4,
        stamps,
        [b"\xff"] * 4,
        ["1"] * 4,
    ]
    columns += [
        [1, None, 3, 4],
        [True] * 4,
        [10**18] * 4,
        [np.inf] * 4,
        ["x", "y", "x", "y"],
        [1e308] * 4,
    ]
    made = [pandas.DataFrame({"a": one}) for one in columns]
    made += [pandas.DataFrame({"b": [1.0, 2.0, 4.0, 3.0], "a": one}) for one in columns if len(one)]
    made += [pandas.DataFrame(), pandas.DataFrame(index=range(4)), pandas.DataFrame({"": [1, 2]})]
    made += [
        pandas.DataFrame(
            np.eye(3)[:, :2], columns=pandas.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
        )
    ]
    made += [pandas.DataFrame({"a": [1.0, 2.0, 5.0]}, index=list("xyz"))]
    return [saved(lambda out, one=one: one.to_parquet(out)) for one in made]


def sheets():
    """Sheets that are odd, and archives that are no sheets."""
    parts = members(sheet())
    name = "xl/worksheets/sheet1.xml"
    xml = dict(parts)[name].decode()
    rows = xml[xml.index("<sheetData>") : xml.index("</sheetData>")]
    far = '<sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
    far += '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    laughs = '<!DOCTYPE z [<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 20}">' for a, b in zip("abcdefg", "bcdefgh", strict=True)
    )
    changed = [xml.replace(rows, far), xml.replace(rows, "<sheetData>"), xml[: len(xml) // 2], ""]
    changed += [
        xml.replace("<v>", "<v>9" * 50),
        xml.replace("<v>", "<v>x"),
        xml.replace('t="s"', 't="q"'),
    ]
    changed += [
        xml.replace(' r="', ' r="-'),
        xml.replace('r="A', 'r="ZZZZZZ'),
        xml.replace("<v>", "<v>-"),
    ]
    changed += [laughs + "]>" + xml.replace("<v>", "<v>&h;"), xml.replace("row", "rox")]
    made = [zipped([(n, one if n == name else data) for n, data in parts]) for one in changed]
    made += [zipped([p for p in parts if p[0] != left]) for left, _ in parts]
    return [*made, zipped([]), zipped([("xl/workbook.xml", "<a/>")])]


def malformed_files():
    """All of them."""
    X = saved(np.save, table())
    found = [*texts(), *(("t.npy", one, ()) for one in headers())]
    found += [("t.npz", one, ()) for one in archives()] + [
        ("t.mat", one, ()) for one in old_matlab()
    ]
    endings = ["csv", "tsv", "npy", "npz", "mat"]
    if has("h5py"):
        endings += ["h5ad", "nwb"]
        made = hdf_files()
        found += [("t.h5ad", one, ()) for one in made] + [("t.mat", one, ()) for one in made]
        found += [("t.h5ad", one, ("--labels", "kind")) for one in made]
        found += [("t.nwb", one, ("--bin", "0.1")) for one in made]
        found += [("t.nwb", one, ()) for one in made]
    if has("pandas", "pyarrow"):
        endings.append("parquet")
        found += [("t.parquet", one, ()) for one in frames()]
    if has("pandas", "openpyxl"):
        endings.append("xlsx")
        found += [("t.xlsx", one, ()) for one in sheets()]
    starts = (
        b"",
        b"\0",
        b"junk",
        b"PK\3\4",
        b"\x89HDF\r\n\x1a\n",
        b"PAR1",
        b"MATLAB 7.3",
        X,
        text(),
    )
    found += [(f"t.{ending}", one, ()) for one in starts for ending in endings]
    return found
