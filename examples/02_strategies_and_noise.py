"""
Which strategy holds against noise?
===================================

The three closed forms of the paper, without refinement, on samples whose hidden coordinates are
known: R² with the truth as noise grows, with the spread over three samples, and the time it takes.
"""

import warnings

import numpy as np

from ikd_graph import IKD, datasets, metrics
from ikd_graph.plotting import charts, plot

warnings.simplefilter("ignore", UserWarning)  # strong noise tears the graph, which is the point
noises, seeds = np.linspace(0.0, 1.0, 5), range(3)
models = {
    "eigen": IKD(n_components=3, strategy="eigen", refine=None),  # inverts what is noise as well
    "blockwise": IKD(n_components=3, strategy="blockwise", refine=None),
    "geodesic": IKD(n_components=3, strategy="geodesic", refine=None),
}
scores = {name: [] for name in models}
seconds = dict.fromkeys(models, 0.0)
for noise in noises:
    samples = [datasets.gplvm_data("medium", 200, noise=noise, seed=seed) for seed in seeds]
    for name, model in models.items():
        found = []
        for sample in samples:
            found.append(metrics.affine_r2(sample.latent, model.fit_transform(sample.X)))
            seconds[name] += sum(model.stage_times_.values())
        scores[name].append(found)

print("R² with the truth, mean over samples")
print("noise     ", *(f"{noise:5.2f}" for noise in noises))
for name, means in scores.items():
    print(f"{name:<10}", *(f"{np.mean(found):5.2f}" for found in means), f"{seconds[name]:6.2f} s")

ax = plot.chart(charts.noise_curves(noises, scores), ax=plot.axes())
print("picture:", plot.save(ax, "02_strategies_and_noise.png"))
