"""How many dimensions: the gap in a spectrum, boxes that hold a point, pairs within a radius."""

import numpy as np
from matplotlib.figure import Figure

from ikd_graph import IKD, eigen
from ikd_graph.show import charts, plot
from ikd_graph.study import datasets, dimension

latent = np.random.default_rng(0).uniform(-1.0, 1.0, size=(300, 2)) * [1.0, 0.6]  # two dimensions
X = datasets.gplvm_data(latent, 500, noise=0.1).X  # seen through 500 noisy measurements

# More coordinates than are needed: their eigenvalues tell how many to keep.
values = IKD(n_components=10, refine=None).fit(X).eigenvalues_
print(f"the gap lies after {eigen.eigengap(values)} eigenvalues")
roll = datasets.swiss_roll(2000).X  # a sheet in three columns
boxes = dimension.box_counting_dimension(roll)
pairs = dimension.correlation_dimension(roll)

figure = Figure(figsize=(14, 4), layout="constrained")
axes = figure.subplots(1, 3)
plot.chart(charts.spectrum(values, eigen.eigengap(values)), ax=axes[0])
plot.chart(charts.scaling(boxes, "side of a box"), ax=axes[1])
plot.chart(charts.scaling(pairs, "radius"), ax=axes[2])
names = ("spectrum of X", "boxes of a Swiss roll", "pairs of a Swiss roll")
for ax, name in zip(axes, names, strict=True):
    ax.set_title(name)
print("picture:", plot.save(axes[0], "11_how_many_dimensions.png"))
