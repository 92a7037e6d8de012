"""Pictures of annotated matrices (AnnData), with the names, habits and palettes of scanpy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._base.format import suggest
from .plotting import plot
from .plotting.colors import Paint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ikd"]


@plot.labels_are_color
def ikd(
    adata: Any,
    color: str | Sequence[str] | None = None,
    *,
    basis: str = "X_ikd",
    ax: Axes | None = None,
) -> Axes | list[Axes]:
    """Draw the coordinates that `ikd_graph.tl.ikd` added to an annotated matrix.

    Parameters
    ----------
    adata : AnnData
        Observations in rows. Whatever has ``obs``, ``obsm`` and ``uns`` will do; anndata itself is
        not imported.
    color : str, sequence of str or None
        Column of ``obs`` that colors points: classes in the colors of ``uns["<color>_colors"]``
        where scanpy has put some there, or a quantity; or a name of ``var_names`` (a gene), whose
        column of ``X`` colors them. Several give a picture each, side by side. ``labels=`` is
        another name of it.
    basis : str
        Key in ``obsm`` of the coordinates; the first two are drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure. Not with several colors.

    Returns
    -------
    matplotlib.axes.Axes or list of them
        The Axes drawn into, a list for a sequence of colors.

    Raises
    ------
    ValueError
        If a key is not there, with those that are.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> adata = SimpleNamespace(
    ...     obs={"kind": ["a", "b", "b"]},
    ...     obsm={"X_ikd": [[0, 0], [1, 2], [2, 1]]},
    ...     uns={"kind_colors": ["#112233", "#445566"]},
    ... )
    >>> ikd(adata, "kind").get_legend().get_title().get_text()
    'kind'
    """
    if basis not in adata.obsm:
        keys = ", ".join(map(repr, adata.obsm)) or "none"
        raise ValueError(
            f"basis must be a key of adata.obsm: {keys}; got {basis!r}; ikd_graph.tl.ikd(adata) "
            "adds 'X_ikd'"
        )
    if not isinstance(color, (str, type(None))):
        import matplotlib.pyplot as plt

        _, axes = plt.subplots(1, len(color), figsize=(6 * len(color), 4), layout="constrained")
        return [
            ikd(adata, name, basis=basis, ax=each)  # type: ignore[misc]
            for name, each in zip(color, np.ravel(axes), strict=True)
        ]
    genes, labels = list(getattr(adata, "var_names", ())), None
    look: dict[str, Any] = {"label_title": color or ""}
    if color in adata.obs:
        labels = adata.obs[color]
        look["palette"] = [str(shade) for shade in adata.uns.get(f"{color}_colors", ())]
    elif color in genes:
        column = adata.X[:, [genes.index(color)]]
        values = np.ravel(column.toarray() if hasattr(column, "toarray") else column)
        labels = Paint(str(color), values.astype(np.float64))
    elif color is not None:
        keys = ", ".join(map(repr, adata.obs)) or "none"
        raise ValueError(
            f"color must be a column of adata.obs: {keys}, or a name of adata.var_names; got "
            f"{color!r}{suggest(color, [*adata.obs, *genes])}"
        )
    return plot.embedding(adata.obsm[basis], labels, ax=ax, **look)
