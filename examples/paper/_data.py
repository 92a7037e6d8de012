"""The real data of the paper by name, from the folder that $IKD_GRAPH_DATA names."""

import os
from pathlib import Path

import numpy as np

from ikd_graph import datasets
from ikd_graph._base.dataset import encode_labels
from ikd_graph.datasets import Dataset, Labels

DATA_HOME = "IKD_GRAPH_DATA"
"""Environment variable that names the folder of real data sets."""

_SOURCES = {
    "guo_qpcr": (
        "guo_qpcr.npz",
        "X (437, 48), y (437,) stage names, label_names, feature_names",
        "Guo et al. 2010, Developmental Cell 18(4), supplementary table of single-cell qPCR",
    ),
    "coil20": (
        "coil20_128.npz",
        "X (1440, 16384), y (1440,), image_shape",
        "https://www.cs.columbia.edu/CAVE/software/softlib/coil-20.php (processed images)",
    ),
    "fashion_mnist": (
        "fashion_mnist.npz",
        "X_train, y_train, X_test, y_test, label_names",
        "https://github.com/zalandoresearch/fashion-mnist (or scikit-learn's fetch_openml)",
    ),
    "extended_yale_b": (
        "extyaleb_192x168.npz",
        "X (2414, 32256), y (2414,), image_shape",
        "the Extended Yale Face Database B, cropped images (Georghiades 2001, Lee 2005)",
    ),
}
_FASHION_LABELS = (
    *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
    *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
)


def load(name):
    """Data set of the paper, or whatever the package can load."""
    return STORED[name]() if name in STORED else datasets.load(name)


def _codes(labels, names):
    """Return the position of labels among names; numbers are positions."""
    place = {name: str(code) for code, name in enumerate(names)}
    return np.array([int(place.get(str(label), label)) for label in labels.tolist()])


def guo_qpcr():
    """Single-cell qPCR of mouse embryos: 437 cells, 48 genes, 10 stages (the paper's PCR).

    Returns
    -------
    Dataset
        ``X`` (437, 48), each gene with mean 0 and variance 1; ``y`` the stage, in its order.
    """
    file = _stored("guo_qpcr")
    names = tuple(map(str, file["label_names"]))
    labels = Labels("", _codes(file["y"], names), names)
    features = tuple(map(str, file["feature_names"]))
    X = np.asarray(file["X"], dtype=np.float64)
    return Dataset(X=X, labels=(labels,), name="guo_qpcr", feature_names=features)


def coil20():
    """COIL-20: 20 objects on a turntable, 72 views each, 128 x 128 pixels.

    Returns
    -------
    Dataset
        ``X`` (1440, 16384), 0 to 1; ``y`` the object.
    """
    file = _stored("coil20")
    labels = Labels("", *encode_labels(file["y"]))
    shape = int(file["image_shape"][0]), int(file["image_shape"][1])
    return Dataset(X=file["X"] / 255.0, labels=(labels,), name="coil20", image_shape=shape)


def fashion_mnist(*, split="test", n_samples=3000):
    """Fashion-MNIST, 28 x 28 pixels; by default the rows that the paper uses.

    Parameters
    ----------
    split : {"test", "train", "all"}
        The 10 000 test rows, the 60 000 training rows, or both, training rows first.
    n_samples : int or None
        First rows to keep; None keeps all. The paper keeps the first 3000 test rows.

    Returns
    -------
    Dataset
        ``X`` (n, 784), 0 to 1; ``y`` the kind of clothing.
    """
    file = _stored("fashion_mnist")
    keys = ("train", "test") if split == "all" else (split,)
    X = np.concatenate([file[f"X_{key}"] for key in keys])[:n_samples] / 255.0
    y = np.concatenate([file[f"y_{key}"] for key in keys])[:n_samples]
    labels = Labels("", _codes(y, _FASHION_LABELS), _FASHION_LABELS)
    return Dataset(X=X, labels=(labels,), name="fashion_mnist", image_shape=(28, 28))


def extended_yale_b(*, image_shape=(32, 32)):
    """Faces of Extended Yale B: 38 people in about 64 lightings, cropped.

    Parameters
    ----------
    image_shape : (int, int) or None
        Height and width to shrink to, by area averages; None keeps 192 x 168 (0.6 GB).

    Returns
    -------
    Dataset
        ``X`` (2414, height * width), 0 to 1; ``y`` the person.
    """
    file = _stored("extended_yale_b")
    stored, full = file["X"], (int(file["image_shape"][0]), int(file["image_shape"][1]))
    labels = Labels("", *encode_labels(file["y"]))
    shape = full if image_shape is None else image_shape
    X = (stored if shape == full else shrink_images(stored, full, shape)) / 255.0
    return Dataset(X=X, labels=(labels,), name="extended_yale_b", image_shape=shape)


def shrink_images(X, shape, smaller):
    """Shrink (n, height * width) images by area averages; pixels need not divide evenly.

    Examples
    --------
    >>> shrink_images(np.array([[1.0, 3.0, 5.0, 7.0]]), (2, 2), (1, 2))
    array([[3., 5.]])
    """
    if not (1 <= smaller[0] <= shape[0] and 1 <= smaller[1] <= shape[1]):
        raise ValueError(
            f"image_shape must lie between (1, 1) and {shape}, got {smaller}; images only shrink"
        )
    rows, columns = _area_weights(shape[0], smaller[0]), _area_weights(shape[1], smaller[1])
    out = np.empty((X.shape[0], smaller[0] * smaller[1]))
    for start in range(0, X.shape[0], 256):
        images = X[start : start + 256].reshape(-1, *shape).astype(np.float64)
        out[start : start + 256] = (rows @ images @ columns.T).reshape(len(images), -1)
    return out


def _area_weights(size, smaller):
    """Fraction of each old pixel in each new one, (smaller, size), rows sum to 1."""
    edges = np.arange(smaller + 1) * size / smaller
    low = np.maximum(edges[:-1, None], np.arange(size))
    high = np.minimum(edges[1:, None], np.arange(1, size + 1))
    return np.maximum(high - low, 0.0) * smaller / size


def _stored(name):
    """Arrays of a data set in the folder that the environment names, or where to get it."""
    home = os.environ.get(DATA_HOME)
    file, keys, origin = _SOURCES[name]
    path = Path(home or "", file)
    if not home or not path.is_file():
        where = f"{home!r} has no {file}" if home else f"{DATA_HOME} is not set"
        raise FileNotFoundError(
            f"the data set {name!r} must lie in the folder that {DATA_HOME} names, but {where}; "
            f"get it from {origin}, save it as {file} with arrays {keys}, "
            f"and set {DATA_HOME} to its folder"
        )
    with np.load(path) as arrays:
        return dict(arrays)


STORED = {
    "guo_qpcr": guo_qpcr,
    "coil20": coil20,
    "fashion_mnist": fashion_mnist,
    "extended_yale_b": extended_yale_b,
}
"""Loaders by name."""
