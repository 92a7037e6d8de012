"""
Spikes: where is the animal?
============================

Eighty neurons fire as an animal walks about a box. We have their counts in bins of a tenth of a
second, and want the hidden coordinates behind them. Here the walk is known, so that the answer can
be checked.
"""

# %%
# Data
# ----
#
# Each neuron likes one place and fires less the further the animal is from it. A row is a time bin,
# a column is a neuron.
import numpy as np

rng = np.random.default_rng(0)
n_bins, n_neurons = 600, 80
velocity = rng.normal(size=(n_bins, 2))
for t in range(1, n_bins):
    velocity[t] = 0.9 * velocity[t - 1] + 0.44 * velocity[t]
position = np.cumsum(0.06 * velocity, axis=0)
position = np.abs((position + 1) % 4 - 2) - 1  # the walls of the box, from -1 to 1, reflect

centers = rng.uniform(-1.2, 1.2, size=(n_neurons, 2))
squared = ((position[:, None] - centers) ** 2).sum(axis=-1)
counts = rng.poisson(8.0 * np.exp(-squared / (2 * 0.5**2)))
print(counts.shape, f"{counts.mean():.1f} spikes in a bin on average")

# %%
# Fit
# ---
#
# The variance of a count grows with its mean: a busy neuron would drown the others. The affinity
# ``"hellinger"`` compares the square roots of proportions, whose noise is about the same for all.
# The default takes it for tables of whole numbers; naming it saves the time of trying.
from ikd_graph import IKD

model = IKD(n_components=2, affinity="hellinger", refine="stress").fit(counts)
print(model.settings_)

# %%
# Is it right?
# ------------
#
# Two questions, without and with the truth. ``decoding`` predicts the position of each bin from the
# bins near to it in the latent; ``decoding_blocks`` leaves out whole stretches of time, so that the
# bin before cannot give the answer away. The second is the honest one. One means perfect, zero
# means no better than the mean.
from sklearn.decomposition import PCA

from ikd_graph.datasets import Labels
from ikd_graph.jobs.label_scores import score_labels

latents = {"IKD": model.embedding_, "PCA": PCA(2).fit_transform(np.sqrt(counts))}
for name, Z in latents.items():
    for axis, column in zip("xy", position.T, strict=True):
        scores = score_labels(Z, Labels(axis, column, ()))
        print(name, axis, {key: round(value, 3) for key, value in scores.items()})

# %%
# Picture
# -------
#
# A latent is known up to rotation, reflection and stretch, so we move it onto the walk before both
# are drawn. The color is the position along x.
from matplotlib import pyplot as plt

from ikd_graph.plotting import plot

figure, axs = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
plot.embedding(position, position[:, 0], legend=False, ax=axs[0]).set_title("walk")
for ax, (name, Z) in zip(axs[1:], latents.items(), strict=True):
    design = np.column_stack([Z, np.ones(n_bins)])
    moved = design @ np.linalg.lstsq(design, position, rcond=None)[0]
    plot.embedding(moved, position[:, 0], legend=False, ax=ax).set_title(name)

# %%
# New recordings are placed in the same coordinates, each bin by itself:
later = rng.poisson(8.0 * np.exp(-squared[:5] / (2 * 0.5**2)))
print(model.transform(later).round(2))

# %%
# From the command line
# ---------------------
#
# pynapple counts the spikes of an .nwb file, ``load_file(name)["units"].count(0.1)``, and
# ``numpy.save`` writes what is read here; a .mat file needs the name of the array::
#
#     ikd-graph embed counts.npy --affinity hellinger
#     ikd-graph embed spikes.mat --key spikes --transpose --affinity hellinger
