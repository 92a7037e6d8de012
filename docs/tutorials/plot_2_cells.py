"""
Cells: a tree of types
======================

A table of counts, a row for each cell and a column for each gene. A stem of cells splits into two
branches. We want a picture in which the branches are branches.
"""

# %%
# Data
# ----
#
# Each gene follows a smooth profile from stem to tip, and each cell is sequenced to a
# depth of its own.
import numpy as np

rng = np.random.default_rng(0)
n_cells, n_genes = 500, 300
pseudotime = rng.uniform(0, 2, n_cells)
branch = np.where(pseudotime < 1, "stem", np.where(rng.random(n_cells) < 0.5, "left", "right"))
beyond = np.clip(pseudotime - 1, 0, None)
steps = np.stack([pseudotime, beyond * (branch == "left"), beyond * (branch == "right")], axis=1)
profile = np.sin(steps @ rng.normal(0, 2, (3, n_genes)) + rng.uniform(0, 6, n_genes))
depth = rng.gamma(8, 1 / 8, (n_cells, 1))
counts = rng.poisson(np.exp(profile) * depth)
print(counts.shape, f"{np.mean(counts == 0):.0%} zeros")

# %%
# Prepare
# -------
#
# As for any method: take out the depth, take logarithms. What is left in the table is what the
# picture will show, so take out what you do not want to see.
fractions = counts / counts.sum(axis=1, keepdims=True)
logs = np.log1p(1e3 * fractions)

# %%
# Fit
# ---
#
# We name nothing but the number of coordinates. The default tries several ways to compare cells and
# takes the one whose embedding predicts held-out genes best; it never sees the labels.
from ikd_graph import IKD

model = IKD(n_components=2).fit(logs)
for candidate in model.candidates_[:4]:
    print(f"{candidate.affinity}, {candidate.strategy}: {candidate.score:.3f}")
print(model.settings_)

# %%
# Picture
# -------
from ikd_graph.plotting import plot

ax = plot.embedding(model.embedding_, branch, label_title="branch")

# %%
# How far along its way is each cell? If the latent kept the order of cells, their neighbors in it
# tell (1 is perfect, 0 is no better than the mean).
from ikd_graph import metrics

print(f"pseudotime: {metrics.decoding_r2(model.embedding_, pseudotime, 10, seed=0):.3f}")
print(f"branch of a cell: {metrics.knn_accuracy(model.embedding_, branch, 5):.3f}")

# %%
# Does the picture tear?
# ----------------------
#
# The graph of trusted similarities can be asked. More than one component means that the distance
# between them is a guess. A number above one also shows in ``settings_``.
print("components:", model.component_labels_.max() + 1, "graph:", model.graph_)

# %%
# With scanpy
# -----------
#
# An AnnData goes in and comes back with the results in it, under the names that scanpy's functions
# look for::
#
#     import ikd_graph
#     ikd_graph.tl.ikd(adata, use_rep="X_pca")
#     sc.pl.embedding(adata, "ikd", color="leiden")
#
# or from the command line::
#
#     ikd-graph embed cells.h5ad --transform log1p --labels leiden
#
# When to use UMAP instead: if all that is asked for are clumps, one for each type, drawn far apart,
# see :doc:`/peers`.
