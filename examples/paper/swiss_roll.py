"""A Swiss roll, unrolled by many methods, with a picture of each."""

from ikd_graph.study import datasets

from ._gallery import METHODS, gallery


def run(methods=METHODS, *, n_samples=500, n_trials=5, seed=0, **how):
    """R² of the sheet after affine and rigid alignment, trustworthiness against the sheet."""
    made = [datasets.swiss_roll(n_samples, seed=seed + t) for t in range(n_trials)]
    notes = [
        f"scikit-learn's make_swiss_roll without noise; the table sums up {n_trials} samples, the "
        "picture shows the first",
        "r2: of the sheet (length along the roll, height) after affine alignment; rigid: after a "
        "rigid one with one scale",
    ]
    title = f"Swiss roll, {n_samples} points"
    table = ("swiss_roll", title, "r2", ("rigid", "trustworthiness"), notes)
    return gallery(table, made, methods, seed=seed, **how)
