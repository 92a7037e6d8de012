"""Annotated matrices in and out, whatever library made them."""

import copy
from types import SimpleNamespace

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tables import process

from ikd_graph import IKD, pl, refine, tl
from ikd_graph.plotting import colors, plot

X = np.abs(np.sin(np.linspace(0, 1, 60)[:, None] * np.arange(2, 14) + np.arange(12)))
PLAIN = {"strategy": "geodesic", "graph": 7, "refine": None, "affinity": "correlation"}


class Annotated(SimpleNamespace):
    """As much of an AnnData as is used."""

    def __init__(self, table=None, **more):
        super().__init__(X=table, obs={}, obsm={}, obsp={}, uns={}, layers={})
        vars(self).update(more)

    def copy(self):
        return copy.deepcopy(self)


@pytest.fixture
def expected():
    return IKD(**PLAIN).fit(X)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_coordinates_graph_and_reasons_are_added(form, expected):
    adata = Annotated(form(X))
    assert tl.ikd(adata, **PLAIN) is None
    np.testing.assert_allclose(adata.obsm["X_ikd"], expected.embedding_, atol=1e-6)
    graph = adata.obsp[adata.uns["ikd"]["connectivities_key"]]
    assert graph.shape == (60, 60)
    assert graph.nnz == 2 * expected.graph_.n_edges
    assert abs(graph - graph.T).max() < 1e-12
    assert adata.uns["ikd"]["params"]["graph"] == "Neighbors(k=7, prune=True)"
    assert adata.uns["ikd"]["params"]["refine"] == "none"
    assert adata.uns["ikd"]["reasons"] == expected.settings_.reasons


def test_layers_and_representations_are_found_by_key(expected):
    adata = Annotated(-X, layers={"counts": X}, obsm={"X_pca": X})
    for where in ({"layer": "counts"}, {"use_rep": "X_pca"}):
        tl.ikd(adata, key_added="X_other", **where, **PLAIN)
        np.testing.assert_array_equal(adata.obsm["X_other"], expected.embedding_)
        assert "other_connectivities" in adata.obsp
        assert "X_ikd" not in adata.obsm
    with pytest.raises(ValueError, match=r"use_rep must be a key of adata\.obsm: 'X_pca', "):
        tl.ikd(adata, use_rep="X_umap")
    with pytest.raises(ValueError, match=r"layer must be a key of .* 'counts'; got 'a'"):
        tl.ikd(adata, layer="a")
    with pytest.raises(ValueError, match="must not both be given"):
        tl.ikd(adata, layer="counts", use_rep="X_pca")
    with pytest.raises(ValueError, match="got None; name one with use_rep or layer"):
        tl.ikd(Annotated(None))


@pytest.mark.filterwarnings("ignore:the embedding has a reliability:UserWarning")
def test_uncertainty_is_added_where_there_is_one():
    adata = Annotated(process(np.linspace(0.0, 4.0, 60)[:, None], 60, 0.3))
    tl.ikd(adata, 1, **(PLAIN | {"refine": refine.Likelihood(descent="annealed")}))
    spread = adata.obs["ikd_standard_error"]
    assert spread.shape == (60,)
    assert (spread > 0.0).all()


SHADES = ["#112233", "#445566", "#778899"]


def shown(ax):
    """Name and color of each entry of a legend."""
    legend = ax.get_legend()
    return {
        text.get_text(): mpl.colors.to_hex(handle.get_color())
        for text, handle in zip(legend.texts, legend.legend_handles, strict=True)
    }


def drawn(column, **uns):
    """Points of a column of labels, in a picture."""
    Z = np.arange(12.0).reshape(6, 2)
    adata = Annotated(obsm={"X_ikd": Z}, obs={"kind": column}, uns=uns)
    return pl.ikd(adata, "kind", ax=plot.axes())


