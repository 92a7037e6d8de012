"""
networkx: digits without labels
===============================

A graph of networkx stays one. Where a function takes ``backend="ikd_graph"`` this package does the
work, and what comes back is what networkx returns. The graph here joins images of handwritten
digits that look alike, a table of scikit-learn. The labels only name what was found.
"""

# %%
# A graph of images
# -----------------
# Two images are joined where their pixels correlate by more than 0.9. The length of an edge is
# small where they are nearly equal.
import networkx as nx
import numpy as np
from sklearn.datasets import load_digits

images, labels = load_digits(return_X_y=True)
corr = np.corrcoef(images)
low, high = np.nonzero(np.triu(corr > 0.9, k=1))
lengths = np.sqrt(1.0 - corr[low, high])
G = nx.empty_graph(len(images))
G.add_weighted_edges_from(zip(low.tolist(), high.tolist(), lengths.tolist(), strict=True))
print(G)

# %%
# Cliques
# -------
# In a clique every image looks like every other. networkx converts the graph at the first call and
# keeps what it converted. It warns of that at each later call, so we say that we know.
nx.config.warnings_to_ignore.add("cache")
cliques = list(nx.find_cliques(G, backend="ikd_graph"))
print(f"{len(cliques)} maximal cliques, the largest of {max(map(len, cliques))} images")

# %%
# Functions of networkx that ask for cliques themselves get them in the same way, where the backend
# has priority.
with nx.config(backend_priority=["ikd_graph"]):
    counts = nx.number_of_cliques(G)
busiest = max(counts, key=counts.get)
print(f"image {busiest}, a {labels[busiest]}, is in {counts[busiest]} cliques")

# %%
# Communities
# -----------
# A way of writing a digit is more than a clique, for it changes a little from one image to the
# next. Two cliques of four images that share three belong together; all that hang together are a
# community.
communities = nx.community.k_clique_communities(G, 4, backend="ikd_graph")
communities = sorted(communities, key=len, reverse=True)
inside = len(set().union(*communities))
print(f"{len(communities)} communities with {inside} of {len(G)} images, the largest:")
for members in communities[:9]:
    digits, sizes = np.unique(labels[list(members)], return_counts=True)
    counted = zip(digits.tolist(), sizes.tolist(), strict=True)
    print(len(members), "images:", ", ".join(f"{size} of a {digit}" for digit, size in counted))

# %%
# Nearly all of these hold one digit each, found without labels. The fifth holds ones, eights and
# one six. The images in no community are not wrong: too few others look like them.

# %%
# From end to end
# ---------------
# The lengths of all shortest paths in a community tell which two of its images are farthest apart.
# The path between them shows what changes inside: the slant, a loop, the thickness of the pen.
paths = []
for members in communities[:6]:
    part = G.subgraph(members)
    farthest = {}
    for source, reached in nx.all_pairs_dijkstra_path_length(part, backend="ikd_graph"):
        *_, last = reached  # the nearest come first
        farthest[source, last] = reached[last]
    ends = max(farthest, key=farthest.get)
    paths.append(nx.shortest_path(part, *ends, weight="weight"))
    print(f"{len(members)} images: {len(paths[-1])} on the path, of length {farthest[ends]:.2f}")

# %%
# The fifth path says why ones, eights and a six are together: an eight whose loops have closed is a
# thick stroke on so few pixels, and so are a one and the six at the end of the path.
import matplotlib.pyplot as plt

fig, axes = plt.subplots(len(paths), max(map(len, paths)), figsize=(7.5, 6.0))
for row, path in zip(axes, paths, strict=True):
    for ax in row:
        ax.set_axis_off()
    for ax, image in zip(row, path, strict=False):
        ax.imshow(images[image].reshape(8, 8), cmap="gray_r")
fig.suptitle("Six communities, each from one end to the other")
fig.tight_layout()
