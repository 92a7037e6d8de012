"""
How large may a table be?
=========================

20 000 points with 100 columns: the graph joins near ones, and distances are measured from 400
landmarks, so that memory grows with the points and not with their pairs.
"""

import time

import numpy as np

from ikd_graph import IKD, metrics
from ikd_graph.plotting import plot

rng = np.random.default_rng(0)
latent = rng.uniform(0, 6, (20_000, 2))
waves = latent @ rng.normal(size=(2, 100)) + rng.uniform(0, 2 * np.pi, 100)
X = np.cos(waves) + 0.1 * rng.normal(size=waves.shape)  # no table of 20 000 x 20 000 is ever made

start = time.perf_counter()
model = IKD(n_components=2, graph=15, n_landmarks=400).fit(X)
seconds = time.perf_counter() - start
r2 = metrics.affine_r2(latent, model.embedding_)
print(model.trust_)
print(f"{len(X)} points, {model.graph_.n_edges} edges: {seconds:.1f} s, R² {r2:.3f}")

color = latent[:, 0]
ax = plot.embedding(model.embedding_, color, label_title="true first coordinate", ax=plot.axes())
print("picture:", plot.save(ax, "07_large_data.png"))
