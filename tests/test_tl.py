"""Annotated matrices in and out, whatever library made them."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from ikd_graph import IKD, tl

X = np.abs(np.sin(np.linspace(0, 1, 60)[:, None] * np.arange(2, 14) + np.arange(12)))
PLAIN = {"strategy": "geodesic", "n_neighbors": 7, "refine": None, "affinity": "correlation"}


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
    assert adata.uns["ikd"]["params"]["n_neighbors"] == 7
    assert adata.uns["ikd"]["params"]["refine"] == "none"
    assert adata.uns["ikd"]["reasons"] == expected.choices_


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


def test_a_copy_leaves_the_original_as_it_was_and_so_does_a_failure():
    adata = Annotated(X)
    made = tl.ikd(adata, copy=True, **PLAIN)
    assert made.obsm["X_ikd"].shape == (60, 2)
    with pytest.raises(ValueError, match="strategy must be one of"):
        tl.ikd(adata, strategy="best")
    assert [*adata.obsm, *adata.obsp, *adata.uns, *adata.obs] == []


def test_a_table_on_the_disk_is_brought_into_memory(expected):
    adata = Annotated(SimpleNamespace(to_memory=lambda: sp.csr_matrix(X)))
    tl.ikd(adata, **PLAIN)
    np.testing.assert_allclose(adata.obsm["X_ikd"], expected.embedding_, atol=1e-6)


def test_uncertainty_is_added_where_there_is_one():
    adata = Annotated(X)
    tl.ikd(adata, 1, **(PLAIN | {"refine": "likelihood"}))
    spread = adata.obs["ikd_standard_error"]
    assert spread.shape == (60,)
    assert (spread > 0.0).all()


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
    backed = anndata.read_h5ad(tmp_path / "t.h5ad", backed="r+")
    tl.ikd(backed, key_added="X_backed", **PLAIN)
    np.testing.assert_allclose(backed.obsm["X_backed"], expected.embedding_, atol=1e-6)
