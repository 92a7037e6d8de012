"""Classics: half moons and a Swiss roll, where rows have two or three columns."""

from ikd_graph import IKD
from ikd_graph.show import plot
from ikd_graph.study import baselines, datasets
from ikd_graph.study.experiments import euclidean_similarity

roll = datasets.swiss_roll(500)
S = euclidean_similarity(roll.X)  # three columns have no correlation, but distances
ways = {"geodesic": IKD(2, strategy="geodesic"), "blockwise": IKD(2, strategy="blockwise")}
panels = {"seen from its end": roll.X[:, ::2]}
for peer in ("pca", "isomap", "tsne"):
    panels[baselines.PEERS[peer].title] = baselines.embed(peer, roll.X).coordinates
for name, model in ways.items():
    model.set_params(affinity="precomputed", threshold=None, n_neighbors=7)
    panels[f"IKD {name}"] = model.fit_transform(S)

ax = plot.small_multiples(panels, roll.y, ax=plot.axes(9, 6))
print("picture:", plot.save(ax, "12_classics.png"))
# `ikd-graph reproduce swiss_roll` and `half_moons` compare more methods over several draws.
