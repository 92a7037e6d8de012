"""
New points
==========

Place rows that were not there when the model was fitted.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from ikd_graph import IKD
from ikd_graph.plotting import plot

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=300, stratify=y, random_state=0)
model = IKD(n_components=5, graph=7).fit(X)
Z, Z_new = model.embedding_, model.transform(X_new)  # each new row is placed by itself

accuracy = KNeighborsClassifier(5).fit(Z, y).score(Z_new, y_new)
print(f"5-NN accuracy on {len(y_new)} new rows: {accuracy:.3f}")

ax = plot.embedding(Z, legend=False, ax=plot.axes())
ax.collections[0].set(alpha=np.full(len(Z), 0.12))
plot.embedding(Z_new, y_new, label_title="new digit", ax=ax)
print("picture:", plot.save(ax, "05_new_points.png"), np.round(Z_new[0], 3))
