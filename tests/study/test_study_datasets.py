import gzip
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ikd_graph import kernels
from ikd_graph.study import datasets
from ikd_graph.study.datasets import mappings, real
from ikd_graph.study.datasets._record import encode_labels


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


def test_tabs_and_a_chosen_label_column(tmp_path):
    path = write(tmp_path, "t.tsv", "a\tgroup\tb\n1\t0\t2\n3\t1\t4\n5.5\t0\t6\n")
    data = datasets.load(path, label_column="group")
    np.testing.assert_array_equal(data.X, NUMBERS)
    assert data.y.tolist() == [0, 1, 0]
    by_position = datasets.load(path, label_column=1)
    assert by_position.y.tolist() == [0, 1, 0]


def test_words_that_begin_far_down_a_column_are_still_labels(tmp_path):
    rows = [f"{i},{i},{2 if i < 300 else '32 TE'}" for i in range(700)]
    data = datasets.load(write(tmp_path, "t.csv", "a,b,stage\n" + "\n".join(rows) + "\n"))
    assert data.X.shape == (700, 2)
    assert data.label_names == ("2", "32 TE")
    assert data.labels[299:301].tolist() == ["2", "32 TE"]


def test_measured_labels_stay_numbers(tmp_path):
    data = datasets.load(write(tmp_path, "t.csv", "a,b,target\n1,2,.5\n3,4,.25\n5.5,6,1\n"))
    assert data.y.tolist() == [0.5, 0.25, 1.0]
    assert data.label_names == ()
    assert data.labels is None


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
        ("t.txt", "1,2\n", "must end in .csv, .tsv, .npy, .npz, .mat, .h5ad"),
        ("t.npy", "1,2\n", "plain NumPy file"),
        ("t.npz", "1,2\n", "plain NumPy file"),
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
        ('1,2,"\n4,5,"\n7,8,x\n', "got a line break within quotes before line 3"),
        ('1,2,"\n4,5,6\n7,8,9\n', "plain table of numbers, got"),
        ("1,2,3\n,,\n7,8,9\n", "got empty cells only in line 2"),
        ('1,2,3\n"4"5,5,6\n', "plain table of numbers, got"),
        # Python 3.10 says it of the line.
        ("1,2,3\n4,5,\0\n", "column '2' .* in row 2|got line contains NUL"),
        ("1,2," + "9" * 140_000 + "\n", "field larger than"),
    ],
)
def test_no_row_of_a_table_is_lost(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(write(tmp_path, "t.csv", text))


def test_rows_of_empty_cells_after_the_table_are_no_rows(tmp_path):
    data = datasets.load(write(tmp_path, "t.csv", "1,2\n3,4\n5.5,6\n,\n,\n"))
    np.testing.assert_array_equal(data.X, NUMBERS)


def test_a_header_of_years_is_warned_of_and_one_with_an_index_is_a_header(tmp_path):
    text = "2001,2002,2003\n1.5,2,3\n4,5,6\n"
    with pytest.warns(UserWarning, match="first row of t.csv, 2001, 2002, .* taken as a point"):
        assert datasets.load(write(tmp_path, "t.csv", text)).X.shape == (3, 3)
    for name, rows in (("", "0 1"), ("id", "7 8"), ("index", "a b")):
        first, second = rows.split()
        text = f"{name},2001,2002\n{first},2,3\n{second},5,6\n"
        data = datasets.load(write(tmp_path, "u.csv", text))
        assert data.feature_names == ("2001", "2002")
        assert data.X.tolist() == [[2.0, 3.0], [5.0, 6.0]]


def test_text_in_another_encoding_is_an_error(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("Größe,b\n1,2\n3,4\n".encode("latin-1"))
    with pytest.raises(ValueError, match="text in UTF-8"):
        datasets.load(path)


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


@pytest.mark.parametrize("layout", ["dense", "csr", "csc"])
@pytest.mark.parametrize("categorical", [True, False])
def test_annotated_matrices(tmp_path, layout, categorical):
    h5py = pytest.importorskip("h5py")
    X = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        if layout == "dense":
            file["X"] = X
        else:
            matrix = sp.csr_matrix(X) if layout == "csr" else sp.csc_matrix(X)
            group = file.create_group("X")
            group.attrs["encoding-type"] = f"{layout}_matrix"
            group.attrs["shape"] = X.shape
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        obs = file.create_group("obs")
        if categorical:
            obs["cell_type/codes"] = np.array([1, -1], dtype=np.int8)
            obs["cell_type/categories"] = np.array([b"T cell", b"B cell"])
        else:
            obs["cell_type"] = np.array([b"B cell", b"missing"])
        var = file.create_group("var")
        var.attrs["_index"] = "gene"
        var["gene"] = np.array([b"g1", b"g2", b"g3"])
    data = datasets.load(tmp_path / "t.h5ad")
    np.testing.assert_array_equal(data.X, X)
    assert data.labels.tolist() == ["B cell", "missing"]
    assert data.feature_names == ("g1", "g2", "g3")


def test_annotated_matrices_of_the_old_layout(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["X"] = np.eye(3)
        file["obs/stage"] = np.array([1, 0, 1], dtype=np.int8)
        file["obs/__categories/stage"] = np.array([b"late", b"early"])
    data = datasets.load(tmp_path / "t.h5ad", label_column="stage")
    assert data.labels.tolist() == ["early", "late", "early"]
    with pytest.raises(ValueError, match=r"labels must be a column of t.h5ad: stage; got"):
        datasets.load(tmp_path / "t.h5ad", label_column="age")


def test_a_sparse_matrix_too_large_to_unpack_or_of_another_kind_is_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = "csr_matrix"
        group.attrs["shape"] = (100_000, 30_000)
    with pytest.raises(ValueError, match=r"must fit into 8 GiB unpacked, got shape .* 22.4 GiB"):
        datasets.load(tmp_path / "t.h5ad")
    with h5py.File(tmp_path / "t.h5ad", "a") as file:
        file["X"].attrs["encoding-type"] = "coo_matrix"
    with pytest.raises(ValueError, match="dense, csr_matrix or csc_matrix, got 'coo_matrix'"):
        datasets.load(tmp_path / "t.h5ad")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("indices", [0, 1_000_000_000]),
        ("indices", [0, -7]),
        ("indices", [0.0, 1.0]),
        ("indptr", [0, 2_000_000, 2]),
        ("indptr", [0, 1]),
        ("indptr", [0, 1, 900]),
        ("indptr", [[0, 1, 2]]),
        ("data", [1.0]),
    ],
)
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_a_sparse_table_that_points_outside_itself_is_refused(tmp_path, kind, part, value):
    h5py = pytest.importorskip("h5py")
    parts = {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2]} | {part: value}
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = f"{kind}_matrix"
        group.attrs["shape"] = (2, 2)
        for name, values in parts.items():
            group[name] = np.array(values)
    with pytest.raises(ValueError, match=r"X of t\.h5ad must be a whole sparse matrix"):
        datasets.load(tmp_path / "t.h5ad")


