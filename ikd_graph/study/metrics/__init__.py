"""How good is an embedding: as a latent, near, far, for prediction, for labels; a file for each.

Every measure takes tables with points in rows. Those of distances also take `Distances`, which
share the work between measures and embeddings.
"""

from __future__ import annotations

from ._distances import MOST_POINTS, Distances
from .distances import (
    centroid_distances,
    centroid_triplets,
    global_distance_preservation,
    random_triplets,
)
from .labels import decoding_r2, knn_accuracy, knn_scores, silhouette, svm_accuracy
from .latent import affine_r2, rigid_r2
from .local import (
    continuity,
    density_preservation,
    local_distance_preservation,
    q_nx,
    r_nx,
    r_nx_auc,
    trustworthiness,
)
from .prediction import CoSmoothing, co_smoothing, column_halves, held_out_r2, summarise_splits

__all__ = [
    "MOST_POINTS",
    "CoSmoothing",
    "Distances",
    "affine_r2",
    "centroid_distances",
    "centroid_triplets",
    "co_smoothing",
    "column_halves",
    "continuity",
    "decoding_r2",
    "density_preservation",
    "global_distance_preservation",
    "held_out_r2",
    "knn_accuracy",
    "knn_scores",
    "local_distance_preservation",
    "q_nx",
    "r_nx",
    "r_nx_auc",
    "random_triplets",
    "rigid_r2",
    "silhouette",
    "summarise_splits",
    "svm_accuracy",
    "trustworthiness",
]
