"""
Single cells
============

A tree of cell types behind a table of counts; a row is a cell, a column a gene.
"""

import numpy as np

from ikd_graph import IKD
from ikd_graph.plotting import plot

# A stem that splits in two: each gene follows a smooth profile from stem to tip.
rng = np.random.default_rng(0)
pseudotime = rng.uniform(0, 2, 500)  # from stem to tip
branch = np.where(pseudotime < 1, "stem", np.where(rng.random(500) < 0.5, "left", "right"))
past = pseudotime - 1
steps = np.stack([pseudotime, past * (branch == "left"), past * (branch == "right")], axis=1)
profile = np.sin(steps @ rng.normal(0, 2, (3, 300)) + rng.uniform(0, 6, 300))
counts = rng.poisson(np.exp(1.0 + profile) * rng.gamma(8, 1 / 8, (500, 1)))

fractions = counts / counts.sum(axis=1, keepdims=True)  # cells are sequenced to different depths
logs = np.log1p(1e3 * fractions)
model = IKD(n_components=2).fit(logs - logs.mean(axis=0))
print(model.settings_)

ax = plot.embedding(model.embedding_, branch, label_title="branch", ax=plot.axes())
print("picture:", plot.save(ax, "07_single_cell.png"))
