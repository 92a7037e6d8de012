"""Files as programs of laboratories write them: what comes out is what went in."""

import gzip
import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from ikd_graph.datasets import Reading, read_file

COUNTS = np.random.default_rng(0).poisson(1.0, size=(30, 12)).astype(float)
CELLS = tuple(f"cell{k}" for k in range(30))
GENES = tuple(f"gene{k}" for k in range(12))


def check(path, **reading):
    data = read_file(path, reading=Reading(**reading))
    np.testing.assert_array_equal(data.X, COUNTS)
    assert data.row_names == CELLS
    assert data.feature_names == GENES
    turned = read_file(path, reading=Reading(transpose=True, **reading))
    np.testing.assert_array_equal(turned.X, COUNTS.T)
    assert (turned.row_names, turned.feature_names) == (GENES, CELLS)
    return data


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("start", ["", "GSM1_"])
def test_a_market_matrix_with_its_barcodes_and_genes(tmp_path, packed, start):
    path = tmp_path / f"{start}matrix.mtx"
    scipy.io.mmwrite(path, sp.coo_matrix(COUNTS.T))
    names = {
        "barcodes": "\n".join(CELLS),
        "genes": "\n".join(f"E{k}\t{g}" for k, g in enumerate(GENES)),
    }
    for kind, text in names.items():
        name, content = f"{start}{kind}.tsv", (text + "\n").encode()
        if packed:
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (tmp_path / name).write_bytes(content)
    if packed:
        (tmp_path / f"{start}matrix.mtx.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / f"{start}matrix.mtx.gz"
    check(path)


def test_a_market_matrix_alone_is_taken_as_it_stands(tmp_path):
    scipy.io.mmwrite(tmp_path / "t.mtx", sp.coo_matrix(COUNTS))
    np.testing.assert_array_equal(read_file(tmp_path / "t.mtx").X, COUNTS)


@pytest.mark.parametrize("kind", ["hdf5", "sparse", "dense"])
def test_a_biom_table(tmp_path, kind):
    path, X = tmp_path / "t.biom", sp.csr_matrix(COUNTS.T)
    if kind == "hdf5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file.attrs["shape"] = X.shape
            for key in ("data", "indices", "indptr"):
                file[f"observation/matrix/{key}"] = getattr(X, key)
            file["observation/ids"] = np.array(GENES, "S")
            file["sample/ids"] = np.array(CELLS, "S")
    else:
        pairs = sp.coo_matrix(X)
        triples = zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True)
        data = list(map(list, triples)) if kind == "sparse" else COUNTS.T.tolist()
        record = {"shape": X.shape, "matrix_type": kind, "data": data}
        record |= {"rows": [{"id": g} for g in GENES], "columns": [{"id": c} for c in CELLS]}
        path.write_text(json.dumps(record))
    check(path)


def test_a_loom_file_with_its_attributes(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.loom", "w") as file:
        file["matrix"] = COUNTS.T
        file["col_attrs/CellID"] = np.array(CELLS, "S")
        file["col_attrs/cluster"] = np.array(["a", "b", "c"] * 10, "S")
        file["row_attrs/Gene"] = np.array(GENES, "S")
    check(tmp_path / "t.loom")
    data = read_file(tmp_path / "t.loom", label_column="cluster")
    assert data.label_names == ("a", "b", "c")


@pytest.mark.parametrize("kind", ["inside", "struct", "beside"])
def test_a_data_set_of_eeglab(tmp_path, kind):
    places = np.array([(c,) for c in CELLS], dtype=[("labels", object)])
    eeg = {"data": COUNTS, "nbchan": 30, "pnts": 12, "trials": 1, "chanlocs": places}
    if kind == "beside":
        COUNTS.astype("<f4").T.tofile(tmp_path / "t.fdt")
        eeg["data"] = "t.fdt"
    path = tmp_path / "t.set"
    with path.open("wb") as file:
        scipy.io.savemat(file, {"EEG": eeg} if kind == "struct" else eeg)
    data = read_file(path)
    np.testing.assert_array_equal(data.X, COUNTS)
    assert (data.row_names, data.row_title) == (CELLS, "channel")
    assert read_file(path, reading=Reading(transpose=True)).feature_names == CELLS


@pytest.mark.parametrize("ending", ["mat", "npy", "npz"])
def test_an_array_of_three_axes_is_unfolded_when_asked(tmp_path, ending):
    X, path = np.random.default_rng(0).normal(size=(7, 5, 4)), tmp_path / f"t.{ending}"
    if ending == "npy":
        np.save(path, X)
    elif ending == "npz":
        np.savez(path, X=X)
    else:
        scipy.io.savemat(path, {"X": X})
    with pytest.raises(ValueError, match=r"shape \(7, 5, 4\); --unfold 1 takes the 7"):
        read_file(path)
    for axis in (1, 2, 3):
        expected = np.moveaxis(X, axis - 1, 0).reshape(X.shape[axis - 1], -1)
        np.testing.assert_array_equal(read_file(path, reading=Reading(unfold=axis)).X, expected)
    with pytest.raises(ValueError, match="--unfold must be an axis"):
        read_file(path, reading=Reading(unfold=4))


@pytest.mark.parametrize(
    ("ending", "said"), [("rda", "write.csv"), ("pkl", "run code"), ("xls", "xlsx")]
)
def test_endings_that_are_not_read_get_a_cure(tmp_path, ending, said):
    (tmp_path / f"t.{ending}").write_bytes(b"x")
    with pytest.raises(ValueError, match=said):
        read_file(tmp_path / f"t.{ending}")


def test_an_array_of_structs_of_matlab_is_a_table(tmp_path):
    trials = np.zeros(8, dtype=[("rate", "f8"), ("depth", "f8"), ("kind", object)])
    trials["rate"], trials["depth"] = np.arange(8) * 0.5, np.arange(8) ** 2
    trials["kind"] = ["a", "b"] * 4
    scipy.io.savemat(tmp_path / "t.mat", {"trials": trials})
    data = read_file(tmp_path / "t.mat", label_column="trials.kind")
    assert data.feature_names == ("rate", "depth")
    np.testing.assert_array_equal(data.X, np.c_[trials["rate"], trials["depth"]])
    assert data.label_names == ("a", "b")
