"""
Choose a strategy
=================

Four ways from covariance to latent, on data whose latent is known.
"""

import warnings

from matplotlib.figure import Figure

from ikd_graph import IKD, datasets, metrics
from ikd_graph.plotting import plot

data = datasets.gplvm_data("medium", 500, noise=0.1)  # 100 points, 500 noisy measurements of each
settings = [("eigen", None), ("blockwise", None), ("geodesic", None), ("geodesic", "likelihood")]
figure = Figure(figsize=(7.6, 7), layout="constrained")
axes = figure.subplots(2, 2).ravel()

for ax, (strategy, refine) in zip(axes, settings, strict=True):
    model = IKD(n_components=3, strategy=strategy, refine=refine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # eigen warns that it inverts what is noise
        Z = model.fit_transform(data.X)
    name = strategy if refine is None else f"{strategy}, refined"
    r2 = metrics.affine_r2(data.latent, Z)
    plot.embedding(Z, data.latent[:, 0], legend=False, ax=ax)
    ax.set_title(f"{name}: R² {r2:.3f}")
    print(f"{name:<18} R² {r2:.3f} in {sum(model.stage_times_.values()):.2f} s")

print("picture:", plot.save(axes[0], "02_choose_a_strategy.png"))