def test_classes_have_the_colors_of_scanpy():
    pandas = pytest.importorskip("pandas")
    kinds = pandas.Series(pandas.Categorical(list("zbzbaa"), categories=list("zba")))
    assert shown(drawn(kinds, kind_colors=np.array(SHADES))) == dict(
        zip("zba", SHADES, strict=True)
    )
    kinds[0] = None
    assert shown(drawn(kinds, kind_colors=SHADES))["no label"] == colors.MUTED
    assert shown(drawn(list("bbaabb"), kind_colors=SHADES)) == {"a": SHADES[0], "b": SHADES[1]}


def test_a_real_annotated_matrix_survives_its_file(tmp_path, expected):
    anndata = pytest.importorskip("anndata")
    # Its names of rows are text of pandas 3, which it writes when told to.
    anndata.settings.allow_write_nullable_strings = True
    adata = anndata.AnnData(sp.csr_matrix(X))
    tl.ikd(adata, **PLAIN)
    adata.write_h5ad(tmp_path / "t.h5ad")
    again = anndata.read_h5ad(tmp_path / "t.h5ad")
    np.testing.assert_array_equal(again.obsm["X_ikd"], adata.obsm["X_ikd"])
    assert again.uns["ikd"]["params"]["refine"] == "none"
    pl.ikd(again, ax=plot.axes())
    backed = anndata.read_h5ad(tmp_path / "t.h5ad", backed="r+")
    tl.ikd(backed, key_added="X_backed", **PLAIN)
    np.testing.assert_allclose(backed.obsm["X_backed"], expected.embedding_, atol=1e-6)


def test_genes_and_several_colors_are_drawn():
    counts = np.arange(60) % 5
    table = np.column_stack([counts, X[:, 0]])
    adata = Annotated(
        table, obs={"kind": counts}, obsm={"X_ikd": X[:, :2]}, var_names=["gene a", "gene b"]
    )
    shown = pl.ikd(adata, ["kind", "gene a", "gene b"])
    assert [ax.get_legend() is None for ax in shown] == [False, True, True]
    (points,) = shown[1].collections
    same = [
        (points.get_facecolors() == shade).all(axis=1).sum() for shade in points.get_facecolors()
    ]
    assert same == [12] * 60
    with pytest.raises(ValueError, match="did you mean 'gene a'"):
        pl.ikd(adata, "gen a")


def genes(names, table=X):
    return Annotated(table.copy(), var_names=pd.Index(names), obs_names=range(len(table)))


def test_genes_of_one_name_are_placed_in_their_order_or_refused():
    names = ["g", "g", *"abcdefghij"]
    ref = genes(names)
    tl.ikd(ref, **PLAIN)
    new = genes(names, X[:5])
    tl.place(new, ref)
    np.testing.assert_array_equal(new.obsm["X_ikd"], ref.obsm["X_ikd"][:5])
    with pytest.raises(ValueError, match=r"must have a name each.*var_names_make_unique\(\)"):
        tl.place(genes(names[::-1], X[:5, ::-1]), ref)


@pytest.mark.parametrize("damage", [lambda m: m[:100], lambda m: "text", lambda m: [300, -1]])
def test_a_damaged_model_is_refused_with_the_call_that_makes_one(damage):
    ref = Annotated(X)
    tl.ikd(ref, **PLAIN)
    ref.uns["ikd"]["model"] = damage(ref.uns["ikd"]["model"])
    with pytest.raises(ValueError, match=r"ref\.uns\['ikd'\] .*tl\.ikd\(ref\) adds one"):
        tl.place(Annotated(X), ref)
    del ref.uns["ikd"]["params"]
    with pytest.raises(ValueError, match=r"must hold a model .*tl\.ikd\(ref\) adds one"):
        tl.place(Annotated(X), ref)


def test_a_representation_called_x_is_not_the_table():
    ref = Annotated(X, obsm={"X": X[:, :3].copy()})
    for use_rep in ("X", None):
        tl.ikd(ref, use_rep=use_rep, **PLAIN)
        new = Annotated(X[:5], obsm={"X": X[:5, :3].copy()})
        tl.place(new, ref)
        np.testing.assert_array_equal(new.obsm["X_ikd"], ref.obsm["X_ikd"][:5])
