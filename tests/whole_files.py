"""Small whole files of every ending that can be read here, as bytes: what damage begins with."""

import importlib.util
import io
import zipfile

import numpy as np
import scipy.io
import scipy.sparse as sp

ROWS, COLUMNS = 12, 5


def table(rows=ROWS):
    """Numbers that are no two alike."""
    rng = np.random.default_rng(7)
    return np.round(rng.normal(size=(rows, 2)) @ rng.normal(size=(2, COLUMNS)), 3) + 4.0


def has(*names):
    """Whether packages are installed."""
    return all(importlib.util.find_spec(name) for name in names)


def text(rows=ROWS, delimiter=",", header=True, words=True, quote=""):
    """A table of text cells."""
    head = [["a", "b", "c", "d", "e", *(["kind"] * words)]] * header
    body = [[*map(str, r), *(["xy"[k % 2]] * words)] for k, r in enumerate(table(rows))]
    lines = [delimiter.join(quote + cell + quote for cell in line) for line in head + body]
    return ("\n".join(lines) + "\n").encode()


def saved(save, *given, **named):
    """Bytes that a function writes to an open file."""
    out = io.BytesIO()
    save(out, *given, **named)
    return out.getvalue()


def hdf(fill):
    """Bytes of an HDF5 file."""
    import h5py

    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        fill(file)
    return out.getvalue()


def of_matlab(file):
    """Parts of a 7.3 file: a table, a sparse one, a struct, words."""
    import h5py

    file["spikes"] = table().T
    file["place/position"] = np.arange(float(ROWS))[None, :]
    column = sp.csc_matrix(np.eye(ROWS)[:, :4])
    group = file.create_group("few")
    group["data"], group["ir"], group["jc"] = column.data, column.indices, column.indptr
    group.attrs["MATLAB_sparse"] = np.uint64(ROWS)
    cell = file.create_dataset("#refs#/a", data=np.array([[97, 98]], "u2"))
    cell.attrs["MATLAB_class"] = np.bytes_("char")
    file.create_dataset("kind", data=[[cell.ref] * ROWS], dtype=h5py.ref_dtype)
    file["kind"].attrs["MATLAB_class"] = np.bytes_("cell")


def of_annotated(sparse):
    """Parts of an annotated matrix, dense or not, with classes."""

    def fill(file):
        if sparse:
            X = sp.csr_matrix(np.where(table() > 4.0, table(), 0.0))
            group = file.create_group("X")
            group["data"], group["indices"], group["indptr"] = X.data, X.indices, X.indptr
            group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", X.shape
        else:
            file.create_dataset("X", data=table(), chunks=(4, COLUMNS), compression="gzip")
        for frame, size, letter in (("obs", ROWS, b"c"), ("var", COLUMNS, b"g")):
            file[f"{frame}/_index"] = [letter + str(k).encode() for k in range(size)]
            file[frame].attrs["_index"] = "_index"
        file["obs/kind/codes"] = np.arange(ROWS, dtype=np.int8) % 2
        file["obs/kind/categories"] = [b"early", b"late"]
        file["obs/depth/values"] = np.arange(ROWS)
        file["obs/depth/mask"] = np.arange(ROWS) == 3

    return fill


def of_recording(file):
    """Parts of a recording: spike times, a position, a field."""
    rng = np.random.default_rng(3)
    file["units/spike_times"] = np.sort(rng.random(300)) * 6.0
    file["units/spike_times_index"] = np.arange(60, 301, 60)
    place = file.create_group("processing/behavior/position")
    place["data"], place["timestamps"] = np.arange(20.0), np.arange(20) * 0.3
    field = file.create_group("acquisition/field")
    field["data"] = table()
    field.create_dataset("starting_time", data=0.5).attrs["rate"] = 2.0


def frame():
    """A pandas table."""
    import pandas

    made = pandas.DataFrame(table(), columns=list("abcde"))
    made["kind"] = pandas.Categorical(["x", "y"] * (ROWS // 2))
    made["count"] = np.arange(ROWS)
    return made


def sheet():
    """Bytes of an .xlsx file."""
    out = io.BytesIO()
    frame().to_excel(out, index=False)
    return out.getvalue()


def whole_files():
    """Name, bytes, and flags with which they are read, of files of each ending."""
    X, y = table(), np.arange(ROWS) % 3
    arrays = {"X": X, "y": y, "label_names": np.array(["u", "v", "w"])}
    struct = {"spikes": X, "place": {"position": np.arange(float(ROWS)), "s": "word"}}
    struct["few"] = sp.csc_matrix(np.eye(3))
    spikes = ("--key", "spikes")
    found = [
        ("t.csv", text(), ()),
        ("t.csv", text(header=False, words=False), ("--impute", "median")),
        ("t.csv", text(delimiter=";", quote='"'), ()),
        ("t.csv", text(rows=260), ()),
        ("t.tsv", text(delimiter="\t"), ()),
        ("t.npy", saved(np.save, X), ()),
        ("t.npy", saved(np.save, np.asfortranarray(X.astype(">f4"))), ()),
        ("t.npz", saved(np.savez, **arrays), ()),
        ("t.npz", saved(np.savez_compressed, **arrays), ()),
        ("t.mat", saved(scipy.io.savemat, struct), spikes),
        ("t.mat", saved(scipy.io.savemat, struct, do_compression=True), spikes),
        ("t.mat", saved(scipy.io.savemat, {"spikes": X}, format="4"), ()),
    ]
    if has("h5py"):
        made = hdf(of_matlab)
        found += [
            ("t.mat", made, (*spikes, "--labels", "place.position,kind")),
            ("t.mat", made, ("--key", "few")),
            ("t.h5ad", hdf(of_annotated(False)), ()),
            ("t.h5ad", hdf(of_annotated(True)), ("--labels", "kind,depth")),
            ("t.nwb", hdf(of_recording), ("--bin", "0.5")),
            ("t.nwb", hdf(of_recording), ("--key", "field")),
        ]
    if has("pandas", "pyarrow"):
        found.append(("t.parquet", saved(lambda out: frame().to_parquet(out)), ()))
        plain = saved(lambda out: frame().to_parquet(out, compression=None, row_group_size=5))
        found.append(("t.parquet", plain, ()))
    if has("pandas", "openpyxl"):
        found.append(("t.xlsx", sheet(), ()))
    return found


def members(data):
    """Names and bytes of what a zip archive holds."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def zipped(parts):
    """Bytes of a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts:
            archive.writestr(name, data)
    return out.getvalue()
