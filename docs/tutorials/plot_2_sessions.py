"""
Is it the same map every day?
=============================

An animal walks in one room on five days. Two days share some neurons and no row. Do all days have
one map? The table is simulated: for four days the neurons keep what they prefer, on Friday all
have changed it.
"""

# %%
# The tables
# ----------
#
# Neurons fire at rates that vary smoothly over the room; a table holds roots of spike counts. Days
# that follow one another share 40 of their 100 neurons. Friday has the neurons of Thursday.
import numpy as np

rng = np.random.default_rng(0)
n_rows, n_neurons, step = 60, 100, 60
names = ["Monday", "Tuesday", "Wednesday", "Thursday"]


def walk_of(n_rows):
    """Places anywhere in the room."""
    return rng.uniform(size=(n_rows, 2)) * [4.0, 2.5]


def roots_of_counts(places, n_neurons):
    """Roots of counts of neurons whose rates are smooth over the room."""
    squared = ((places[:, None] - places) ** 2).sum(axis=-1)
    root = np.linalg.cholesky(np.exp(-0.5 * squared) + 1e-6 * np.eye(len(places)))
    drive = root @ rng.normal(size=(len(places), n_neurons))
    return np.sqrt(rng.poisson(np.exp(1.5 + 0.6 * drive)))


def week(step):
    """Places, tables and neurons of four days of which each brings ``step`` new neurons."""
    room = walk_of(4 * n_rows)
    roots = roots_of_counts(room, 3 * step + n_neurons)
    neurons = [np.arange(k * step, k * step + n_neurons) for k in range(4)]
    tables = [roots[k * n_rows : (k + 1) * n_rows, own] for k, own in enumerate(neurons)]
    return room, tables, neurons


room, tables, neurons = week(step)
friday = roots_of_counts(walk_of(n_rows), n_neurons)
print([table.shape for table in tables], friday.shape)

# %%
# The fit, and its verdict
# ------------------------
#
# A pair of rows is compared over the neurons that both days know, by their names; days that share
# none are related by way of others.
import ikd_graph

every = ikd_graph.align(
    [*tables, friday], columns=[*neurons, neurons[-1]], names=[*names, "Friday"]
)
print(every)

# %%
# The verdict: Friday did not mix. Of the nearest rows of its rows fewer than one in a hundred are
# of another day, by chance 80 %. And no day agrees with its own map, by an R² between 0.53 and
# 0.79, since all had to make room for Friday.
without = ikd_graph.align(tables, columns=neurons, names=names)
print(without)

# %%
# Four days are one map
# ---------------------
#
# Without Friday the days mix as by chance, and each agrees with its own map, by 0.93 to 0.98.
# The room was never used. How much of it is in the map, and in one of filled-in neurons?
from ikd_graph import IKD, missing
from ikd_graph.metrics import affine_r2


def filled_in(tables, neurons):
    """One table of all days, its holes filled in."""
    holes = np.full((sum(map(len, tables)), 1 + max(map(max, neurons))), np.nan)
    for k, (table, own) in enumerate(zip(tables, neurons, strict=True)):
        holes[k * n_rows : (k + 1) * n_rows, own] = table
    return missing.fill(holes, holes)


guess = IKD(2, affinity="correlation").fit_transform(filled_in(tables, neurons))
print(f"R² with the room: {affine_r2(room, np.vstack(without.coordinates)):.2f}")
print(f"after filling in: {affine_r2(room, guess):.2f}")
print(f"with Friday: {affine_r2(room, np.vstack(every.coordinates[:4])):.2f}")

# %%
# The R² with the room is 0.98, after filling in 0.93: what is filled in makes rows of one day
# alike. With Friday it is 0.57.
from matplotlib import pyplot as plt

from ikd_graph.plotting import plot

figure, axs = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
every.plot(ax=axs[0]).set_title("with Friday")
where = np.vstack(without.coordinates)
plot.embedding(where, room[:, 0], legend=False, ax=axs[1]).set_title("without, by the true x")

# %%
# What is doubted
# ---------------
#
# - **Mixing.** A day that the animal spends in a corner does not mix either, and is no other map.
# - **Few neurons in common.** Among days that share 20 neurons instead of 40 the R² with the room
#   is 0.70, and they mix all the same. The agreement of each with its own map says so, 0.67 to
#   0.78. Days that share fewer than 20 are refused.
# - **Drift.** Neurons that change slowly are in neither case, and no number above would tell when.
for new in (70, 80):
    places, others, own = week(new)
    found = ikd_graph.align(others, columns=own, names=names)
    r2 = affine_r2(places, np.vstack(found.coordinates))
    print(f"{n_neurons - new} neurons in common: R² with the room {r2:.2f}")
    print(*str(found).splitlines()[:2], sep="\n")