def test_an_annotated_matrix_in_another_file_is_not_followed(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = np.eye(3)
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["X"] = h5py.ExternalLink("other.h5", "secret")
    with h5py.File(tmp_path / "u.h5ad", "w") as file:
        file["X"] = np.eye(3)
        file.create_group("obs")["label"] = h5py.ExternalLink("other.h5", "secret")
    raw = [(str(tmp_path / "other.h5"), 0, 72)]
    with h5py.File(tmp_path / "v.h5ad", "w") as file:
        file.create_dataset("X", shape=(3, 3), dtype="f8", external=raw)
    for name in ("t.h5ad", "u.h5ad", "v.h5ad"):
        with pytest.raises(ValueError, match=r"must hold its own data, got .* in another file"):
            datasets.load(tmp_path / name)


def test_an_annotated_matrix_must_be_as_large_as_its_names(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = "csr_matrix"
        group.attrs["shape"] = (2, 2 + 2**24)
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(sp.csr_matrix(np.eye(2)), part)
        file["var/_index"] = np.array([b"a", b"b"])
    with pytest.raises(ValueError, match="one column for each of 2 names in var, got shape"):
        datasets.load(tmp_path / "t.h5ad")
    with h5py.File(tmp_path / "u.h5ad", "w") as file:
        file["X"] = np.eye(3)
        file["obs/label"] = np.array([b"a", b"b"])
    with pytest.raises(ValueError, match=r"label of .* one label for each row of X"):
        datasets.load(tmp_path / "u.h5ad")


def test_a_missing_h5py_names_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match="needs the package h5py"):
        datasets.load(write(tmp_path, "t.h5ad", "x"))


def test_an_hdf5_file_without_a_table_is_an_error(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file["Y"] = np.eye(2)
    with pytest.raises(ValueError, match="must hold a table X, got keys: Y"):
        datasets.load(tmp_path / "t.h5ad")
    with pytest.raises(ValueError, match="must be an HDF5 file"):
        datasets.load(write(tmp_path, "u.h5ad", "text"))


def test_digits_need_no_download():
    data = datasets.load("digits")
    assert data.X.shape == (1797, 64)
    assert data.image_shape == (8, 8)
    assert data.label_names == tuple("0123456789")


@pytest.mark.parametrize("name", ["guo_qpcr", "coil20", "extended_yale_b"])
def test_without_the_folder_the_error_says_where_to_get_the_data(name, monkeypatch, tmp_path):
    monkeypatch.delenv(datasets.DATA_HOME, raising=False)
    with pytest.raises(
        FileNotFoundError,
        match=f"IKD_GRAPH_DATA is not set; get it from .* {real._SOURCES[name][0]}",
    ):
        datasets.load(name)
    monkeypatch.setenv(datasets.DATA_HOME, str(tmp_path))
    with pytest.raises(FileNotFoundError, match="has no "):
        datasets.load(name)


def test_fashion_mnist_comes_from_its_home_when_the_folder_lacks_it(monkeypatch, tmp_path):
    pooch = pytest.importorskip("pooch")
    monkeypatch.setenv(datasets.DATA_HOME, str(tmp_path))
    images = np.arange(5 * 784, dtype=np.uint32).astype(np.uint8).reshape(5, 28, 28)
    labels = np.array([9, 2, 1, 1, 6], dtype=np.uint8)
    asked = []

    def retrieve(url, known_hash, path, fname):
        asked.append((url, known_hash))
        array = images if "images" in fname else labels
        head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
        target = tmp_path / fname
        target.write_bytes(gzip.compress(head + array.tobytes()))
        return str(target)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    data = datasets.fashion_mnist(n_samples=4)
    np.testing.assert_allclose(data.X, images.reshape(5, -1)[:4] / 255.0)
    assert data.labels.tolist() == ["Ankle boot", "Pullover", "Trouser", "Trouser"]
    assert all(h.startswith("sha256:") and "t10k" in url for url, h in asked)

    def offline(*args, **kwargs):
        raise OSError("no route")

    monkeypatch.setattr(pooch, "retrieve", offline)
    with pytest.raises(OSError, match=r"could not be downloaded .* no route; check the network"):
        datasets.fashion_mnist()
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match="needs the package pooch"):
        datasets.fashion_mnist()
    with pytest.raises(ValueError, match="split must be"):
        datasets.fashion_mnist(split="both")


@pytest.mark.slow
def test_the_stored_real_data_are_as_described(data_home):
    guo = datasets.load("guo_qpcr")
    assert np.bincount(guo.y).tolist() == [9, 19, 23, 43, 75, 49, 60, 19, 44, 96]
    assert (guo.X.shape, guo.label_names[-1]) == ((437, 48), "64 TE")
    fashion = datasets.load("fashion_mnist")
    assert fashion.X.shape == (3000, 784)
    assert fashion.X.max() == 1.0
    assert datasets.fashion_mnist(split="all", n_samples=None).X.shape == (70000, 784)
    assert datasets.load("coil20").image_shape == (128, 128)
    faces = datasets.load("extended_yale_b")
    assert faces.X.shape == (2414, 1024)
    assert np.unique(faces.y).size == 38


def test_shrunk_images_keep_their_mean(rng):
    X = rng.uniform(size=(300, 12 * 7))
    small = real.shrink_images(X, (12, 7), (5, 3))
    np.testing.assert_allclose(small.mean(axis=1), X.mean(axis=1))
    np.testing.assert_allclose(real.shrink_images(X, (12, 7), (12, 7)), X)
    with pytest.raises(ValueError, match="images only shrink"):
        real.shrink_images(X, (12, 7), (13, 3))


def test_the_latent_of_eq_12_has_its_covariance():
    draws = datasets.ou_latent(12, 40000, seed=0)
    expected = 6.0 * np.exp(-np.abs(np.subtract.outer(range(12), range(12))) / 5.0)
    np.testing.assert_allclose(draws @ draws.T / 40000, expected, atol=0.2)
    assert np.abs(datasets.ou_latent(500, 3, clip=2.0, seed=0)).max() == 2.0


def test_the_fixed_latents_have_their_landmarks():
    medium = datasets.fixed_latent("medium")
    np.testing.assert_allclose(medium[[0, -1], 1:], [[1.25, -0.5], [1.25, 0.5]])
    easy = datasets.fixed_latent("easy", seed=1)
    assert np.unique(easy[:, :2].round(9), axis=0).shape == (100, 2)
    assert easy[:, 2].max() == pytest.approx(1.41782, abs=1e-5)
    hard = datasets.fixed_latent("hard", seed=1)
    assert np.hypot(hard[:, 0], hard[:, 1]).mean() == pytest.approx(1.0, abs=0.05)
    np.testing.assert_array_equal(hard, datasets.fixed_latent("hard", seed=1))
    with pytest.raises(ValueError, match="square number for 'easy', got 90; try 81 or 100"):
        datasets.fixed_latent("easy", 90)
    with pytest.raises(ValueError, match="must be even for 'hard', got 91"):
        datasets.fixed_latent("hard", 91)
    with pytest.raises(ValueError, match="name must be one of"):
        datasets.fixed_latent("harder")


@pytest.mark.parametrize("kernel", ["squared_exponential", kernels.Matern(nu=0.5)])
def test_gp_observations_have_the_covariance_of_the_latent(kernel):
    latent = datasets.fixed_latent("medium", 30)
    X = datasets.gp_mapping(latent, 60000, kernel, variance=4.0, seed=0)
    expected = 4.0 * kernels.get(kernel).covariance(cdist(latent, latent, "sqeuclidean"))
    np.testing.assert_allclose(X @ X.T / 60000, expected, atol=0.15)


def test_a_latent_with_equal_points_still_maps():
    X = datasets.gp_mapping(np.zeros((5, 2)), 8, seed=0)
    np.testing.assert_allclose(X, np.tile(X[:1], (5, 1)), atol=1e-3)


def test_bumps_as_printed_and_as_run():
    latent = datasets.ou_latent(40, 2, seed=0)
    squared = datasets.bump_mapping(latent, 9, form="squared", seed=1)
    l1 = datasets.bump_mapping(latent, 9, form="l1", seed=1)
    assert squared.shape == l1.shape == (40, 9)
    # |d|_2^2 <= |d|_1^2, so the printed bump is known from below by the other one.
    assert np.all(squared >= 20.0 * np.exp(-(np.log(20.0 / l1) ** 2)) - 1e-12)
    with pytest.raises(ValueError, match="form must be one of"):
        datasets.bump_mapping(latent, 9, form="l2")


def test_sines_stay_in_range_and_noise_has_its_size():
    X = datasets.sine_mapping(datasets.ou_latent(200, 1, seed=0), 30, seed=0)
    assert np.abs(X).max() <= 1.0
    noisy = datasets.add_noise(X, 0.3, seed=0)
    assert (noisy - X).std() == pytest.approx(0.3, abs=0.01)
    with pytest.raises(ValueError, match="sd must be a finite number of at least 0, got -1"):
        datasets.add_noise(X, -1)


@pytest.mark.parametrize("mapping", datasets.MAPPINGS)
def test_the_data_of_fig_2_repeat_with_their_seed(mapping):
    first = datasets.mapped_data(mapping, 7, n_samples=60, seed=5)
    again = datasets.mapped_data(mapping, 7, n_samples=60, seed=5)
    np.testing.assert_array_equal(first.X, again.X)
    assert first.X.shape == (60, 7)
    assert np.abs(first.latent).max() <= 6.0


def test_gplvm_data_take_a_name_or_a_latent():
    own = datasets.ou_latent(20, 2, seed=0)
    assert datasets.gplvm_data(own, 5, kernel="matern", noise=0.1).X.shape == (20, 5)
    assert datasets.gplvm_data("hard", 5, seed=2).name == "hard_N5"


def test_the_classics_are_built_in():
    moons, roll, spikes = (
        datasets.load(name) for name in ("half_moons", "swiss_roll", "spike_counts")
    )
    assert moons.X.shape == (100, 2)
    assert set(moons.labels) == {"upper", "lower"}
    assert np.all(np.round(spikes.X) == spikes.X)
    # Neighbours on the sheet are as far apart as in space: the latent is isometric.
    gap = cdist(roll.latent, roll.latent) + 1e3 * np.eye(500)
    i, j = np.unravel_index(np.argsort(gap, axis=None)[:40], gap.shape)
    in_space = np.linalg.norm(roll.X[i] - roll.X[j], axis=1)
    np.testing.assert_allclose(gap[i, j], in_space, rtol=0.02)


def test_an_indefinite_covariance_is_refused():
    with pytest.raises(ValueError, match="positive definite"):
        mappings._lower_root(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.slow
def test_faces_shrink_to_averages_or_to_pixels_at_even_steps(data_home):
    whole = datasets.extended_yale_b(image_shape=None)
    small = datasets.extended_yale_b(shrink="sample")
    picture = whole.X[7].reshape(192, 168)
    np.testing.assert_array_equal(
        small.X[7].reshape(32, 32), picture[::6][:, np.arange(32) * 168 // 32]
    )
    with pytest.raises(ValueError, match=r"shrink must be one of .*got 'blur'"):
        datasets.extended_yale_b(shrink="blur")


def test_labels_of_more_digits_than_a_float_holds_stay_apart(tmp_path):
    text = f"1,2,{2**64}\n3,4,{2**64 + 1}\n5.5,6,{2**64}\n"
    data = datasets.load(write(tmp_path, "t.csv", text), label_column=2)
    assert data.y.tolist() == [0, 1, 0]
    assert data.label_names == (str(2**64), str(2**64 + 1))
    y, names = encode_labels(np.array([2**62 + 1, 2**62, 2**62 + 1]))
    assert y.tolist() == [1, 0, 1]
    assert names == (str(2**62), str(2**62 + 1))
