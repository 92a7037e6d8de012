"""Half moons in the plane, embedded by many methods, with a picture of each."""

from ikd_graph.study import datasets

from ._gallery import METHODS, gallery


def run(methods=METHODS, *, n_samples=100, noise=0.05, n_trials=5, seed=0, **how):
    """How well a straight line parts the moons, 5-NN accuracy, trustworthiness."""
    made = [datasets.half_moons(n_samples, noise=noise, seed=seed + t) for t in range(n_trials)]
    notes = [
        f"scikit-learn's make_moons, noise {noise:g}; the table sums up {n_trials} samples, the "
        "picture shows the first",
        "linear: accuracy of a linear discriminant in the plane, accuracy: of 5 neighbours, both "
        "in a stratified and shuffled 5-fold cross-validation",
    ]
    title = f"Half moons, {n_samples} points"
    table = ("half_moons", title, "linear", ("accuracy", "trustworthiness"), notes)
    return gallery(table, made, methods, seed=seed, **how)
