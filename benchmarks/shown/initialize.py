"""t-SNE, openTSNE and UMAP from their own initial embedding and from that of IKD.

`python -m benchmarks.shown.initialize` from the root of the sources, with the data of
examples/paper, or `python -m benchmarks.shown.initialize roll`. initialize.md beside this file has
what was printed.

For a Swiss roll: R2 of the sheet after an affine alignment, and the divergence of t-SNE.

For each other table, method, initial embedding and seed: 5-NN accuracy of the classes, the
correlation of the distances between class means in the map with those between the class means of
the table (Spearman), and processor seconds; of two seeds the R2 of one map after the best rigid
motion of the other.
"""

import itertools
import sys
import time
import warnings

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

from examples.paper._data import load
from ikd_graph import IKD, datasets, metrics

SEEDS = (0, 1)
MOST = 600


def tsne(X, init, seed, max_iter=1000):
    """t-SNE of scikit-learn."""
    from sklearn.manifold import TSNE

    return TSNE(init=init, random_state=seed, max_iter=max_iter).fit_transform(X)


def opentsne(X, init, seed):
    """t-SNE of openTSNE."""
    from openTSNE import TSNE

    name = {"initialization": init, "random_state": seed, "n_jobs": 1}
    return np.asarray(TSNE(**name).fit(X))


def umap(X, init, seed):
    """UMAP of umap-learn."""
    from umap import UMAP

    return UMAP(init=init, random_state=seed, n_jobs=1).fit_transform(X)


METHODS = {
    "tsne": (tsne, ("pca", "random"), 1e-4),
    "opentsne": (opentsne, ("pca", "random"), 1e-4),
    "umap": (umap, ("spectral", "random"), 5.0),
}
"""Function, its own initial embeddings, standard deviation of the first axis that it wants."""


def arrangement(X, y, Z):
    """Rank correlation of the distances between class means in the table and in the map."""
    means = [np.array([T[y == k].mean(axis=0) for k in np.unique(y)]) for T in (X, Z)]
    return float(spearmanr(pdist(means[0]), pdist(means[1])).statistic)


def unroll():
    """Print how well maps of a Swiss roll of 500 points recover its sheet, one seed."""
    from sklearn.manifold import TSNE

    roll = datasets.swiss_roll(500)
    ours = IKD(2).fit_transform(roll.X)
    start = ours / ours[:, 0].std()
    plain = {"perplexity": 15.0, "early_exaggeration": 1.0, "max_iter": 500}
    settings = {"t-SNE as it comes": {}, "t-SNE, perplexity 15, early_exaggeration=1": plain}
    for name, given in settings.items():
        for init in ("pca", "random", 1e-4 * start):
            model = TSNE(init=init, random_state=0, **given).fit(roll.X)
            r2 = metrics.affine_r2(roll.latent, model.embedding_)
            from_ = init if isinstance(init, str) else "IKD"
            print(f"| {name} | {from_} | {r2:.3f} | {model.kl_divergence_:.3f} |", flush=True)
    for init in ("spectral", 5.0 * start):
        r2 = metrics.affine_r2(roll.latent, umap(roll.X, init, 0))
        print(f"| UMAP | {init if isinstance(init, str) else 'IKD'} | {r2:.3f} |  |", flush=True)


def main(names):
    """Print a line for each table, method and initial embedding."""
    warnings.simplefilter("ignore")
    for name in names:
        if name == "roll":
            unroll()
            continue
        data = load(name)
        X, y = data.X[:MOST], data.y[:MOST]
        begun = time.process_time()
        ours = IKD(2, random_state=0).fit_transform(X)
        spent = time.process_time() - begun
        own = metrics.knn_scores(ours, y, 5, seed=0).mean()
        print(f"{name} ikd alone: {own:.3f} {arrangement(X, y, ours):.3f} {spent:.1f} s")
        for method, (fit, inits, spread) in METHODS.items():
            for init in (*inits, "ikd"):
                start = spread * ours / ours[:, 0].std() if init == "ikd" else init
                begun = time.process_time()
                maps = [fit(X, start, seed) for seed in SEEDS]
                spent = (time.process_time() - begun) / len(SEEDS)
                near = [metrics.knn_scores(Z, y, 5, seed=0).mean() for Z in maps]
                far = [arrangement(X, y, Z) for Z in maps]
                same = [metrics.rigid_r2(a, b, scale=True)
                        for a, b in itertools.combinations(maps, 2)]  # fmt: skip
                print(
                    f"{name} {method} from {init}: accuracy {np.mean(near):.3f}, arrangement "
                    f"{np.mean(far):.3f} ± {np.std(far):.3f}, seeds agree {np.mean(same):.3f}, "
                    f"{spent:.1f} s", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:] or ["roll", "digits", "guo_qpcr"])
