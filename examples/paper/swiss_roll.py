"""A Swiss roll of 500 points (the comparison study's Fig. 3)."""

from ikd_graph import datasets

from ._gallery import gallery, sheet

EXPERIMENT = gallery(
    __doc__,
    lambda seed: datasets.swiss_roll(500, seed=seed),
    "r2",
    sheet,
    ("rigid", "trustworthiness"),
    trials=3,
    minutes=1.0,
    notes=(
        "scikit-learn's make_swiss_roll without noise; the picture shows the first sample",
        "r2: of the sheet (length along the roll, height) after affine alignment; rigid: after a "
        "rigid one with one scale",
    ),
)
