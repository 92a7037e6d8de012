"""
Noisy data
==========

How well blockwise and geodesic hold against noise, with the spread over seeds.
"""

import warnings

import numpy as np

from ikd_graph import IKD, datasets, metrics
from ikd_graph.plotting import charts, plot

warnings.simplefilter("ignore", UserWarning)  # strong noise tears the graph, which is the point
noises, seeds = np.linspace(0.0, 1.0, 5), range(3)
scores = {"blockwise": [], "geodesic": []}
for noise in noises:
    samples = [datasets.gplvm_data("medium", 200, noise=noise, seed=seed) for seed in seeds]
    for strategy, means in scores.items():
        model = IKD(n_components=3, strategy=strategy, refine=None)  # the closed forms themselves
        fits = [model.fit_transform(sample.X) for sample in samples]
        pairs = zip(samples, fits, strict=True)
        means.append([metrics.affine_r2(sample.latent, Z) for sample, Z in pairs])

ax = plot.chart(charts.noise_curves(noises, scores), ax=plot.axes())
print("picture:", plot.save(ax, "03_noisy_data.png"))
