"""Whether two embeddings are the same: a fingerprint to read, and the largest move."""

import numpy as np
from numpy.typing import ArrayLike

from ._base.validation import like, table

__all__ = ["fingerprint", "largest_move"]


def fingerprint(coordinates: ArrayLike) -> str:
    """Few digits that two embeddings have in common if they are the same up to a rigid motion.

    Random signs are given to the points, the same for every table of that many rows. The length
    of the signed sum of the centered coordinates does not depend on rotation, reflection or shift.
    It is given in thousandths of what it is on average.

    Parameters
    ----------
    coordinates : (n, M) array_like of float
        Coordinates of the points, in any frame.

    Returns
    -------
    str
        Root mean square radius, then six numbers, around 1000. Rounding may change a last digit
        by one where embeddings differ by less than 1e-8; `largest_move` decides.

    Raises
    ------
    ValueError
        If the coordinates are no table of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph.fingerprint import fingerprint
    >>> Z = np.arange(12.0).reshape(6, 2) ** 2
    >>> fingerprint(Z) == fingerprint(Z @ [[0.6, -0.8], [0.8, 0.6]] + 3.0)
    True
    """
    Z = table("coordinates", coordinates)
    Z = Z - Z.mean(axis=0)
    radius = float(np.sqrt((Z**2).sum() / max(len(Z), 1)))
    if radius == 0.0:
        return "0"
    signs = np.random.default_rng(len(Z)).choice([-1.0, 1.0], size=(6, len(Z)))
    lengths = np.linalg.norm(signs @ Z, axis=1) / (radius * np.sqrt(len(Z)))
    return "-".join([f"{radius:.4g}", *(f"{round(1e3 * length):04d}" for length in lengths)])


def largest_move(first: ArrayLike, second: ArrayLike) -> float:
    """Largest difference of any coordinate of two embeddings, over the extent of the first.

    Parameters
    ----------
    first, second : (n, M) array_like of float
        Coordinates of the same points, in the same frame: no alignment is done.

    Returns
    -------
    float
        The largest absolute difference as a fraction of the largest range of a coordinate.

    Raises
    ------
    ValueError
        If the two have different shapes or are no tables of finite numbers.

    Examples
    --------
    >>> from ikd_graph.fingerprint import largest_move
    >>> largest_move([[0.0], [2.0]], [[0.0], [2.5]])
    0.25
    """
    before, after = table("first", first), table("second", second)
    like("first", before)("second", after)
    extent = float(np.ptp(before, axis=0).max(initial=0.0))
    move = float(np.abs(before - after).max(initial=0.0))
    return move / extent if extent > 0.0 else move
