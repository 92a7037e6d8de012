"""
Distances: a shape from short ranges
====================================

Who measures distances, between atoms of a coil or between stations that hear one another, knows the
short ones only. Every clique of points whose distances are all known has one shape; cliques that
share points are put together, and the distances come out as they went in.
"""

# %%
# A coil
# ------
import numpy as np
import scipy.sparse as sp

from ikd_graph import IKD, blockwise

rng = np.random.default_rng(0)
turn = np.linspace(0.0, 12.0 * np.pi, 240)
coil = np.column_stack([5.0 * np.cos(turn), 5.0 * np.sin(turn), 1.2 * turn])
coil += 0.6 * rng.normal(size=coil.shape)


def short(points, radius):
    """Distances below a radius; the others are not stored, and not known."""
    gaps = np.linalg.norm(points[:, None] - points, axis=-1)
    return sp.csr_array(np.where(gaps < radius, gaps, 0.0))


model = IKD(3, strategy="blockwise", affinity="precomputed_distance").fit(short(coil, 6.0))
fixed = model.fixed_ == "fixed"
move = blockwise.rigid_fit(model.embedding_[fixed], coil[fixed])
placed = model.embedding_ @ move.rotation + move.translation
print(f"{fixed.sum()} of {fixed.size} points are fixed")
print(f"largest error of these: {np.abs(placed - coil)[fixed].max():.1e}")

# %%
# What is not fixed
# -----------------
# Two parts of a street map that share the points of one street may be folded over it. The points
# that may be mirrored have another marker, and `blockwise.mirror` gives the other image.
street = np.column_stack([np.zeros(5), np.arange(5.0)])
west = np.column_stack([-rng.uniform(0.5, 3.0, 20), rng.uniform(0.0, 4.0, 20)])
east = np.column_stack([rng.uniform(0.5, 3.0, 12), rng.uniform(0.0, 4.0, 12)])
town = np.vstack([street, west, east])
gaps = np.linalg.norm(town[:, None] - town, axis=-1)
side = np.sign(np.round(town[:, 0], 9))
known = np.abs(side[:, None] - side) < 2.0  # nobody sees across the street
import warnings

with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    map_ = IKD(2, strategy="blockwise", affinity="precomputed_distance").fit(
        sp.csr_array(np.where(known, gaps, 0.0))
    )
print(heard[-1].message)
print(map_.joints_)
map_.plot()
