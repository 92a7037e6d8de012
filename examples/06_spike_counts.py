"""
Spike counts
============

The path behind the counts of 60 neurons, whose correlations are weak.
"""

import warnings

import numpy as np
from matplotlib.figure import Figure

from ikd_graph import IKD, blockwise, datasets, metrics
from ikd_graph.plotting import plot

data = datasets.spike_counts(400, 60, mean_count=3.0)  # 400 time bins, and the true path
rates = np.sqrt(data.X)  # steadies the variance of counts
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    model = IKD(n_components=2, strategy="geodesic").fit(rates)
move = blockwise.rigid_fit(model.embedding_, data.latent)  # only to draw one next to the other
aligned = model.embedding_ @ move.rotation + move.translation
r2 = metrics.affine_r2(data.latent, model.embedding_)
print(f"{model.settings_.graph}, {model.graph_.n_edges} edges, R² {r2:.3f}")

figure = Figure(figsize=(8.4, 3.8), layout="constrained")
time = np.linspace(0, 1, len(rates))
for ax, (name, Z) in zip(
    figure.subplots(1, 2),
    {"true path": data.latent, "embedding": aligned}.items(),
    strict=True,
):
    plot.embedding(Z, time, legend=False, ax=ax).set_title(name)
print("picture:", plot.save(ax, "06_spike_counts.png"))
