"""Neighbours in embeddings of four real data sets (Fig. 7; table F)."""

from itertools import product

from ._real import Embedding, classify, graph_of


def run(
    names=("guo_qpcr", "digits", "coil20", "fashion_mnist"),
    n_components=(2, 3, 5, 10),
    ks=(5, 10, 20),
    methods=(
        "ikd",
        "paper_geodesic_centred",
        "pca",
        "kernel_pca_poly",
        "kernel_pca_rbf",
        "kernel_pca_sigmoid",
        "kernel_pca_cosine",
        "laplacian_eigenmaps",
        "isomap",
    ),
    **how,
):
    """Accuracy by data set, dimension, k and method."""
    # As the paper's runs, which have k = 7 on digits and 5 elsewhere.
    tasks = [
        Embedding(
            name, method, m, tuple(ks), changes=graph_of(method, 7 if name == "digits" else 5)
        )
        for name, m, method in product(names, n_components, methods)
    ]
    return classify("fig7", __doc__, tasks, ("data", "M", "k", "method"), [], **how)
