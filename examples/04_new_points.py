"""
Where does a new row belong, and what lies between two rows?
============================================================

Rows that were not there when the model was fitted get coordinates, and coordinates that no row has
get an image: `transform` and `inverse_transform`.
"""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from ikd_graph import IKD, graph
from ikd_graph.plotting import plot

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=300, stratify=y, random_state=0)
model = IKD(n_components=2, affinity="correlation", graph=7, refine="stress").fit(X)
Z, Z_new = model.embedding_, model.transform(X_new)  # each new row is placed by itself
print(model.trust_)

accuracy = KNeighborsClassifier(5).fit(Z, y).score(Z_new, y_new)
print(f"{accuracy:.2f} of {len(y_new)} new images lie among images of their digit")
strange = np.random.default_rng(0).uniform(0, 16, (1, 64))
fits = [model.placement_residuals(rows).max() for rows in (X_new, strange)]
print(f"residuals: new images {fits[0]:.2f} at most, random pixels {fits[1]:.2f}")

# From left to right over the map along its graph, so that the path stays on the data.
network = graph.to_networkx(model.graph_)
for one, other, edge in network.edges(data=True):
    edge["length"] = np.linalg.norm(Z[one] - Z[other])
start, end = np.argsort(Z[:, 0])[[30, -30]]
path = Z[nx.shortest_path(network, start, end, weight="length")]
walked = np.concatenate([[0], np.linalg.norm(np.diff(path, axis=0), axis=1).cumsum()])
steps = np.linspace(0, walked[-1], 9)
path = np.column_stack([np.interp(steps, walked, corner) for corner in path.T])
images = model.inverse_transform(path)

figure = Figure(figsize=(8, 6), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(4, 1))
ax = plot.embedding(Z, legend=False, ax=above.subplots())
ax.collections[0].set(alpha=np.full(len(Z), 0.12))
plot.embedding(Z_new, y_new, label_title="new digit", ax=ax)
ax.plot(*path.T, "o-", color="black", markerfacecolor="white")
for image, frame in zip(images, below.subplots(1, len(images)), strict=True):
    frame.imshow(image.reshape(8, 8), "gray_r")
    frame.set_axis_off()
print("picture:", plot.save(ax, "04_new_points.png"))
