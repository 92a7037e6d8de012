"""Annotated matrices (AnnData) in and out, with the names and habits of scanpy's tools."""

from io import BytesIO
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _model_file
from ._base.rounding import TINY
from .estimator import IKD

__all__ = ["ikd", "place"]


def ikd(
    adata: Any,
    n_components: int | str = 2,
    *,
    use_rep: str | None = None,
    layer: str | None = None,
    key_added: str = "X_ikd",
    keep_model: bool = True,
    copy: bool = False,
    **settings: Any,
) -> Any:
    """Find the hidden coordinates of the observations of an annotated matrix.

    Parameters
    ----------
    adata : AnnData
        Observations in rows. Whatever has ``X``, ``obsm``, ``obsp``, ``obs``, ``uns`` and
        ``layers`` will do; anndata itself is not imported.
    n_components : int or "auto"
        Number of hidden coordinates.
    use_rep : str or None
        Key in ``obsm`` of the table to embed, such as "X_pca"; None embeds ``X`` or the layer.
    layer : str or None
        Key in ``layers`` of the table to embed.
    key_added : str
        Key in ``obsm`` of the coordinates. Without its "X_" it names what else is added.
    keep_model : bool
        Whether the model goes into ``uns``, so that `place` can place other observations; it holds
        the table it was fitted to.
    copy : bool
        Whether to leave ``adata`` as it is and return a changed copy.
    **settings : dict
        Further parameters of `ikd_graph.IKD`.

    Returns
    -------
    AnnData or None
        The copy, if one was asked for. Added are, for the default key:

        - ``obsm["X_ikd"]``, (n_obs, n_components) float64: the coordinates;
        - ``obsp["ikd_connectivities"]`` and ``obsp["ikd_distances"]``, (n_obs, n_obs) sparse: the
          graph of trusted covariances and the lengths of its edges (not for strategies "eigen" and
          "linear"), with which ``neighbors_key="ikd"`` of scanpy's tools works;
        - ``obs["ikd_standard_error"]``, (n_obs,) float64: uncertainty of the coordinates, where
          the fit has one;
        - ``uns["ikd"]``: settings with nothing left to choose, reasons, eigenvalues, the model.

    Raises
    ------
    ValueError
        If a key is not there, with those that are, or as `IKD.fit` does.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits().data[:150]
    >>> adata = SimpleNamespace(X=X, obs={}, obsm={}, obsp={}, uns={}, layers={})
    >>> ikd(adata, graph=7, refine="stress")
    >>> adata.obsm["X_ikd"].shape, adata.obsp["ikd_connectivities"].shape
    ((150, 2), (150, 150))

    References
    ----------
    C. Li and A. Wu, Inverse Kernel Decomposition, Transactions on Machine Learning Research, 2024.
    """
    model = IKD(n_components, **settings)
    model.fit(_table(adata, use_rep, layer, model))
    into = adata.copy() if copy else adata
    name = key_added.removeprefix("X_")
    added: dict[str, Any] = {
        # For tools of scanpy "X" is the table itself, or a representation of that name.
        "params": {"method": "ikd", "use_rep": use_rep or "X", "layer": layer or ""}
        | {"in_obsm": use_rep is not None}
        | {key: _storable(value) for key, value in model.settings_.parameters().items()},
        "reasons": dict(model.settings_.reasons),
        "eigenvalues": model.eigenvalues_.copy(),
        "explained_variance_ratio": model.explained_variance_ratio_.copy(),
    }
    if keep_model:
        packed = BytesIO()
        _model_file.write(model, packed)
        added["model"] = np.frombuffer(packed.getvalue(), dtype=np.uint8).copy()
    if model.graph_ is not None:
        g, n = model.graph_, model.embedding_.shape[0]
        lengths = np.sqrt(model.kernel_.sq_distance(g.weights))
        # Edges of duplicate observations have no length, and are edges all the same.
        lengths = np.maximum(lengths, TINY)
        for what, values in (("connectivities", g.weights), ("distances", lengths)):
            added[f"{what}_key"] = f"{name}_{what}"
            # Arrays of its own: tools of scanpy write into them.
            into.obsp[f"{name}_{what}"] = sp.csr_matrix(
                (values.copy(), g.indices.copy(), g.indptr.copy()), (n, n)
            )
        added["params"]["n_neighbors"] = int(np.ceil(np.diff(g.indptr).mean())) + 1
    if np.isfinite(model.reliability_):
        spread = np.sqrt(np.sum(model.standard_errors_**2, axis=1))
        into.obs[f"{name}_standard_error"] = spread
    into.obsm[key_added] = model.embedding_.copy()
    into.uns[name] = added
    return into if copy else None


