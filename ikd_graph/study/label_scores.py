"""How well labels of any kind can be read from an embedding: classes, measurements, angles."""

import numpy as np
from numpy.typing import NDArray

from . import metrics
from .datasets import Labels
from .metrics import Floats

FEWEST_OF_A_CLASS = 5
"""Points of the smallest class below which a five-fold cross-validation cannot hold it."""

MOST_CLASSES = 60
"""Beyond as many whole numbers labels are a measurement too, as in the pictures."""

WORDS = {
    "knn": "5-NN accuracy",
    "silhouette": "silhouette",
    "decoding": "decoding R²",
    "decoding_blocks": "in blocks of rows",
}
"""Names of the scores for readers."""


def score_labels(Z: Floats, labels: Labels) -> dict[str, float]:
    """Compute every score that the kind of labels allows, of the points that have a label.

    Classes are predicted by neighbours and have a silhouette.
    Measurements are predicted by neighbours, in shuffled parts and in blocks of consecutive rows:
    the blocks are the harder test where rows follow one another in time. A measurement around a
    circle (``period``) is predicted by its sine and cosine.

    Parameters
    ----------
    Z : (n, n_components) float64
        The embedding.
    labels : Labels
        One label for each point.

    Returns
    -------
    dict of str to float
        Keys among ``WORDS``; empty where the labels say nothing.

    Examples
    --------
    >>> at = np.linspace(0.0, 1.0, 100)
    >>> scores = score_labels(at[:, None], Labels("height", at, ()))
    >>> list(scores), scores["decoding"] > 0.99
    (['decoding', 'decoding_blocks'], True)
    """
    out = {}
    codes, quantity = class_codes(labels), label_quantity(labels)
    if codes is not None:
        labelled = codes >= 0
        points, codes = np.asarray(Z)[labelled], codes[labelled]
        if np.bincount(codes).min() >= FEWEST_OF_A_CLASS:
            out["knn"] = metrics.knn_accuracy(points, codes)
        out["silhouette"] = metrics.silhouette(points, codes)
    if quantity is not None:
        near = min(10, int(np.count_nonzero(~np.isnan(quantity))) // 2)
        for name, seed in (("decoding", 0), ("decoding_blocks", None)):
            out[name] = metrics.decoding_r2(Z, quantity, near, seed=seed, period=labels.period)
    return out


def class_codes(labels: Labels) -> NDArray[np.int64] | None:
    """Code of the class of each point, 0 .. n_classes - 1; None without at least two classes.

    Parameters
    ----------
    labels : Labels
        One label for each point.

    Returns
    -------
    (n,) int64 or None
        -1 for points without a label. Classes that no point has are left out.
    """
    if not labels.names:
        return None
    labelled, codes = labels.known, np.full(len(labels.y), -1)
    names = labels.y[labelled].astype(np.int64)
    present, codes[labelled] = np.unique(names, return_inverse=True)
    return codes if 1 < present.size < names.size else None


def label_quantity(labels: Labels) -> Floats | None:
    """Labels as numbers, where they are a measurement.

    A measurement in whole numbers is read as classes. What tells it from numbered classes is that
    it has more values than classes do, or than can be told from so few points.

    Parameters
    ----------
    labels : Labels
        One label for each point.

    Returns
    -------
    (n,) float64 or None
        NaN where unknown; None if labels are no measurement or say nothing.
    """
    if labels.numbers is None:
        return None
    values = np.where(np.isfinite(labels.numbers), labels.numbers, np.nan)
    n_values = np.unique(values[~np.isnan(values)]).size
    if labels.names and n_values <= min(MOST_CLASSES, len(values) / FEWEST_OF_A_CLASS):
        return None
    return values if n_values > 1 and np.count_nonzero(~np.isnan(values)) >= 10 else None
