"""Pictures of the pages on dubious rows and topology: ``python benchmarks/shown/questions.py``.

Writes into docs/static/questions the pictures, and numbers.md with every figure of real data that
the pages name. Needs umap-learn, and IKD_GRAPH_DATA for the folder with canadian_weather.npz (the
mean temperature of each day at 35 Canadian stations; Ramsay and Silverman) and head_direction.npz
(spikes of 19 cells in 1600 bins, with the heading of the animal; Peyrache laboratory).
"""

import os
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from _commit import measured
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ikd_graph
from ikd_graph import IKD

FOLDER = Path(__file__).parents[2] / "docs" / "static" / "questions"


def real(name):
    """Rows and angle of a table from $IKD_GRAPH_DATA."""
    with np.load(Path(os.environ["IKD_GRAPH_DATA"]) / f"{name}.npz") as file:
        return file["X"].astype(np.float64), file["y"].astype(np.float64)


def median_error(angle, truth):
    """Median distance of angles, turned and mirrored onto the truth, in degrees."""
    turns = np.linspace(0.0, 2.0 * np.pi, 361)[:, None]
    each = [np.angle(np.exp(1j * (s * angle + turns - truth))) for s in (1, -1)]
    return float(np.degrees(np.median(np.abs(np.vstack(each)), axis=1).min()))


def r2_of_circle(Z, truth):
    """R² of sine and cosine of an angle, regressed on two coordinates."""
    circle, Z = (
        np.column_stack([np.cos(truth), np.sin(truth)]),
        np.column_stack([Z, np.ones(len(Z))]),
    )
    left = circle - Z @ np.linalg.lstsq(Z, circle, rcond=None)[0]
    return float(1.0 - (left**2).sum() / ((circle - circle.mean(axis=0)) ** 2).sum())


def decoded(X, truth):
    """Heading decoded from roots of counts by neighbors, ten folds of consecutive bins."""
    circle = np.column_stack([np.cos(truth), np.sin(truth)])
    decoder = make_pipeline(FunctionTransformer(np.sqrt), KNeighborsRegressor(20))
    return np.arctan2(*cross_val_predict(decoder, X, circle, cv=KFold(10)).T[::-1])


def angle_of(Z):
    """Angle of points around their mean."""
    return np.arctan2(*(Z - Z.mean(axis=0))[:, 1::-1].T)


def rings():
    """Draw the year and the heading; return lines on both."""
    lines, figure = [], Figure(figsize=(12.0, 7.6), layout="constrained")
    places = figure.subplots(2, 1)
    for ax, (name, circle) in zip(
        places, (("canadian_weather", 365.0), ("head_direction", 2.0 * np.pi)), strict=True
    ):
        X, y = real(name)
        truth = 2.0 * np.pi * y / circle
        found, model = ikd_graph.topology(X), IKD(2).fit(X)
        found.plot(ax=ax)
        angle = found.circular_coordinate()
        Z = model.embedding_
        told = [f"{name}, {X.shape[0]} x {X.shape[1]}: {found.sentence}"]
        told.append(f"R² of the circle on the default map {r2_of_circle(Z, truth):.2f}")
        told.append(f"median error of the circular coordinate {median_error(angle, truth):.0f}°")
        told.append(f"of the angle on the default map {median_error(angle_of(Z), truth):.0f}°")
        if name == "head_direction":
            told.append(f"of a decoder {median_error(decoded(X, truth), truth):.0f}°")
        lines.append("; ".join(told))
    figure.savefig(FOLDER / "rings.png", dpi=110)
    X = load_digits().data
    lines.append(f"digits, {X.shape[0]} x {X.shape[1]}: {ikd_graph.topology(X).sentence}")
    return lines


def turntable():
    """Draw dubious views of objects on a map of UMAP; return a line."""
    from umap import UMAP

    with np.load(Path(os.environ["IKD_GRAPH_DATA"]) / "coil20_128.npz") as file:
        side, kind = file["X"].reshape(-1, 128, 128)[:, ::4, ::4], file["y"]
    X = side.reshape(len(side), -1).astype(np.float64)
    found = ikd_graph.dubious(UMAP(random_state=0).fit_transform(X), X)
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    found.plot([f"object {k}" for k in kind], ax=figure.subplots())
    figure.savefig(FOLDER / "dubious.png", dpi=110)
    of = Counter(int(k) for k in kind[found.mask]).most_common()
    told = ", ".join(f"{number} of object {k}" for k, number in of)
    return [f"views of 20 objects by UMAP, {X.shape[0]} x {X.shape[1]}: {found.sentence} ({told})"]


def main():
    """Write the pictures and the numbers."""
    FOLDER.mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [*rings(), *turntable()]
    head = "# Real data on the pages of dubious rows and topology\n\n"
    head += "`python benchmarks/shown/questions.py`, by default; "
    head += f"{measured()}.\n\n"
    text = head + "".join(f"- {line}\n" for line in lines)
    (FOLDER / "numbers.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
