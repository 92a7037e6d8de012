"""
Quickstart
==========

From a table to a picture of the few coordinates behind it.
"""

from sklearn.datasets import load_digits

from ikd_graph import IKD
from ikd_graph.plotting import plot

X, y = load_digits(return_X_y=True)  # rows are points, columns are measurements
model = IKD(n_components=2, graph=7)  # a graph of the 7 best neighbors of each point
Z = model.fit_transform(X)  # (1797, 2)

print(model.graph_)
print(model.settings_)  # what was chosen, and why

fractions = model.explained_variance_ratio_
ax = plot.embedding(Z, y, fractions=fractions, label_title="digit", ax=plot.axes())
print("picture:", plot.save(ax, "01_quickstart.png"))
