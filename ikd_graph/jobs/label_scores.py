"""How well labels of any kind can be read from an embedding: classes, measurements, angles."""

from collections.abc import Mapping

import numpy as np

from .. import metrics
from .._base.dataset import FEWEST_OF_A_CLASS, Labels, class_codes, label_quantity
from .._base.types import Floats

WORDS = {
    "knn": "5-NN accuracy",
    "silhouette": "silhouette",
    "decoding": "decoding R²",
    "decoding_blocks": "in blocks of rows",
}
"""Names of the scores for readers."""


def score_labels(Z: Floats, labels: Labels) -> dict[str, float]:
    """Compute every score that the kind of labels allows, of the points that have a label.

    Classes are predicted by neighbors and have a silhouette.
    Measurements are predicted by neighbors, in shuffled parts and in blocks of consecutive rows:
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
    >>> import numpy as np
    >>> at = np.linspace(0.0, 1.0, 100)
    >>> scores = score_labels(at[:, None], Labels("height", at, ()))
    >>> list(scores), scores["decoding"] > 0.99
    (['decoding', 'decoding_blocks'], True)
    """
    out = {}
    codes, quantity = class_codes(labels), label_quantity(labels)
    if codes is not None:
        labeled = codes >= 0
        points, codes = np.asarray(Z)[labeled], codes[labeled]
        if np.bincount(codes).min() >= FEWEST_OF_A_CLASS:
            out["knn"] = metrics.knn_accuracy(points, codes)
        out["silhouette"] = metrics.silhouette(points, codes)
    if quantity is not None:
        labeled = ~np.isnan(quantity)
        points, quantity = np.asarray(Z)[labeled], quantity[labeled]
        near = min(10, len(points) // 2)
        for name, seed in (("decoding", 0), ("decoding_blocks", None)):
            out[name] = metrics.decoding_r2(points, quantity, near, seed=seed, period=labels.period)
    return out


def format_scores(scores: Mapping[str, float]) -> str:
    """Write scores of labels with their names, see `score_labels`.

    Examples
    --------
    >>> format_scores({"decoding": 0.9123, "decoding_blocks": 0.85})
    'decoding R² 0.912, in blocks of rows 0.850'
    """
    texts = [f"{WORDS[name]} {value:.3f}" for name, value in scores.items()]
    return ", ".join(texts) or "nothing to score (one value, or one for each point)"
