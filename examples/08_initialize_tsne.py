"""
Which initial embedding should t-SNE have?
==========================================

A map of neighbors keeps the arrangement that it is initialized with, if it is let: t-SNE of a
rolled sheet from PCA, from random places and from IKD.
"""

from sklearn.manifold import TSNE

from ikd_graph import IKD, datasets, metrics
from ikd_graph.plotting import plot

roll = datasets.swiss_roll(500)
start = IKD(n_components=2).fit(roll.X)
Z = start.embedding_
print(start.trust_)

# scikit-learn and openTSNE (initialization=) want a small spread of the first axis, 1e-4, and
# umap.UMAP(init=) one of about 5. Early exaggeration of t-SNE forgets any start: 1 leaves it out.
inits = {"PCA": "pca", "random": "random", "IKD": 1e-4 * Z / Z[:, 0].std()}
panels = {f"IKD: R² {metrics.affine_r2(roll.latent, Z):.2f}": Z}
for name, init in inits.items():
    options = {"perplexity": 15.0, "early_exaggeration": 1.0, "max_iter": 500, "random_state": 0}
    model = TSNE(init=init, **options).fit(roll.X)
    r2 = metrics.affine_r2(roll.latent, model.embedding_)
    panels[f"t-SNE from {name}: R² {r2:.2f}"] = model.embedding_
    print(f"t-SNE from {name:<6}  R² of the sheet {r2:.3f}, divergence {model.kl_divergence_:.3f}")

ax = plot.small_multiples(panels, roll.y, n_columns=2, ax=plot.axes(8, 7))
print("picture:", plot.save(ax, "08_initialize_tsne.png"))
# `python -m benchmarks.shown.initialize` does it for t-SNE, openTSNE and UMAP on real tables.
