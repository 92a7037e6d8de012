"""Points that have names: a graph or a frame of pairs is put in the order of the rows."""

from collections.abc import Sequence
from typing import Any


def numbers_in_order(names: Sequence[Any]) -> list[Any]:
    """Names of points, in numerical order where they are whole numbers without gaps."""
    numbers = _numbers(names)
    return [name for _, name in sorted(zip(numbers, names, strict=True))] if numbers else [*names]


def order_of_rows(what: str, names: Sequence[Any], rows: Sequence[Any], cures: str) -> list[int]:
    """Positions of the points of a graph or a frame, in the order of the rows with their names.

    Parameters
    ----------
    what : str
        What has the names, for messages.
    names : sequence of length n
        Names of the points, compared as text.
    rows : sequence
        Names of the rows; empty where these are only counted.
    cures : str
        How to match them by name, and how by position.

    Returns
    -------
    list of int
        Position in ``names`` of each row; that of the row itself where one of both is only counted.

    Raises
    ------
    ValueError
        If the rows have other names, or both are the numbers from 0 in different order, so that
        name and position say different things.
    """
    called, wanted, counted = [*map(str, names)], [*map(str, rows)], [*range(len(names))]
    place = {name: position for position, name in enumerate(called)}
    numbers = _numbers(names)
    if len(wanted) != len(called) or (numbers and place.keys() != set(wanted)):
        return counted
    order = [place.get(name, -1) for name in wanted]
    if sorted(order) == counted and (order == counted or min(numbers, default=1) > 0):
        return order
    raise ValueError(
        f"{what} must have the names of the rows of X, or their order, got {called[:2]}, ... "
        f"where rows are {wanted[:2]}, ...; {cures}"
    )


def frame_by_name(X: Any) -> Any:
    """X with its columns in the order of its rows, where a square data frame names them alike."""
    if not (hasattr(X, "columns") and hasattr(X, "index")) or X.shape[0] != X.shape[1]:
        return X
    names, rows = X.columns.tolist(), X.index.tolist()
    if set(map(str, names)) != set(map(str, rows)):
        return X
    cures = "X[X.index] matches them by name, X.to_numpy() by position"
    return X.iloc[:, order_of_rows("columns of pairs", names, rows, cures)]


def _numbers(names: Sequence[Any]) -> list[int]:
    """Names as whole numbers without gaps; none where they are anything else."""
    texts = [*map(str, names)]
    numbers = [*map(int, texts)] if all(text.isdecimal() for text in texts) else []
    first = min(numbers, default=0)
    return numbers if sorted(numbers) == [*range(first, first + len(numbers))] else []
