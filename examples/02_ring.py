"""
Do rows run around in a circle?
===============================

Sixty neurons fire by the heading of an animal, which nothing below is told. The loop is found with
a p value, and every row gets an angle. Needs ``pip install ".[plot,topology]"``.
"""

import numpy as np

import ikd_graph
from ikd_graph import IKD
from ikd_graph.plotting import plot

rng = np.random.default_rng(0)
heading = rng.uniform(0.0, 2.0 * np.pi, 300)
preferred = rng.uniform(0.0, 2.0 * np.pi, 60)  # of each neuron
counts = rng.poisson(3.0 * np.exp(2.0 * (np.cos(heading[:, None] - preferred) - 1.0)))

found = ikd_graph.topology(counts)
print(found.sentence)
angle = found.circular_coordinate()


def gaps(sign):
    """Distances to the true heading, in degrees: where an angle begins is turned away."""
    apart = np.exp(1j * (sign * angle - heading))
    return np.degrees(np.abs(np.angle(apart / np.mean(apart))))


error = min(np.median(gaps(sign)) for sign in (1, -1))  # it may run either way
print(f"median error of the angle {error:.0f}°")

model = IKD(n_components=2).fit(counts)
print(model.trust_)
ax = plot.embedding(
    model.embedding_,
    np.degrees(angle) % 360.0,
    period=360,  # 0 and 360 degrees have one color
    label_title="circular coordinate",
    ax=plot.axes(),
)
print("picture:", plot.save(ax, "02_ring.png"))
