"""Choose a strategy: the three ways from covariance to latent, on data whose latent is known."""

from matplotlib.figure import Figure

from ikd_graph import IKD
from ikd_graph.show import plot
from ikd_graph.study import datasets, metrics

data = datasets.gplvm_data("medium", 500, noise=0.1)  # 100 points, 500 noisy measurements of each
figure = Figure(figsize=(10, 3.4), layout="constrained")
axes = figure.subplots(1, 3)

for ax, strategy in zip(axes, ("eigen", "blockwise", "geodesic"), strict=True):
    Z = IKD(n_components=data.latent.shape[1], strategy=strategy).fit_transform(data.X)
    r2 = metrics.affine_r2(data.latent, Z)
    plot.embedding(Z, data.latent[:, 0], legend=False, ax=ax)
    ax.set_title(f"{strategy}: R² {r2:.3f}")
    print(f"{strategy:<10} R² {r2:.3f}")

print("picture:", plot.save(axes[0], "02_choose_a_strategy.png"))
