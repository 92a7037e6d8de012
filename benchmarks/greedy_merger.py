"""The paper's greedy merger alone, and with the geodesic solution for what it leaves open.

`python greedy_merger.py 4 100,200,1000`: affine R2, mean over three latents and four kernels, of
so many data sets each. "published" is the threshold of the published runs, "auto" that of
`graph.Threshold()` with its six neighbors of every point.
"""

import itertools
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.paper import _published_form
from examples.paper._recovery import KERNELS, LENGTH_SCALE
from ikd_graph import IKD, blockwise, cliques, graph, kernels, metrics, strategies
from ikd_graph.datasets import FIXED_LATENTS, fixed_latent, gplvm_data


def scores(data, kernel, rule):
    """R2 of the geodesic solution, of the merger alone and of the merger with it."""
    options = {"kernel": kernel, "affinity": "correlation", "refine": None}
    fitted = IKD(3, strategy="geodesic", graph=rule, **options).fit(data.X)
    chosen = cliques.covering_cliques(fitted.graph_)
    solved = blockwise.solve(fitted.graph_, chosen, kernel, 3, "min_max")
    solved, n = blockwise.largest_first(solved), len(data.X)
    frame = strategies.geodesic_frame(fitted.graph_, kernel, 3)
    alone = blockwise.merge_greedy(solved, n)
    placed = blockwise.place_groups(alone.coordinates, alone.labels, frame)
    started = blockwise.merge_greedy(solved, n, start=frame).coordinates
    points = {"geodesic": frame, "greedy": placed, "greedy, start": started}
    return {name: metrics.affine_r2(data.latent, found) for name, found in points.items()}


def main(n_trials, sizes):
    """Print a line for each number of columns, threshold and merger."""
    warnings.simplefilter("ignore")
    found = defaultdict(list)
    cells = itertools.product(sizes, FIXED_LATENTS, KERNELS, range(n_trials))
    for n, name, kernel_name, trial in cells:
        kernel = type(kernels.get(kernel_name))(length_scale=LENGTH_SCALE)
        rng = np.random.default_rng([0, trial])
        data = gplvm_data(fixed_latent(name), n, kernel=kernel_name, seed=rng)
        published = graph.Threshold(_published_form.threshold(n), prune=False)
        auto = graph.Threshold(graph.auto_threshold(n, kernel), n_neighbors=6, prune=False)
        for label, rule in {"published": published, "auto": auto}.items():
            for merger, r2 in scores(data, kernel, rule).items():
                found[n, label, merger].append(r2)
    for key, values in found.items():
        print(*key, f"{np.mean(values):.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]), [int(n) for n in sys.argv[2].split(",")])
