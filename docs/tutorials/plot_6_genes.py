"""
Which genes change here?
========================

Two groups of cells lie next to one another on a map. Which genes change from the one to the
other, and which inside a group? The table is real: 700 cells of blood and 765 genes, of 10x
Genomics. It comes with the package `scanpy <https://scanpy.readthedocs.io>`_ (BSD license).
Nothing is fetched.
"""

# %%
# The table
# ---------
#
# An AnnData of logarithms of counts, with a UMAP of them, and a type for each cell, which no fit
# sees.
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

warnings.simplefilter("ignore", FutureWarning)  # the file is of an older format
package = find_spec("scanpy")
if package is None:
    raise SystemExit(
        "scanpy is not installed. It brings the cells of this tutorial: pip install scanpy"
    )
import anndata

file = Path(package.origin).parent / "datasets" / "10x_pbmc68k_reduced.h5ad"
cells = anndata.read_h5ad(file)
genes = pd.DataFrame(cells.raw.X.toarray(), cells.obs_names, cells.raw.var_names)
kind = cells.obs["bulk_labels"].to_numpy().astype(str)
print(genes.shape, pd.Series(kind).value_counts().head(3).to_dict())

# %%
# The fit, and its verdict
# ------------------------
import ikd_graph
from ikd_graph import IKD

warnings.simplefilter("ignore", UserWarning)  # they are in what is printed as well
model = IKD(n_components=2).fit(genes)
print(model.settings_)
print(model.trust_)
print(f"R² of genes that are held out: {model.held_out_r2_:.2f}")
found = model.loadings()
print(found)

# %%
# The arrangement can be read: two halves of the genes agree by an R² of 0.81. Held-out genes are
# predicted with one of 0.16: most of what a single gene does is not in the map. ``values`` and
# ``standard_errors`` say how steeply every gene rises at every cell, along either coordinate.
print(found.values.shape)

# %%
# In an AnnData the same is a line, with the names that scanpy's functions look for, and a file
# needs no Python::
#
#     ikd_graph.tl.ikd(cells)  # or use_rep="X_pca", layer="counts"
#     sc.pl.embedding(cells, "ikd", color="FCER1A")
#     found = ikd_graph.loadings(cells.obsm["X_ikd"], cells.to_df())
#
#     ikd-graph embed cells.h5ad --labels bulk_labels

# %%
# From here to there
# ------------------
#
# From the middle of the monocytes to that of the dendritic cells: changes in logarithms of counts,
# in order of their size in standard deviations of the gene.
Z = model.embedding_
ends = ["CD14+ Monocyte", "Dendritic"]
path = [np.median(Z[kind == name], axis=0) for name in ends]
along = found.top(8, where=path)
print(along.round(2))

# %%
# FCER1A rises by 3.07 ± 0.21 and CLEC10A by 2.13 ± 0.15 (standard errors), known markers of
# dendritic cells; FCGR3A falls by 3.31 ± 0.37. What do the means of the two types say, without a
# map?
means = genes.groupby(kind).mean()
apart = means.loc[ends[1]] - means.loc[ends[0]]
every = found.top(len(found), where=path).set_index("column")["change"]
agree = np.sign(apart[along["column"]].to_numpy()) == np.sign(along["change"])
print(along.assign(means=apart[along["column"]].to_numpy())[["column", "change", "means"]].round(2))
print(f"means differ in the same direction: {agree.sum()} of {len(along)}")
print(f"correlation over all genes listed: {np.corrcoef(every, apart[every.index])[0, 1]:.2f}")

# %%
# The same: the direction is that of the means for all eight, with a correlation of 0.97 over all
# genes.

# %%
# Inside a group
# --------------
#
# ``where`` takes a region as well. Next to each gene stands its correlation with TNFRSF17, a
# marker of plasma cells, in the B cells alone.
b_cells = kind == "CD19+ B"
inside = found.top(6, where=b_cells)
own = genes[b_cells]
inside["with TNFRSF17"] = own[inside["column"]].corrwith(own["TNFRSF17"]).to_numpy()
print(inside.round(3))

# %%
# Five genes rise upwards, some by less than two standard errors, and fall where TNFRSF17 rises:
# MS4A1 has a correlation of -0.69 with it, BANK1 one of -0.51. The sixth, AL928768.3, goes with
# TNFRSF17 (0.43) and does not rise. The ends of this slope are plasma cells and other B cells, of
# one name here.

# %%
# On a UMAP
# ---------
#
# ``ikd_graph.loadings`` takes any map, here the UMAP in the file.
umap = np.asarray(cells.obsm["X_umap"], dtype=float)
on_umap = ikd_graph.loadings(umap, genes)
its_path = [np.median(umap[kind == name], axis=0) for name in ends]
along_umap = on_umap.top(8, where=its_path)
print(along_umap.round(2))
both = set(along["column"]) & set(along_umap["column"])
print(f"among the first eight of both maps: {len(both)}")

# %%
# Six of the eight are the same. FCER1A rises by 3.46 ± 0.09 here.

# %%
# How surely
# ----------
#
# Genes whose values are shuffled among the cells change nowhere. How many are said to change along
# the path by more than three standard errors?
rng = np.random.default_rng(0)
shuffled = pd.DataFrame({name: rng.permutation(genes[name]) for name in genes})
for name, loadings in (
    ("IKD", found),
    ("UMAP", on_umap),
    ("IKD, shuffled", ikd_graph.loadings(Z, shuffled, kernel=model.kernel_)),
    ("UMAP, shuffled", ikd_graph.loadings(umap, shuffled)),
):
    table = loadings.top(len(loadings), where=path if "IKD" in name else its_path)
    sure = np.sum(np.abs(table["change"]) > 3 * table["change_se"])
    print(f"{name}: {sure} of {genes.shape[1]} genes")

# %%
# 171 genes on the one map and 163 on the other, and none of the shuffled ones.

# %%
ax = found.plot("surfaces")

# %%
# The six genes that change most: what the model predicts, from blue for little to yellow for much.
# Arrows point to where a gene rises, if by more than two standard errors.

# %%
# What is doubted
# ---------------
#
# - **The map is taken as it is.** This one has no standard errors of its own, as its settings say.
#   What a map tears apart or folds is in none.
# - **The genes have made the map.** That they change along it is no test; ``model.columns()`` tests
#   each gene on a map without it.
# - **Steps of a UMAP have no unit.** Changes between two points can be compared, derivatives
#   cannot.
# - **Counts.** Many of them are zero. The model takes the noise for the same in all cells.
print(f"zeros: {np.mean(genes.to_numpy() == 0):.0%}")
