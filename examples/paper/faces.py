"""Faces at their intrinsic dimension, beside a published study."""

from dataclasses import replace

import numpy as np

from ikd_graph.study.datasets import extended_yale_b, load

from ._boxes import box_counting_dimension
from ._real import Embedding, classify

PUBLISHED = {
    "pca": 0.246,
    "kernel_pca_rbf": 0.246,
    "metric_mds": 0.143,
    "isomap": 0.464,
    "lle": 0.424,
    "diffusion_maps": 0.280,
    "tsne": 0.571,
}
"""5-NN accuracy on Extended Yale B in the course study, whose protocol is not known."""


def at_even_steps(height=32, width=32):
    """Extended Yale B with every image reduced to pixels at even steps from the first on."""
    whole = extended_yale_b(image_shape=None)
    rows, columns = (
        np.arange(small) * full // small
        for small, full in zip((height, width), whole.image_shape, strict=True)
    )
    images = whole.X.reshape(-1, *whole.image_shape)[:, rows][:, :, columns]
    return replace(whole, X=images.reshape(len(images), -1), image_shape=(height, width))


def run(
    data="extended_yale_b",
    methods=(*PUBLISHED, "umap", "paper_geodesic_centred", "blockwise", "ikd"),
    *,
    shrink="sample",
    n_components=None,
    **how,
):
    """Accuracy by method at the box-counting dimension of the images, rounded, or another.

    ``shrink`` is how the images become 32 x 32: "sample" (pixels at even steps, with which PCA
    reaches the published value) or "area" (averages).
    """
    if isinstance(data, str):
        data = load(data) if data != "extended_yale_b" or shrink == "area" else at_even_steps()
    notes = [
        "Extended Yale B: 2414 images of 38 people, 32 x 32 pixels "
        f"({'area averages' if shrink == 'area' else 'at even steps'}), 0 to 1, not "
        "centred or scaled further; embedded all together, then 5-NN",
        "the published study does not state its protocol (split, image size, scaling)",
    ]
    if n_components is None:
        measured = box_counting_dimension(data.X)
        n_components = max(round(measured.dimension), 1)
        low, high = measured.fit_range
        notes.append(
            f"box-counting dimension of the images {measured.dimension:.2f} (boxes of side "
            f"{low:.3g} to {high:.3g})"
        )
    tasks = [Embedding(data, method, n_components) for method in methods]
    table = classify("faces", __doc__, tasks, ("method", "M", "published"), notes, **how)
    for trial in table.trials:
        trial["published"] = PUBLISHED.get(trial["method"], np.nan)
    return table
