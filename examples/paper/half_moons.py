"""Half moons in the plane, 100 points (the comparison study's Fig. 2)."""

from ikd_graph import datasets

from ._gallery import gallery, moons

EXPERIMENT = gallery(
    __doc__,
    lambda seed: datasets.half_moons(100, noise=0.05, seed=seed),
    "linear",
    moons,
    ("accuracy", "trustworthiness"),
    trials=3,
    minutes=0.3,
    notes=(
        "scikit-learn's make_moons, noise 0.05; the picture shows the first sample",
        "linear: accuracy of a linear discriminant, accuracy: of 5 neighbors, both in a "
        "stratified and shuffled 5-fold cross-validation",
    ),
)
