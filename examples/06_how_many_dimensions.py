"""
How many dimensions are there?
==============================

As many as predict columns that were held out: tables of one, two and three hidden coordinates, each
seen through 300 noisy columns.
"""

import numpy as np
from matplotlib.figure import Figure

from ikd_graph import IKD, datasets, dimension
from ikd_graph.plotting import plot

rng = np.random.default_rng(0)
figure = Figure(figsize=(11, 3.6), layout="constrained")
figure.supylabel("R² of held-out columns")
for true, ax in enumerate(figure.subplots(1, 3), 1):
    latent = rng.uniform(-1.0, 1.0, size=(100, true)) * [1.5, 1.2, 1.0][:true]
    X = datasets.gplvm_data(latent, 300, noise=0.3).X
    found = dimension.estimate(X)
    found.plot(ax=ax).set(xlabel=f"dimensions ({true} in truth)", ylabel="")
    print(f"{true} true: {found}")

model = IKD(n_components="auto").fit(X)
print(model.trust_)
print(f"n_components='auto' takes {model.n_components_}: {model.settings_.reasons['n_components']}")
print("picture:", plot.save(ax, "06_how_many_dimensions.png"))
