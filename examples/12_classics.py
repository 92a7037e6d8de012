"""
Classics
========

A Swiss roll, whose rows have three columns only.
"""

from ikd_graph import IKD, datasets
from ikd_graph.jobs import baselines
from ikd_graph.plotting import plot

roll = datasets.swiss_roll(500)
panels = {"seen from its end": roll.X[:, ::2]}
for peer in ("pca", "isomap", "tsne"):
    panels[baselines.PEERS[peer].title] = baselines.embed(peer, roll.X).value
# Three columns have no correlation to speak of, but distances; the default call finds that out.
near = {"affinity": "euclidean", "graph": 7}
runs = {"IKD": {}, "IKD blockwise": {"strategy": "blockwise", **near}}
for name, settings in runs.items():
    panels[name] = IKD(2, **settings).fit_transform(roll.X)

ax = plot.small_multiples(panels, roll.y, ax=plot.axes(9, 6))
print("picture:", plot.save(ax, "12_classics.png"))
# `python -m examples.paper swiss_roll half_moons` compares more methods over several samples.
