"""
Who grows with whom?
====================

Yearly income per head of 48 American states, from 1929 to 2009: which states grow together? The
table is real, of the Bureau of Economic Analysis, and comes with the package `libpysal
<https://pysal.org/libpysal/>`_ (BSD license). Nothing is fetched.
"""

# %%
# The table
# ---------
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

package = find_spec("libpysal")
if package is None:
    raise SystemExit(
        "libpysal is not installed. It brings the table of this tutorial: pip install libpysal"
    )
folder = Path(package.origin).parent / "examples" / "us_income"
incomes = pd.read_csv(folder / "usjoin.csv", index_col="Name").drop(columns="STATE_FIPS")
print(incomes.iloc[:3, :6])

# %%
# The fit, and its verdict
# ------------------------
import warnings

import ikd_graph

warnings.simplefilter("ignore", UserWarning)  # they are in what is printed as well
levels = ikd_graph.diagnose(incomes)
print(levels)

# %%
# The arrangement can be read, but see the line "shared": states correlate by 1.00 in the mean, as
# incomes rise everywhere. What a state does in a year is its growth, the difference of logarithms.
growth = np.log(incomes).diff(axis=1).iloc[:, 1:]
found = ikd_graph.diagnose(growth)
print(found)

# %%
# The 80 years of growth have structure (p = 0.005), but two halves of the years, embedded
# separately, agree by an R² of 0.25 only, and all states share the business cycle: growths
# correlate by 0.83 in the mean.
from ikd_graph import IKD

model = IKD(n_components=2).fit(growth)
print(model.settings_)

# %%
# Every year was scaled to one variance, with its mean taken off, so that the business cycle has
# no say in the map. The verdict: at most neighborhoods can be read, and no standard errors are
# known, since states share a factor that two coordinates do not explain. Distances on this map
# are no measurements.

# %%
# Neighbors grow together
# -----------------------
#
# Are neighborhoods right? The places of the states were never used. The nearest states on the map
# predict the place of a state that is left out with an R² of 0.35; places at random, the best of 99
# tries, with 0.09.
warnings.simplefilter("ignore", FutureWarning)  # of libpysal, about its own shapes
from contextlib import closing

from libpysal.io import open as open_file

from ikd_graph import metrics

with (
    closing(open_file(str(folder / "us48.shp"))) as shapes,
    closing(open_file(str(folder / "us48.dbf"))) as facts,
):
    name, region = (facts.header.index(each) for each in ("STATE_NAME", "SUB_REGION"))
    both = zip(shapes, facts, strict=True)
    known = {fact[name]: (shape.centroid, fact[region]) for shape, fact in both}
places = np.array([known[state][0] for state in growth.index])
places[:, 0] *= np.cos(np.radians(39.0))  # a degree of longitude is shorter than one of latitude
regions = [known[state][1] for state in growth.index]

rng = np.random.default_rng(0)
r2_places = metrics.held_out_r2(model.embedding_, places)
by_chance = [metrics.held_out_r2(model.embedding_, rng.permutation(places)) for _ in range(99)]
print(f"R² of the places: {r2_places:.2f}; by chance at most {max(by_chance):.2f}")

# %%
# Which years make the map
# ------------------------
#
# Each year is predicted from a map that was made without it. A q-value is the false discovery rate
# (Benjamini and Hochberg) at which a year is found.
columns = model.columns(names=growth.columns)
years = columns.to_pandas()
print(columns)
print(years[["column", "r2", "q_value", "fraction_ikd0", "fraction_ikd0_se"]].head().round(2))

# %%
# 36 of the 80 years are related to the map, 1987 and 1986 the most (R² 0.71 and 0.64), then 1935
# and 1949 (0.50 and 0.49). What the latter two were can be read from the table:
for year in ("1935", "1949"):
    order = growth[year].sort_values()
    print(year, "least:", *order.index[:4], "| most:", *order.index[-4:])

# %%
# North Dakota, Nebraska, Iowa and South Dakota grew most in 1935, and three of these four are
# among the four that grew least in 1949: the map shows first who lives by the harvest. The
# fraction of 1935 that runs along dimension 1 is 0.92 ± 0.72, little or all: a year belongs to
# the map, not to an axis.

# %%
# Cliques that stay
# -----------------
#
# A clique of states all of whose growths correlate above 0.4, after the mean year is taken off.
# Would it be there again in 80 other years?
from ikd_graph import cliques, covariance

own = covariance.remove_mean_row(growth.to_numpy())
stable = cliques.stability(own, 0.4)
listed = stable.to_pandas(growth.index)
large = listed[listed["size"] > 2].sort_values("stability", ascending=False)
print(f"{len(large)} cliques of three or more")
for row in large.head(6).itertuples():
    print(f"{row.stability:.2f}  {row.members}")
for row in cliques.communities(stable.cliques, 3).to_pandas(growth.index).itertuples():
    print(f"community {row.community}: {row.members}")

# %%
# Of 20 cliques of three or more the surest is Indiana, Michigan and Ohio, the makers of cars, with
# a stability of 0.69. None of the others is above 0.23, and unrelated rows have 0.1 of three or
# more. The regions are there, their borders are not.
expected = stable.expected(3)
print(f"cliques of three or more in unrelated rows: {expected:g}")

# %%
# Place new states
# ----------------
#
# Six states are left out of the fit and placed afterwards. Where do they land?
away = ["Ohio", "Georgia", "Iowa", "Texas", "Massachusetts", "Nevada"]
others = growth.drop(index=away)
partial = IKD(n_components=2).fit(others)
placed = partial.transform(growth.loc[away])
gaps = np.linalg.norm(placed[:, None] - partial.embedding_, axis=-1)
nearest = {
    state: others.index[np.argsort(gap)[:2]].tolist() for state, gap in zip(away, gaps, strict=True)
}
for state, two in nearest.items():
    print(f"{state} lands next to {' and '.join(two)}")

# %%
# Ohio lands next to Indiana, Iowa next to Nebraska, Nevada next to Utah.

# %%
from matplotlib import pyplot as plt

from ikd_graph import blockwise
from ikd_graph.plotting import plot

figure, axs = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
plot.embedding(places, regions, legend=False, ax=axs[0]).set_title("where the states are")
move = blockwise.rigid_fit(model.embedding_, places)  # turned and mirrored, not stretched
on_map = model.embedding_ @ move.rotation
plot.embedding(on_map, regions, legend=False, ax=axs[1]).set_title("who grew with whom")
shown = ["Ohio", "Iowa", "South Dakota", "Texas", "Nevada", "Alabama", "Oregon", "Massachusetts"]
for ax, points in zip(axs, (places, on_map), strict=True):
    for state in shown:
        ax.annotate(state, points[growth.index.get_loc(state)], fontsize=8)

# %%
# A color is a region of the census. The northern plains lie far from all others. Oregon lies with
# Illinois and Wisconsin: who grows alike need not be neighbors.

# %%
# What is doubted
# ---------------
#
# - **The arrangement.** Halves of the years agree by 0.25. Neighbors carry the finding.
# - **What all states share.** With the mean year regressed out before the fit the R² of the places
#   falls to 0.24. Some geography is left either way; how much, this table does not say.
# - **Independence.** ``diagnose`` counts the 80 years of growth as 36 independent ones, the 81
#   years of income as 11.
# - **Names.** "Harvest" and "cars" are our words. The table holds incomes, and no cause.
regressed = IKD(n_components=2).fit(own)
r2_regressed = metrics.held_out_r2(regressed.embedding_, places)
print(f"R² of the places, mean year regressed out: {r2_regressed:.2f}")
