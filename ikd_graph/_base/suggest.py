"""What a misspelt word may stand for."""

import difflib
from collections.abc import Iterable
from typing import Any

SYNONYMS = {
    "rbf": "squared_exponential",
    "gaussian": "squared_exponential",
    "se": "squared_exponential",
    "exponentiated_quadratic": "squared_exponential",
    "rq": "rational_quadratic",
    "pearson": "correlation",
    "l2": "euclidean",
    "distance": "precomputed_distance",
    "distances": "precomputed_distance",
    "seuclidean": "standardized_euclidean",
    "snn": "shared_neighbors",
    "isomap": "geodesic",
    "mds": "eigen",
    "pca": "linear",
}
"""Names of the field for what has another name here."""


def suggest(word: Any, valid: Iterable[Any]) -> str:
    """Suggest the nearest valid word, as the end of a sentence; empty if nothing is near.

    Examples
    --------
    >>> suggest("grup", ["group", "dose"])
    "; did you mean 'group'?"
    """
    allowed = [str(choice) for choice in valid]
    meant = SYNONYMS.get(str(word).lower().replace("-", "_"))
    if meant in allowed:
        return f"; did you mean {meant!r}?"
    near = difflib.get_close_matches(str(word), allowed, 1)
    return f"; did you mean {near[0]!r}?" if near else ""
