"""
Which rows does a UMAP misplace?
================================

A map of tumors by UMAP, or by t-SNE where ``umap-learn`` is not installed: which tumors lie where
their measures do not want them, and which measures these are.
"""

from importlib.util import find_spec

import numpy as np
from sklearn.datasets import load_breast_cancer

import ikd_graph
from ikd_graph.plotting import plot

bunch = load_breast_cancer(as_frame=True)
X, kind = bunch.data, bunch.target_names[bunch.target]
if find_spec("umap"):
    from umap import UMAP as Method
else:
    from sklearn.manifold import TSNE as Method

    print("umap-learn is not installed: the map is one of t-SNE")
method = Method(random_state=0, n_jobs=1)

found = ikd_graph.dubious(method.fit_transform, X)  # asks halves of the columns for maps as well
print(found)
scores = (X - X.mean()) / X.std()
for row in np.flatnonzero(found.mask):
    most = scores.iloc[row].sort_values(key=abs).index[-3:]
    told = ", ".join(f"{name} {scores.loc[row, name]:+.1f}" for name in reversed(most))
    print(f"row {row}, {kind[row]}, in standard deviations: {told}")

ax = found.plot(kind, ax=plot.axes())
print("picture:", plot.save(ax, "03_dubious_rows.png"))
