"""
What is hidden in a table?
==========================

The shortest way from a table to a picture: a curve behind 200 columns that are half noise.
"""

from ikd_graph import IKD, datasets, metrics
from ikd_graph.plotting import plot

data = datasets.figure_eight()  # rows are points, columns are measurements
model = IKD(n_components=2)
Z = model.fit_transform(data.X)

print(model.settings_)  # what was chosen, and why
print(model.trust_)  # what can be read on the map, and what that rests on
print(f"R² with the truth {metrics.affine_r2(data.latent, Z):.2f}, which is known here")
middle = sorted(model.standard_errors_.max(axis=1))[len(Z) // 2]
print(f"a point is known to {middle:.2f} of a length-scale, the median of all")

ax = plot.embedding(
    Z,
    data.y,
    period=360,  # an angle: 0 and 360 degrees have one color
    errors=model.standard_errors_,
    label_title="place on the true curve",
    ax=plot.axes(),
)
print("picture:", plot.save(ax, "01_quickstart.png"))
