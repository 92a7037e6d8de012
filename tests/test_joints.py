"""Which joints between blocks are fixed, mirrored or free: judged by rigidity matrices."""

import networkx as nx
import numpy as np
import pytest

from ikd_graph import alignment


def framework(seed, n=None, width=2):
    """Points in a plane or in space, and the graph of the pairs below a radius."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(8, 61))
    points = rng.uniform(size=(n, width))
    radius = rng.uniform(0.8, 1.8) * n ** (-1.0 / width)
    gaps = np.linalg.norm(points[:, None] - points, axis=-1)
    g = nx.from_numpy_array((gaps < radius) & ~np.eye(n, dtype=bool))
    return points, g


def blocks_of(points, g, seed=0):
    """Every maximal clique in a frame of its own."""
    rng = np.random.default_rng(seed)
    members = [sorted(clique) for clique in nx.find_cliques(g)]
    own = []
    for clique in members:
        turn = np.linalg.qr(rng.normal(size=2 * (points.shape[1],)))[0]
        own.append(points[clique] @ turn + rng.normal(size=points.shape[1]))
    return alignment.solved_blocks(members, own)


def moved_by_no_flex(points, g, held):
    """Points that no motion of the bars of a graph moves while some points are held."""
    n, width = points.shape
    matrix = np.zeros((g.number_of_edges(), n * width))
    for row, (a, b) in enumerate(g.edges):
        matrix[row, a * width : (a + 1) * width] = points[a] - points[b]
        matrix[row, b * width : (b + 1) * width] = points[b] - points[a]
    left = np.delete(matrix, [p * width + k for p in held for k in range(width)], axis=1)
    _, values, vectors = np.linalg.svd(left)
    rank = int((values > 1e-9 * values.max(initial=1e-300)).sum())
    flexes = vectors[rank:]
    others = np.setdiff1d(np.arange(n), held)
    still = np.abs(flexes).max(axis=0, initial=0.0).reshape(-1, width).max(axis=1) < 1e-7
    return set(others[still]) | set(held)


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("seed", range(30))
def test_flags_agree_with_the_rigidity_matrix(seed, width):
    points, g = framework(seed, width=width)
    found = alignment.joints(blocks_of(points, g, seed), points)
    ground = np.flatnonzero(found.fixed == "fixed")
    if ground.size <= width:
        return
    still = moved_by_no_flex(points, g, ground.tolist())
    assert set(np.flatnonzero(found.fixed != "free")) == still
    # The largest body itself is rigid.
    inside = g.subgraph(ground.tolist())
    renamed = nx.convert_node_labels_to_integers(inside, ordering="sorted")
    base = max(nx.find_cliques(renamed), key=len)
    if len(base) > width:
        assert len(moved_by_no_flex(points[ground], renamed, base)) == ground.size
