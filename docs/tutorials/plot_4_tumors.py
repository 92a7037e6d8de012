"""
What is a map of tumors made of?
================================

569 tumors of the breast, thirty measures of the nuclei of their cells: which measures order the
tumors? The table is real. It comes with scikit-learn (the Wisconsin diagnostic set, CC BY 4.0).
"""

# %%
# The table
# ---------
#
# Ten quantities, three times over: their mean, their standard error, and their worst, which is the
# mean of the three largest. Every tenth tumor is kept apart for the end.
import numpy as np
from sklearn.datasets import load_breast_cancer

bunch = load_breast_cancer(as_frame=True)
cells, kind = bunch.data, bunch.target_names[bunch.target]
new = np.arange(len(cells)) % 10 == 9
known = ~new
print(cells.iloc[:3, :4])
print(f"{known.sum()} tumors to fit, {new.sum()} to place")

# %%
# The fit, and its verdict
# ------------------------
import warnings

import ikd_graph

warnings.simplefilter("ignore", UserWarning)  # they are in what is printed as well
found = ikd_graph.diagnose(cells[known])
print(found)

# %%
# The verdict: the arrangement can be read roughly. There is something to see (p = 0.005), and two
# halves of the measures agree by 0.75. The line "shared" is about units: areas are a thousand
# times as large as smoothness, so that all rows look alike. The default scales columns.
from ikd_graph import IKD

model = IKD(n_components=2).fit(cells[known])
print(model.settings_)

# %%
# Which measures make the map
# ---------------------------
#
# Each measure is predicted from a map that was made without it.
columns = model.columns()
table = columns.to_pandas()
print(columns)
shown = ["column", "r2", "fraction_ikd0", "fraction_ikd0_se", "fraction_ikd1", "fraction_ikd1_se"]
print(table[shown].round(2).to_string())
print(f"standard error of a fraction: {table['fraction_ikd0_se'].max():.2f} at most")

# %%
# All 30 measures are related to the map. The best predicted is the worst radius (R² 0.91), the
# least the mean texture (0.11). Dimension 1 is concave points and concavity: of what the mean
# number of concave points does, 0.94 ± 0.04 runs along it. Dimension 2 is fractal dimension, with
# 0.79 ± 0.09 of its mean. Size runs across both: 0.66 of the mean radius lies along dimension 1.
# "Dimension 1 is size" would be wrong.
#
# From benign to malignant, what changes most? The labels were not used so far.
centers = [model.embedding_[kind[known] == each].mean(axis=0) for each in ("benign", "malignant")]
path = model.columns(where=centers).to_pandas()
spread = cells[known].std()[path["column"]].to_numpy()
path["in sd"], path["se"] = path["change"] / spread, path["change_se"] / spread
path = path.sort_values("in sd", key=abs, ascending=False)
print(path[["column", "in sd", "se"]].head(4).round(2))

# %%
# The worst radius, by 1.9 ± 0.1 standard deviations.

# %%
# Cliques that stay
# -----------------
#
# Now the measures are the points: which of them say the same?
from ikd_graph import cliques

stable = cliques.stability(cells.to_numpy().T, 0.8)
listed = stable.to_pandas(cells.columns)
for row in listed[listed["size"] > 2].itertuples():
    print(f"{row.stability:.2f}  {row.members}")

# %%
# One clique stays in all of 200 resamples: the errors of radius, perimeter and area. The largest
# has seven measures and a stability of 0.34: some of its pairs are close to the threshold of 0.8.

# %%
# Place new tumors
# ----------------
#
# Each of the tumors that were kept apart is placed by itself. Its kind is that of most of its five
# nearest neighbors on the map.
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

placed = model.transform(cells[new])
on_map = KNeighborsClassifier(5).fit(model.embedding_, kind[known])
right = int((on_map.predict(placed) == kind[new]).sum())
scaler = StandardScaler().fit(cells[known])
on_all = KNeighborsClassifier(5).fit(scaler.transform(cells[known]), kind[known])
right_all = int((on_all.predict(scaler.transform(cells[new])) == kind[new]).sum())
print(f"right on the map: {right} of {new.sum()}, on all measures: {right_all}")

# %%
# 52 of 56 are right, by all thirty measures 55: a map is for looking, not for a diagnosis.
#
# A row that is like none of the others has a large residual, such as one of the largest value of
# every measure:
strange = cells.max().to_frame().T
usual = float(model.placement_residuals(cells[new]).max())
odd = float(model.placement_residuals(strange)[0])
print(f"residual: {usual:.2f} at most of new tumors, {odd:.2f} of the strange one")

# %%
from matplotlib import pyplot as plt

figure, axs = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
columns.plot(color=kind[known], n=5, ax=axs[0]).set_title("which measures make the map")
model.plot(kind[known], legend=False, ax=axs[1]).set_title("new tumors (crosses)")
axs[1].scatter(*placed.T, c=np.where(kind[new] == "malignant", "k", "0.5"), marker="x", s=30)

# %%
# What is doubted
# ---------------
#
# - **The cliques** repeat how the table was made: radius, perimeter and area are one quantity,
#   and each of ten quantities is here three times over.
# - **The axes.** Halves of the measures agree by 0.75, so that fractions are known to about ± 0.08
#   for the leading measures, and to ± 0.19 for others.
# - **One clinic.** Standard errors are those of other tumors from there.
# - **56 new tumors** are few: between 52 and 55 of them the difference is three tumors.
