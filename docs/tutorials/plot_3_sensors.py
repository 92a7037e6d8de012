"""
Sensors: a messy table
======================

A machine has two hidden states, its load and its temperature, and 24 sensors that see mixtures of
them, each in a unit of its own. The table has what such tables have: a clock, a remark, missing
cells. We use the command line, and Python at the end.
"""

# %%
# Data
# ----
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 400
time = np.arange(n) / 10.0
load = np.sin(time / 3) + 0.3 * np.sin(time * 1.7)
heat = np.cumsum(load - 0.4 * np.sin(time / 7)) / 40
states = np.stack([load, (heat - heat.mean()) / heat.std()], axis=1)
response = np.tanh(states @ rng.normal(0, 0.6, (2, 24)) + rng.normal(0, 0.3, 24))
units = 10.0 ** rng.integers(-2, 4, 24)  # volts, pascals, revolutions ...
table = pd.DataFrame(
    (response + 0.05 * rng.normal(size=response.shape)) * units,
    columns=[f"sensor{number}" for number in range(24)],
)
table.insert(0, "time", time)
table["level"] = np.where(load > 0.5, "high", np.where(load < -0.5, "low", "middle"))
table["note"] = ""
for row, column in zip(rng.integers(0, n, 30), rng.integers(1, 25, 30), strict=True):
    table.iloc[row, column] = np.nan
folder = Path(tempfile.mkdtemp())
table.to_csv(folder / "sensors.csv", index=False)
print(table.iloc[:3, :5])

# %%
# Ask before you embed
# --------------------
#
# The command reads the table and lists everything that is wrong with it at once, with the flag that
# cures each. (:func:`ikd_graph.cli.main` is what the command ``ikd-graph`` calls; in a terminal,
# type the words.)
import contextlib
import os
import sys

from ikd_graph.cli import main


def ikd_graph(words):
    """Run the command in the folder of the table, and show what it writes to either stream."""
    os.chdir(folder)
    with contextlib.redirect_stderr(sys.stdout):
        ended = main(words.split())
    print("exit code", ended)


ikd_graph("embed sensors.csv --output results")

# %%
# Cure
# ----
#
# We name the time as the index, drop the remark, fill the missing cells, and say what the labels
# are. ``--scale`` divides each column by its standard deviation, so that units have no say.
cures = "--index time --drop note --labels level --impute median --scale"
ikd_graph(f"embed sensors.csv {cures} --affinity euclidean --output results")

# %%
# The picture, as the command left it, and next to it a page (``sensors_report.html``) and the
# coordinates (``sensors_embedding.csv``):
from matplotlib import pyplot as plt

ax = plt.figure(figsize=(6.4, 4.8), layout="constrained").add_subplot()
ax.imshow(plt.imread(folder / "results" / "sensors_embedding.png"))
ax.set_axis_off()

# %%
# The same in Python
# ------------------
#
# Here we ask what only a simulation can answer: how much of the two hidden states is in the latent.
from ikd_graph import IKD
from ikd_graph.metrics import affine_r2

sensors = table.filter(like="sensor")
sensors = sensors.fillna(sensors.median())
model = IKD(n_components=2, affinity="standardized_euclidean", refine="stress").fit(sensors)
print(f"R² with the hidden states, after an affine fit: {affine_r2(states, model.embedding_):.3f}")

# %%
# A row that is like none of the others stands out: its residual is large.
strange = sensors.iloc[:1] * 0.0 + sensors.max()
print("usual:", model.placement_residuals(sensors.iloc[:100] * 1.0001).max().round(2))
print("strange:", model.placement_residuals(strange).round(2))
