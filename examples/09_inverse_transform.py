"""
The way back
============

Images that belong to coordinates between the points of an embedding.

``python 09_inverse_transform.py images.npz`` takes other images: X, a row each, and image_shape.
"""

import sys
import warnings

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from ikd_graph import IKD, datasets, graph
from ikd_graph.plotting import plot

STEPS = 11
data = datasets.load(sys.argv[1] if len(sys.argv) > 1 else "digits")
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)
    model = IKD(n_components=2).fit(data.X)
Z = model.embedding_

# From one end of the embedding to the other through the graph, so that the path stays on the data.
network = graph.to_networkx(model.graph_)
for source, target, edge in network.edges(data=True):
    edge["length"] = np.linalg.norm(Z[source] - Z[target])
start, *_, end = np.argsort(-Z[:, 0])[len(Z) // 50 : -len(Z) // 50]
corners = Z[nx.shortest_path(network, start, end, weight="length")]
walked = np.concatenate([[0], np.linalg.norm(np.diff(corners, axis=0), axis=1).cumsum()])
steps = np.linspace(0, walked[-1], STEPS)
path = np.column_stack([np.interp(steps, walked, corner) for corner in corners.T])

images = model.inverse_transform(path)
rebuilt = model.inverse_transform(Z)
fraction = 1 - ((rebuilt - data.X) ** 2).sum() / ((data.X - data.X.mean(axis=0)) ** 2).sum()
print(f"two coordinates keep {fraction:.0%} of the variance of {data.n_features} pixels")

cmap = "gray_r" if data.name == "digits" else "gray"  # ink on paper, or photographs
figure = Figure(figsize=(8.8, 6.2), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(4, 1.1))
ax = plot.embedding(Z, data.y, names=data.label_names, label_title=data.name, ax=above.subplots())
ax.plot(*path.T, "o-", color="black", markerfacecolor="white", markersize=8, linewidth=1)
for step, (spot, frame) in enumerate(zip(path, below.subplots(1, STEPS), strict=True), 1):
    ax.annotate(str(step), spot, ha="center", va="center", fontsize=5.5, zorder=9)
    frame.imshow(images[step - 1].reshape(data.image_shape), cmap, vmin=0, vmax=data.X.max())
    frame.set_title(str(step), fontsize=8)
    frame.axis("off")
print("picture:", plot.save(ax, "09_inverse_transform.png", dpi=110))
