"""
What are the large correlations made of?
========================================

The cliques of a graph of images that look alike, what a threshold does to them, and which of them
belong together.
"""

from sklearn.datasets import load_digits

from ikd_graph import IKD, cliques, graph
from ikd_graph.jobs.threshold_scan import threshold_scan
from ikd_graph.plotting import charts, colors, plot

X, y = load_digits(return_X_y=True)
X, y = X[:300], y[:300]
model = IKD(
    strategy="blockwise", affinity="correlation", graph=graph.Threshold(0.75, 6), refine=None
).fit(X)

summary = cliques.summary(model.graph_, model.cliques_, n_components=2)
print(f"{summary['n_cliques']} cliques solved, the largest of {summary['sizes']['max']} points")
levels = threshold_scan(X, thresholds=[0.7, 0.75, 0.8, 0.85, 0.9])
for level, components, fraction in zip(
    levels.threshold, levels.components, levels.coverage, strict=True
):
    print(
        f"threshold {level:.2f}: {components:3d} components, {fraction:.0%} of points in a clique"
    )

overlaps = cliques.clique_graph(model.cliques_)
parts = [list(map(int, text.split(";"))) for _, text in overlaps.nodes(data="members")]
digit = [y[members[len(members) // 2]] for members in parts]
centers = [model.embedding_[members].mean(axis=0) for members in parts]
shade = colors.paint(digit, title="most members")
ax = plot.chart(charts.network(overlaps, centers, shade), ax=plot.axes(7.2, 5.4))
print("picture:", plot.save(ax, "03_cliques.png"))
