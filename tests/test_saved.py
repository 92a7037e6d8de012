"""Models in files come back as they were, and what is not one is refused."""

import contextlib
import json
import pickle
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from ikd_graph import IKD, _limits, graph, kernels, strategies


def process(n=40, width=120, seed=0):
    """Samples of a Gaussian process, and its covariance."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.random(n))[:, None] * 4.0
    cov = np.exp(-((z - z.T) ** 2) / 2.0) + 0.01 * np.eye(n)
    return np.linalg.cholesky(cov) @ rng.normal(size=(n, width)), cov


ROWS, COV = process()
SPARSE = sp.csr_array(np.where(COV > 0.3, COV, 0.0))
CASES = {
    "auto": (IKD(), ROWS),
    "paper": (IKD(strategy=strategies.Geodesic.paper(), graph=graph.Threshold(0.2)), ROWS),
    "stress": (IKD(strategy="blockwise", refine="stress"), ROWS),
    "linear": (IKD(strategy="linear", affinity="euclidean"), ROWS),
    "distances": (IKD(affinity="precomputed_distance", graph=6), np.sqrt(2.02 - 2.0 * COV)),
    "few columns": (IKD(n_components="auto"), ROWS[:, :7]),
    "blockwise": (IKD(strategy="blockwise", refine=None), ROWS),
    "cliques of counts": (IKD(affinity="hellinger"), np.rint(np.exp(ROWS[:, :30])).astype(int)),
    "shared": (IKD(affinity="shared_neighbors"), ROWS),
    "landmarks": (IKD(affinity="covariance", n_landmarks=20), ROWS),
    "units": (IKD(affinity="standardized_euclidean"), ROWS[:, :9]),
    "float32": (IKD(affinity="euclidean"), ROWS.astype("f4")),
    "kernel": (IKD(kernel=kernels.Matern(nu=2.5), strategy="eigen", refine=None), ROWS),
    "dense": (IKD(affinity="precomputed"), COV),
    "sparse": (IKD(affinity="precomputed"), SPARSE),
}


@pytest.mark.parametrize("case", CASES)
def test_a_model_comes_back_to_the_last_bit(tmp_path, case):
    model, X = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = clone(model).fit(X)
        model.save(tmp_path / "model.ikd")
        again = IKD.load(tmp_path / "model.ikd")
        new = X[:9] * 1.01 if case != "cliques of counts" else X[:9] + 1
        for rows in (X, new):
            assert np.array_equal(again.transform(rows), model.transform(rows))
        if not model.affinity.startswith("precomputed"):
            assert again.noise_model() == model.noise_model()
            assert np.array_equal(
                again.inverse_transform(model.embedding_), model.inverse_transform(model.embedding_)
            )
            assert again.score(X) == model.score(X)
    assert again.embedding_.dtype == model.embedding_.dtype
    assert repr(again) == repr(model)
    assert str(again.settings_) == str(model.settings_)
    assert again.candidates_ == model.candidates_
    for name in ("graph_", "cliques_"):
        for one, other in zip(getattr(again, name) or (), getattr(model, name) or (), strict=True):
            assert np.array_equal(one, other)
        assert repr(getattr(again, name)) == repr(getattr(model, name))
    IKD.load(tmp_path / "model.ikd").save(tmp_path / "second.ikd")
    assert (tmp_path / "second.ikd").read_bytes() == (tmp_path / "model.ikd").read_bytes()


@pytest.mark.parametrize("affinity", ["correlation", "standardized_euclidean"])
def test_a_model_of_rows_that_stay_sparse_comes_back(tmp_path, monkeypatch, affinity):
    monkeypatch.setattr(_limits, "DENSE_ENTRIES", 0)
    rng = np.random.default_rng(0)
    X = sp.csr_array(np.where(rng.random((80, 40)) < 0.3, rng.random((80, 40)), 0.0))
    model = IKD(affinity=affinity, strategy="geodesic", refine="stress").fit(X)
    model.save(tmp_path / "model.ikd")
    again = IKD.load(tmp_path / "model.ikd")
    assert np.array_equal(again.transform(X[:9] * 1.01), model.transform(X[:9] * 1.01))
    assert np.array_equal(again.embedding_, model.embedding_)


@pytest.fixture
def saved(tmp_path):
    """File of a small model."""
    rows = np.cos(np.arange(12.0)[:, None] / 4.0 + np.arange(6.0))
    model = IKD(1, graph=4, affinity="correlation", refine=None).fit(rows)
    model.save(tmp_path / "small.ikd")
    return tmp_path / "small.ikd"


def rewritten(saved, path, change):
    """A file with its head changed."""
    parts = parts_of(saved)
    head = json.loads(parts["model.json"])
    change(head)
    return packed(path, {**parts, "model.json": json.dumps(head).encode()})


def set_format(head):
    head["format"] = 99


def set_kind(head):
    head["kind"] = "recipe"


def name_a_class(head):
    head["state"] = {"number": 0, "record": "Popen", "of": []}


def leave_the_model_out(head):
    head["state"] = {"dict": []}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_format, "must have format 1 or an older one, got 99, written by ikd_graph '0.1.0'"),
        (set_kind, "must be a file that IKD.save wrote.*something else"),
        (name_a_class, "must be a file that IKD.save wrote.*Popen"),
        (leave_the_model_out, "must be a file that IKD.save wrote.*no fitted model"),
    ],
)
def test_what_is_no_model_is_refused(saved, tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        IKD.load(rewritten(saved, tmp_path / "x.ikd", change))


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"text", pickle.dumps({}), b"PK\x05\x06" + bytes(18)]
)
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match=r"must be a file that IKD\.save wrote"):
        IKD.load(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        IKD.load(tmp_path / "nowhere")


def test_a_file_with_flipped_bits_is_refused_or_read(saved, tmp_path):
    whole = saved.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(len(whole), size=300):
        broken = bytearray(whole)
        broken[at] ^= 1 << int(rng.integers(8))
        (tmp_path / "x").write_bytes(broken)
        with contextlib.suppress(ValueError):
            assert IKD.load(tmp_path / "x").embedding_.shape == (12, 1)


def test_a_graph_that_leads_outside_is_refused(saved, tmp_path):
    model = IKD.load(saved)
    model.graph_.indices.flags.writeable = True
    model.graph_.indices[0] = 10**9
    model.save(tmp_path / "x")
    with pytest.raises(ValueError, match=r"must be a file that IKD\.save wrote"):
        IKD.load(tmp_path / "x")


def parts_of(path):
    """What a file of a model is made of, by name."""
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def packed(path, parts):
    """A file of some parts."""
    with zipfile.ZipFile(path, "w") as new:
        for name, part in parts.items():
            new.writestr(name, part)
    return path


@pytest.mark.parametrize("name", ["transform", "fit", "_place"])
def test_nothing_in_a_file_hides_a_method(saved, tmp_path, name):
    parts = parts_of(saved)
    head = json.loads(parts["model.json"])
    head["state"]["dict"].append([name, "x"])
    packed(tmp_path / "x", {**parts, "model.json": json.dumps(head).encode()})
    with pytest.raises(ValueError, match=f"{name}' is a method"):
        IKD.load(tmp_path / "x")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("embedding_", lambda one: one[:-1]),
        ("embedding_", lambda one: one * np.nan),
        ("eigenvalues_", lambda one: np.append(one, 1.0)),
        ("_inverse", lambda one: one + 99),
        ("_first", lambda one: one[1:]),
        ("n_features_in_", lambda one: one + 1),
        ("_rows", lambda one: one[:, 1:]),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(saved, tmp_path, name, value):
    model = IKD.load(saved)
    setattr(model, name, value(getattr(model, name)))
    model.save(tmp_path / "x")
    with pytest.raises(ValueError, match=r"must be a file that IKD\.save wrote"):
        IKD.load(tmp_path / "x")


def test_a_pickle_inside_is_never_run(saved, tmp_path):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "sprung",))

    whole = parts_of(saved)
    with (tmp_path / "trap.npy").open("wb") as file:
        np.save(file, np.array([Trap()], dtype=object), allow_pickle=True)
    whole["0.npy"] = (tmp_path / "trap.npy").read_bytes()
    packed(tmp_path / "x", whole)
    with pytest.raises(ValueError, match=r"must be a file that IKD\.save wrote"):
        IKD.load(tmp_path / "x")
    assert not (tmp_path / "sprung").exists()


def test_a_kernel_of_ones_own_cannot_be_saved_and_leaves_no_file(tmp_path):
    class Mine(kernels.SquaredExponential):
        """A kernel that nobody else has."""

    model = IKD(kernel=Mine(), refine=None, graph=5).fit(ROWS)
    with pytest.raises(TypeError, match=r"got a .*Mine; use a kernel from ikd_graph.kernels"):
        model.save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_only_a_fitted_model_is_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        IKD().save(tmp_path / "x")
