"""Pictures of annotated matrices (AnnData), with the names, habits and palettes of scanpy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .show import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ikd(
    adata: Any, color: str | None = None, *, basis: str = "X_ikd", ax: Axes | None = None
) -> Axes:
    """Draw the coordinates that `ikd_graph.tl.ikd` added to an annotated matrix.

    Parameters
    ----------
    adata : AnnData
        Observations in rows. Whatever has ``obs``, ``obsm`` and ``uns`` will do; anndata itself is
        not imported.
    color : str or None
        Column of ``obs`` that colours points: classes in the colours of ``uns["<color>_colors"]``
        where scanpy has put some there, or a quantity.
    basis : str
        Key in ``obsm`` of the coordinates; the first two are drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn into.

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
        known = ", ".join(map(repr, adata.obsm)) or "none"
        raise ValueError(
            f"basis must be a key of adata.obsm: {known}; got {basis!r}; ikd_graph.tl.ikd(adata) "
            "adds 'X_ikd'"
        )
    if color is None:
        return plot.embedding(adata.obsm[basis], ax=ax)
    if color not in adata.obs:
        known = ", ".join(map(repr, adata.obs)) or "none"
        raise ValueError(f"color must be a column of adata.obs: {known}; got {color!r}")
    labels, names = adata.obs[color], None
    if hasattr(labels, "cat"):
        labels, names = labels.cat.codes, labels.cat.categories
    return plot.embedding(
        adata.obsm[basis], np.asarray(labels), names=names, label_title=color,
        palette=[str(shade) for shade in adata.uns.get(f"{color}_colors", ())], ax=ax,
    )  # fmt: skip
