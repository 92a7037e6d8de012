"""
Sessions: other neurons every day
=================================

Four recordings of one animal that walks in one room. Every day other neurons are found again, and
the animal walks other ways, so that two days share some columns and no row.
"""

# %%
# Data
# ----
# Neurons fire at rates that vary smoothly over the room; the table holds roots of spike counts. Day
# k knows the neurons 60 k to 60 k + 100, so that neighboring days share 40.
import numpy as np

import ikd_graph
from ikd_graph import missing
from ikd_graph.metrics import affine_r2

rng = np.random.default_rng(0)
n_days, n_rows, n_neurons, step = 4, 60, 100, 60
room = rng.uniform(size=(n_days * n_rows, 2)) * [4.0, 2.5]
gaps = ((room[:, None] - room) ** 2).sum(axis=-1)
tuning = np.linalg.cholesky(np.exp(-0.5 * gaps) + 1e-6 * np.eye(len(room)))
drive = tuning @ rng.normal(size=(len(room), step * (n_days - 1) + n_neurons))
roots = np.sqrt(rng.poisson(np.exp(1.5 + 0.6 * drive)))
days = [slice(k * n_rows, (k + 1) * n_rows) for k in range(n_days)]
neurons = [np.arange(k * step, k * step + n_neurons) for k in range(n_days)]
sessions = [roots[day][:, own] for day, own in zip(days, neurons, strict=True)]
print([session.shape for session in sessions])

# %%
# One frame
# ---------
# Neurons are recognized by their names. A pair of rows is compared over the neurons that both days
# know; days that share none are related by way of others.
found = ikd_graph.align(sessions, columns=neurons)
print(found)
print("R² with the room:", round(affine_r2(room, np.vstack(found.coordinates)), 2))
found.plot()

# %%
# Filling in the holes makes rows of one day alike, whatever they are.
holes = np.full(roots.shape, np.nan)
for day, own in zip(days, neurons, strict=True):
    holes[day, own] = roots[day, own]
filled = missing.fill(holes, holes)
guess = ikd_graph.IKD(2, affinity="correlation").fit_transform(filled)
print("R² after filling in:", round(affine_r2(room, guess), 2))

# %%
# What nothing fixes
# ------------------
# Days that share rows instead of columns are merged on these. Where the shared rows lie on a line,
# the second day may be mirrored, and that is said.
on_a_line = room.copy()
on_a_line[:20, 1] = 1.2
gaps = ((on_a_line[:, None] - on_a_line) ** 2).sum(axis=-1)
tuning = np.linalg.cholesky(np.exp(-0.5 * gaps) + 1e-6 * np.eye(len(room)))
first = tuning[:120] @ rng.normal(size=(len(room), 150))
second = tuning[np.r_[:20, 120:240]] @ rng.normal(size=(len(room), 150))
import warnings

with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    two = ikd_graph.align([first, second], rows=[np.arange(120), np.r_[:20, 120:240]])
print(heard[-1].message)
two.plot()