def place(adata: Any, ref: Any, *, key_added: str = "X_ikd") -> None:
    """Place observations in the coordinates that `ikd` found for others.

    Parameters
    ----------
    adata : AnnData
        New observations, with the variables of ``ref`` in any order. ``obsm[key_added]``,
        (n_obs, n_components) float64, is added.
    ref : AnnData
        Observations that `ikd` was called with, as they are or read from a file.
    key_added : str
        Key in ``obsm`` of the coordinates, as `ikd` was given it.

    Raises
    ------
    ValueError
        If ``ref`` has no model, or a variable of it is missing.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits().data
    >>> ref, new = (
    ...     SimpleNamespace(X=X[rows], obs={}, obsm={}, obsp={}, uns={}, layers={})
    ...     for rows in (slice(150), slice(150, 160))
    ... )
    >>> ikd(ref, graph=7, refine="stress")
    >>> place(new, ref)
    >>> new.obsm["X_ikd"].shape
    (10, 2)
    """
    name = key_added.removeprefix("X_")
    record, cure = ref.uns.get(name, {}), "ikd_graph.tl.ikd(ref) adds one"
    if not {"model", "params"}.issubset(record):
        known = ", ".join(ref.uns) or "nothing"
        raise ValueError(f"ref.uns must hold a model of {key_added!r}, got {known}; {cure}")
    model = _model_file.unpack(
        f"ref.uns[{name!r}]", lambda: BytesIO(np.uint8(record["model"]).tobytes()), IKD, cure
    )
    params = {"use_rep": "X", "layer": "", "in_obsm": False, **record["params"]}
    use_rep, layer = str(params["use_rep"]), str(params["layer"])
    of_variables = use_rep == "X" and not params["in_obsm"]
    X = _table(adata, None if of_variables else use_rep, layer or None, model)
    if of_variables and hasattr(ref, "var_names") and not adata.var_names.equals(ref.var_names):
        if not (adata.var_names.is_unique and ref.var_names.is_unique):
            raise ValueError(
                "variables of adata and ref must have a name each, or one order; call "
                "var_names_make_unique() of both"
            )
        order = adata.var_names.get_indexer(ref.var_names)
        if np.any(order < 0):
            gone = ref.var_names[order < 0]
            raise ValueError(
                f"adata must have the variables of ref, got none called {gone[0]!r} "
                f"({len(gone)} of {len(order)} are missing); add them or fit ref without them"
            )
        X = X[:, order]
    adata.obsm[key_added] = model.transform(X)


def _table(adata: Any, use_rep: str | None, layer: str | None, model: IKD) -> Any:
    """Return the table to embed, in memory; dense where the estimator takes nothing else."""
    if use_rep is not None and layer is not None:
        raise ValueError(
            f"use_rep and layer must not both be given, got {use_rep!r} and {layer!r}; each names "
            "the table to embed"
        )
    for name, key, where in (("use_rep", use_rep, "obsm"), ("layer", layer, "layers")):
        if key is not None and key not in getattr(adata, where):
            known = ", ".join(map(repr, getattr(adata, where))) or "none"
            raise ValueError(f"{name} must be a key of adata.{where}: {known}; got {key!r}")
    X = adata.X if layer is None else adata.layers[layer]
    X = X if use_rep is None else adata.obsm[use_rep]
    if X is None:
        raise ValueError("adata.X must be a table, got None; name one with use_rep or layer")
    # On the disk ("backed").
    X = X.to_memory() if hasattr(X, "to_memory") else X
    if sp.issparse(X) and not model.__sklearn_tags__().input_tags.sparse:
        X = X.toarray()
    return X if sp.issparse(X) or hasattr(X, "columns") else np.asarray(X)


def _storable(value: Any) -> Any:
    """Return a setting as files of annotated matrices hold it: they know no None and no kernels."""
    if value is None:
        return "none"
    return value if isinstance(value, (bool, int, float, str)) else str(value)
