"""Neighbours in embeddings of more and more points (Fig. 13)."""

from itertools import product

from ._real import Embedding, classify


def run(
    data="fashion_mnist",
    n_samples=(1000, 2000, 3000),
    n_components=(2, 3, 5, 10),
    methods=("ikd", "paper_geodesic", "pca", "isomap"),
    **how,
):
    """5-NN accuracy of the first T rows; the built-in data have 3000, the paper goes to 4000."""
    tasks = [
        Embedding(data, method, m, n_samples=size)
        for size, m, method in product(n_samples, n_components, methods)
    ]
    return classify("fig13", __doc__, tasks, ("T", "M", "method"), ["5-NN"], **how)
