"""Models in files come back as they were, and what is not one is refused."""

import contextlib
import io
import json
import pickle
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from ikd_graph import IKD, _model_file, graph, kernels, strategies
from ikd_graph._base import limits
from ikd_graph.missing import Pairwise
from ikd_graph.refine import Likelihood, Stress


def process(n=20, width=110, seed=0):
    """Samples of a Gaussian process, and its covariance."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.random(n))[:, None] * 4.0
    cov = np.exp(-((z - z.T) ** 2) / 2.0) + 0.01 * np.eye(n)
    return np.linalg.cholesky(cov) @ rng.normal(size=(n, width)), cov


ROWS, COV = process()
# No error bars are searched for rows of so few columns, which takes longest.
FEW = ROWS[:, :40]
SPARSE = sp.csr_array(np.where(COV > 0.3, COV, 0.0))
CASES = {
    "auto": (IKD(), ROWS),
    "paper": (
        IKD(strategy=strategies.Geodesic.paper(), graph=graph.Threshold(0.2), refine=None),
        FEW,
    ),
    "stress": (IKD(strategy="blockwise", refine="stress"), FEW),
    "linear": (IKD(strategy="linear", affinity="euclidean"), ROWS),
    "distances": (IKD(affinity="precomputed_distance", graph=6), np.sqrt(2.02 - 2.0 * COV)),
    "few columns": (IKD(n_components="auto"), ROWS[:, :7]),
    "blockwise": (IKD(strategy="blockwise", refine=None), ROWS),
    "cliques of counts": (IKD(affinity="hellinger"), np.rint(np.exp(ROWS[:, :30])).astype(int)),
    "shared": (IKD(affinity="shared_neighbors"), ROWS),
    "landmarks": (IKD(affinity="covariance", n_landmarks=12), ROWS),
    "units": (IKD(affinity="standardized_euclidean"), ROWS[:, :9]),
    "float32": (IKD(affinity="euclidean"), ROWS.astype("f4")),
    "kernel": (IKD(kernel=kernels.Matern(nu=2.5), strategy="eigen", refine=None), ROWS),
    "dense": (IKD(affinity="precomputed"), COV),
    "sparse": (IKD(affinity="precomputed"), SPARSE),
    "sparse distances": (
        IKD(affinity="precomputed_distance", strategy="blockwise"),
        sp.csr_array(np.where(COV > 0.3, np.sqrt(2.02 - 2.0 * COV), 0.0)),
    ),
    "noise": (
        IKD(affinity="precomputed_distance", graph=6, refine=Stress(noise=0.1 + 0.0 * COV)),
        np.sqrt(2.02 - 2.0 * COV),
    ),
    "equal rows": (IKD(graph=6, refine="stress"), FEW[np.repeat(np.arange(15), 2)]),
    "imputed": (
        IKD(missing="impute", graph=6, refine="stress"),
        np.where(FEW > 1.5, np.nan, FEW),
    ),
    "unknown": (IKD(missing=Pairwise(30), refine="stress"), np.where(ROWS > 1.5, np.nan, ROWS)),
    "sessions": (
        IKD(missing="pairwise", refine="likelihood"),
        np.where((np.arange(20)[:, None] < 12) & (np.arange(110) < 40), np.nan, ROWS),
    ),
    "given graph": (IKD(graph=nx.path_graph(20)), ROWS),
    "reference": (IKD(strategy=strategies.Eigen(reference=3), refine=None), FEW),
    "local": (IKD(refine=Likelihood(descent="local"), affinity="euclidean"), ROWS[:, :30]),
}


def parts_of(value):
    """The arrays and texts that a learnt attribute is made of."""
    if isinstance(value, (tuple, list, Sequence)) and not isinstance(value, str):
        return [part for each in value for part in parts_of(each)]
    return [value if isinstance(value, np.ndarray) else repr(value)]


def learnt(model):
    """What is learnt by name."""
    names = sorted(name for name in dir(model) if name.endswith("_") and name[0] != "_")
    return {name: parts_of(getattr(model, name)) for name in names}


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
            for one, other in zip(
                again.transform(rows, return_std=True),
                model.transform(rows, return_std=True),
                strict=True,
            ):
                assert np.array_equal(one, other, equal_nan=True)
            assert np.array_equal(again.placement_residuals(rows), model.placement_residuals(rows))
        if not model.affinity.startswith("precomputed"):
            assert again.noise_model() == model.noise_model()
            assert np.array_equal(
                again.inverse_transform(model.embedding_), model.inverse_transform(model.embedding_)
            )
            assert again.score(X) == model.score(X)
    returned = learnt(again)
    for name, parts in learnt(model).items():
        for one, other in zip(returned[name], parts, strict=True):
            assert type(one) is type(other), name
            assert getattr(one, "dtype", None) == getattr(other, "dtype", None), name
            assert np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f"), name
    assert repr(again) == repr(model) or case in ("noise", "given graph")
    assert str(again.settings_) == str(model.settings_)
    IKD.load(tmp_path / "model.ikd").save(tmp_path / "second.ikd")
    assert (tmp_path / "second.ikd").read_bytes() == (tmp_path / "model.ikd").read_bytes()


@pytest.mark.parametrize("affinity", ["correlation", "standardized_euclidean"])
def test_a_model_of_rows_that_stay_sparse_comes_back(tmp_path, monkeypatch, affinity):
    monkeypatch.setattr(limits, "DENSE_ENTRIES", 0)
    rng = np.random.default_rng(0)
    X = sp.csr_array(np.where(rng.random((80, 40)) < 0.3, rng.random((80, 40)), 0.0))
    model = IKD(affinity=affinity, strategy="geodesic", refine="stress").fit(X)
    model.save(tmp_path / "model.ikd")
    again = IKD.load(tmp_path / "model.ikd")
    assert np.array_equal(again.transform(X[:9] * 1.01), model.transform(X[:9] * 1.01))
    assert np.array_equal(again.embedding_, model.embedding_)
    # More columns than memory holds one row of.
    path = tmp_path / "wide.ikd"
    forged(tmp_path / "model.ikd", path, **{"rows.shape": np.array([80, 10**13])})
    with pytest.raises(ValueError, match=r"must be a file that IKD\.save wrote .*takes .* bytes"):
        IKD.load(path)


@pytest.mark.parametrize("missing", ["error", "pairwise", "impute"])
def test_a_model_with_a_constant_column_comes_back(tmp_path, missing):
    X = ROWS.copy()
    X[:, 3] = 2.0
    if missing != "error":
        X[::7, 5] = np.nan
    model = IKD(affinity="standardized_euclidean", missing=missing, graph=6, refine="stress")
    model.fit(X).save(tmp_path / "model.ikd")
    again = IKD.load(tmp_path / "model.ikd")
    assert np.array_equal(again.transform(1.01 * X), model.transform(1.01 * X))


@pytest.fixture
def saved(tmp_path):
    """File of a small model."""
    rows = np.cos(np.arange(12.0)[:, None] / 4.0 + np.arange(6.0))
    model = IKD(1, graph=4, affinity="correlation", refine=None).fit(rows)
    model.save(tmp_path / "small.ikd")
    return tmp_path / "small.ikd"


def forged(saved, path, **changes):
    """A file with members changed, and a digest that says nothing of it."""
    with np.load(saved) as file:
        members = {**file, **changes}
    del members["digest"]
    members["digest"] = np.array(_model_file._digest(members))
    with path.open("wb") as file:
        np.savez(file, **members)


def head_of(saved, old, new):
    """The head of a file with a text replaced."""
    with np.load(saved) as file:
        text = file["head"].tobytes().decode()
    assert old in text
    return {"head": np.frombuffer(text.replace(old, new).encode(), np.uint8)}


def changed(name, change):
    """Forge a file with an array changed."""

    def spoil(saved, path):
        with np.load(saved) as file:
            array = file[name].copy()
        forged(saved, path, **{name: change(array)})

    return spoil


def with_first(number):
    """A change of the first entry of an array."""
    return lambda array: np.concatenate([[number], array[1:]])


def deflated(saved, path):
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name) + bytes(10**6))


def pickled(saved, path):
    with path.open("wb") as file, np.load(saved) as members:
        np.savez(file, **{**members, "result.coordinates": np.array([Path.touch], dtype=object)})


def with_one_byte_more(saved, path):
    with np.load(saved) as file, path.open("wb") as new:
        np.savez(new, **{**file, "result.coordinates": file["result.coordinates"] + 1e-9})


FILES = {
    "nothing": (lambda _, path: path.write_bytes(b""), "BadZipFile"),
    "text": (lambda _, path: path.write_bytes(b"text"), "BadZipFile"),
    "a pickle": (lambda _, path: path.write_bytes(pickle.dumps({})), "BadZipFile"),
    "an empty archive": (lambda _, path: path.write_bytes(b"PK\x05\x06" + bytes(18)), "digest"),
    "a folder": (lambda _, path: path.mkdir(), "no regular file"),
    "an endless device": (lambda _, path: path.symlink_to("/dev/zero"), "no regular file"),
    "other arrays": (lambda _, path: path.write_bytes(npz(X=ROWS)), "digest"),
    "a pickle inside": (pickled, "allow_pickle=False"),
    "more than it holds": (deflated, "unpacks to more"),
    "a changed number": (with_one_byte_more, "content was changed"),
    "a graph that leads outside": (
        changed("result.graph.indices", with_first(10**9)),
        "must lie from 0 to 11",
    ),
    "fewer points": (changed("result.coordinates", lambda a: a[:-1]), "another size"),
    "more eigenvalues": (
        changed("result.solution.embedding.eigenvalues", lambda a: np.append(a, 1.0)),
        "another size",
    ),
    "rows that are not there": (changed("inverse", lambda a: a + 99), "inverse must lie"),
    "rows of another number": (changed("rows", lambda a: a[1:]), "another size"),
    "rows of another width": (changed("rows", lambda a: a[:, :1]), "1 feature"),
    "rows without a number": (changed("rows", lambda a: a * np.nan), "NaN"),
}
HEADS = {
    "a newer format": (("format 8", "format 9"), r"format 9', written by ikd_graph \d"),
    "another class": (
        ('"strategy": {"geodesic"', '"strategy": {"subprocess"'),
        "strategy is of another kind",
    ),
    "another parameter": (('"path": ', '"__class__": '), "__class__"),
    "an array for a kernel": (
        ('{"squared_exponential": {"length_scale": 1.0}}', '{"given": "points"}'),
        "kernel is of another kind",
    ),
    "no strategy": (('"strategy": {', '"other": {'), "strategy"),
    "another strategy": (('"geodesic": {', '"linear": {'), "'path'"),
    "words for a number": (
        ('"settings": {"n_components": 1', '"settings": {"n_components": "x"'),
        "n_components is of another kind",
    ),
}


def npz(**arrays):
    """Bytes of an archive."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize("case", [*FILES, *HEADS])
