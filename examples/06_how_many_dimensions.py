"""
How many dimensions are there?
==============================

As many as predict columns that were held out: two, seen through 300 noisy columns, and what is said
of columns that have nothing in common.
"""

import numpy as np

from ikd_graph import IKD, datasets, dimension
from ikd_graph.plotting import plot

latent = np.random.default_rng(0).uniform(-1.0, 1.0, size=(100, 2)) * [1.0, 0.6]  # two dimensions
X = datasets.gplvm_data(latent, 300, noise=0.3).X  # seen through 300 noisy measurements

result = dimension.estimate(X)
print(result)
unrelated = np.random.default_rng(1).normal(size=X.shape)
low, high = dimension.estimate(unrelated).interval
print(f"of unrelated columns {low} to {high}: there the interval is the answer")
model = IKD(n_components="auto", refine=None).fit(X)
print(f"n_components='auto' takes {model.n_components_}: {model.settings_.reasons['n_components']}")
print("picture:", plot.save(result.plot(ax=plot.axes()), "06_how_many_dimensions.png"))
