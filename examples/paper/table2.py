"""Neighbours in embeddings of digits by several kernels (Table 2; table F)."""

from itertools import product

from ._real import Embedding, classify, graph_of


def run(
    data="digits",
    kernel_names=("squared_exponential", "rational_quadratic", "gamma_exponential"),
    n_components=(2, 3, 5, 10),
    ks=(5, 10, 20),
    methods=("paper_geodesic_centred", "ikd"),
    *,
    n_neighbors=7,
    **how,
):
    """Accuracy by kernel, dimension, k and method; the paper's runs on digits have 7 neighbours."""
    tasks = [
        Embedding(data, method, m, tuple(ks), kernel, graph_of(method, n_neighbors))
        for kernel, m, method in product(kernel_names, n_components, methods)
    ]
    name = data if isinstance(data, str) else data.name
    notes = [f"{name}; paper's settings on the {n_neighbors}-NN graph"]
    return classify("table2", __doc__, tasks, ("kernel", "M", "k", "method"), notes, **how)