def test_what_is_no_model_is_refused_in_one_line(saved, tmp_path, case):
    path = tmp_path / "x"
    if case in HEADS:
        change, words = HEADS[case]
        forged(saved, path, **head_of(saved, *change))
    else:
        change, words = FILES[case]
        change(saved, path)
    with pytest.raises(
        ValueError, match=rf"must be a file that IKD\.save wrote .*{words}"
    ) as refusal:
        IKD.load(path)
    assert len(str(refusal.value).splitlines()) == 1
    with pytest.raises(FileNotFoundError):
        IKD.load(tmp_path / "nowhere")


def test_a_file_with_a_flipped_bit_is_refused_or_read(saved, tmp_path):
    whole, model = saved.read_bytes(), IKD.load(saved)
    rng = np.random.default_rng(0)
    for at in rng.integers(len(whole), size=200):
        broken = bytearray(whole)
        broken[at] ^= 1 << int(rng.integers(8))
        (tmp_path / "x").write_bytes(broken)
        with contextlib.suppress(ValueError):
            assert np.array_equal(IKD.load(tmp_path / "x").embedding_, model.embedding_)


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


def with_one(array, number):
    """An array with one number replaced."""
    changed = array.astype(np.float64)
    changed.flat[array.size // 2 : array.size // 2 + 1] = number
    return changed


SPOILED = {
    "text": lambda a: np.full(a.shape, "x"),
    "dates": lambda a: np.zeros(a.shape, "M8[D]"),
    "NaN": lambda a: np.full(a.shape, np.nan, a.dtype) if a.dtype.kind == "f" else None,
    "infinity": lambda a: np.full(a.shape, np.inf, a.dtype) if a.dtype.kind == "f" else None,
    "a huge number": lambda a: with_one(a, 1e300) if a.dtype.kind == "f" else None,
    "a hole": lambda a: with_one(a, np.nan) if a.dtype.kind == "f" else None,
    "floats": lambda a: a.astype(float) + 0.5 if a.dtype.kind in "iu" else None,
    "far numbers": lambda a: a.astype(np.int64) + 10**6 if a.dtype.kind in "iu" else None,
    "shorter": lambda a: a[:-1] if a.ndim else None,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("refinement", [None, "stress", "likelihood"])
def test_spoiled_content_under_a_new_digest_is_refused_or_answers_alike(tmp_path, refinement):
    rows = np.random.default_rng(0).normal(size=(20, 3)) @ np.random.default_rng(1).normal(
        size=(3, 25)
    )
    saved, path = tmp_path / "model.ikd", tmp_path / "spoiled.ikd"
    model = IKD(2, strategy="geodesic", graph=6, affinity="correlation", refine=refinement).fit(
        rows
    )
    model.save(saved)
    new = rows[:3] + 0.1 * rows[3:6]
    expected = model.transform(new)
    with np.load(saved) as file:
        names = [name for name in file.files if name not in ("head", "digest")]
        arrays = {name: file[name] for name in names}
    for name, array in arrays.items():
        for kind, spoil in SPOILED.items():
            changed_array = spoil(array)
            if changed_array is None:
                continue
            forged(saved, path, **{name: changed_array})
            try:
                again = IKD.load(path)
            except ValueError:
                continue
            placed, errors = again.transform(new), again.standard_errors_
            assert np.array_equal(placed, expected), (name, kind, array.dtype, array.shape)
            assert np.isfinite(errors).all() or np.isnan(model.standard_errors_).all()


def test_the_folder_of_a_model_must_exist(tmp_path):
    model = IKD(1, strategy="linear").fit(process()[0])
    with pytest.raises(FileNotFoundError, match=r"the folder to write to must exist: '.*missing'"):
        model.save(tmp_path / "missing" / "model.ikd")


def places_of(tree, path=()):
    """Every container of a JSON tree with the key of each value."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in list(pairs):
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from places_of(value, (*path, key))


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
@pytest.mark.parametrize("settings", [{"strategy": "blockwise"}, {"refine": "likelihood"}])
def test_other_kinds_of_values_under_a_new_digest_are_refused_or_answer(tmp_path, settings):
    # Of so few columns none are held out, which every page of a model would do again.
    rows = process(n=15, width=7)[0]
    model = IKD(2, affinity="correlation", graph=6, **settings).fit(rows)
    assert model.standard_errors_.shape == (15, 2)
    model.save(tmp_path / "model.ikd")
    with np.load(tmp_path / "model.ikd") as file:
        head = json.loads(file["head"].tobytes())
    places, rng = len(list(places_of([head]))), np.random.default_rng(0)
    others = [None, 3, "x", True, [], {}, {"given": "points"}, {"geodesic": {}}]
    n_refused = 0
    for at in np.repeat(np.arange(places), 2):
        spoiled = json.loads(json.dumps(head))
        tree = list(places_of([spoiled]))[at]
        tree[0][tree[1]] = others[rng.integers(len(others))]
        text = np.frombuffer(json.dumps(spoiled).encode(), np.uint8)
        forged(tmp_path / "model.ikd", tmp_path / "other.ikd", head=text)
        try:
            again = IKD.load(tmp_path / "other.ikd")
        except ValueError:
            n_refused += 1
            continue
        assert again.transform(rows).shape == (15, 2)
        assert np.isfinite(again.standard_errors_).any() or settings == {"strategy": "blockwise"}
        assert again._repr_html_()
    assert n_refused > 50


def test_parameters_of_a_kernel_that_is_read_keep_its_rules(tmp_path, saved):
    path = tmp_path / "spoiled.ikd"
    forged(saved, path, **head_of(saved, '"length_scale": 1.0', '"length_scale": 1e300'))
    with pytest.raises(ValueError, match=r"must be a file that IKD\.save wrote"):
        IKD.load(path)


@pytest.mark.parametrize(
    "changes",
    [{"n_components": "x"}, {"affinity": "precomputed"}, {"graph__k": 0}, {"strategy__path": "x"}],
)
def test_what_was_fitted_is_saved_whatever_the_parameters_were_set_to(changes, tmp_path):
    model = IKD(1, strategy=strategies.Geodesic(), graph=graph.Neighbors(7), refine=None).fit(ROWS)
    expected, asked = model.transform(ROWS[:5] + 0.1), str(model.get_params())
    model.set_params(**changes)
    model.save(tmp_path / "m.ikd")
    again = IKD.load(tmp_path / "m.ikd")
    assert str(again.get_params()) == asked
    for each in (model, again):
        np.testing.assert_array_equal(each.transform(ROWS[:5] + 0.1), expected)


@pytest.mark.parametrize("name", ["standard_errors", "error_bars.covariances"])
def test_what_was_computed_of_other_points_is_refused(name, tmp_path):
    model = IKD(2, affinity="correlation", graph=6, refine="likelihood")
    model.fit(process(n=30, width=60)[0])
    assert np.isfinite(model.standard_errors_).all()
    model.save(tmp_path / "model.ikd")
    shorter = changed(f"computed.{name}", lambda array: array[:-1])
    shorter(tmp_path / "model.ikd", tmp_path / "shorter.ikd")
    with pytest.raises(ValueError, match=r"must be a file that IKD\.save wrote"):
        IKD.load(tmp_path / "shorter.ikd")
