"""Which joints between blocks are fixed, mirrored or free: judged by rigidity matrices."""

import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from ikd_graph import IKD, blockwise


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
    return blockwise.solved_blocks(members, own)


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
    found = blockwise.joints(blocks_of(points, g, seed), points)
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


def chain(seed, noise, width=2):
    """Blocks that share points near a line or plane with the next, and how thin these are."""
    rng = np.random.default_rng(seed)
    points, members, thin = list(rng.normal(size=(6, width))), [], []
    current = list(range(6))
    for _ in range(int(rng.integers(2, 6))):
        k = int(rng.integers(width, 9))
        thickness = rng.choice([0.0, 0.0, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0])
        shared = rng.normal(size=(k, width))
        shared[:, -1] *= thickness
        shared = shared @ np.linalg.qr(rng.normal(size=(width, width)))[0]
        shared += rng.normal(size=width)
        ids = [*range(len(points), len(points) + k)]
        points += [*shared, *(rng.normal(size=(5, width)) + shared.mean(axis=0))]
        members.append(current + ids)
        current = [*range(ids[0], len(points))]
        least = np.linalg.svd(shared - shared.mean(axis=0), compute_uv=False)[-1]
        thin.append(0.0 if k <= width or thickness == 0.0 else least)
    members.append(current)
    points = np.array(points)
    own = []
    for ids in members:
        turn = np.linalg.qr(rng.normal(size=(width, width)))[0]
        own.append((points[ids] + noise * rng.normal(size=(len(ids), width))) @ turn)
    return blockwise.solved_blocks(members, own), members, thin


@pytest.mark.parametrize("noise", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("width", [2, 3])
def test_no_open_joint_of_a_chain_is_called_fixed_and_no_wide_one_open(width, noise):
    n_open = 0
    for seed in range(60):
        solved, members, thin = chain(seed, noise, width)
        merged = quiet_merge(solved)
        body = blockwise.joints(solved, merged.coordinates).body
        alone = np.bincount(np.concatenate(members)) == 1
        for block, least in enumerate(thin):
            sides = [next(p for p in members[block + at] if alone[p]) for at in (0, 1)]
            together = body[sides[0]] == body[sides[1]]
            n_open += least == 0.0
            assert not (together and least == 0.0)
            assert together or least <= 7.5 * noise
    assert n_open > 50


def quiet_merge(solved):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return blockwise.merge(solved)


def test_a_cycle_of_hinged_bodies_is_still_but_may_be_mirrored():
    # Three triangles, each sharing one corner with either of the others.
    points = np.array([[0, 0], [4, 0], [2, 3], [2, -1], [4, 2], [0, 2.0]])
    blocks = [[0, 1, 3], [1, 2, 4], [0, 2, 5]]
    found = blockwise.joints(blockwise.solved_blocks(blocks, [points[b] for b in blocks]), points)
    assert (found.fixed == "fixed").sum() == 3
    assert (found.fixed == "mirrored").sum() == 3
    opened = blockwise.joints(
        blockwise.solved_blocks(blocks[:2], [points[b] for b in blocks[:2]]), points
    )
    assert opened.kinds.tolist() == ["free"]
    assert sorted(opened.fixed.tolist()) == ["fixed"] * 3 + ["free"] * 3


def test_the_other_mirror_image_keeps_all_distances_of_the_blocks():
    solved, members, _ = chain(5, 0.0)
    merged = quiet_merge(solved).coordinates
    found = blockwise.joints(solved, merged)
    number = int(np.flatnonzero(found.kinds == "mirrored")[0])
    other = blockwise.mirror(solved, merged, number)
    for ids in members:
        gaps = [np.linalg.norm(p[ids][:, None] - p[ids], axis=-1) for p in (merged, other)]
        np.testing.assert_allclose(*gaps, atol=1e-7)
    assert np.abs(other - merged).max() > 0.1
    with pytest.raises(ValueError, match="joint must be one that is mirrored, got 99"):
        blockwise.mirror(solved, merged, 99)


@pytest.mark.parametrize(
    ("members", "coordinates", "told"),
    [
        ([], [], "one array for each of 0 blocks"),
        ([[0, 1, 2]], [], "one array for each of 1 blocks"),
        ([[0, 1, 2]], [np.zeros((2, 2))], r"a row for each of its points.*\(2, 2\)"),
        ([[0, 1], [1]], [np.zeros((2, 2)), np.zeros((1, 3))], r"as many columns for all.*\(1, 3\)"),
        ([[0, 1]], [np.full((2, 2), np.nan)], r"coordinates\[0\] must be finite"),
    ],
)
def test_wrong_coordinates_of_blocks_are_named(members, coordinates, told):
    with pytest.raises(ValueError, match=told):
        blockwise.solved_blocks(members, coordinates)


def test_one_open_joint_is_one():
    first, second = np.random.default_rng(0).normal(size=(2, 8, 2))
    second[0] = first[0]
    points = np.vstack([first, second[1:]])
    distances = np.zeros((15, 15))
    for block in (np.arange(8), np.r_[0, 8:15]):
        at = np.ix_(block, block)
        distances[at] = np.linalg.norm(points[block][:, None] - points[block], axis=-1)
    model = IKD(2, affinity="precomputed_distance", strategy="blockwise")
    with pytest.warns(UserWarning, match="1 joint left open, .* 7 may move freely"):
        model.fit(sp.csr_array(distances))
    assert "free, 1 shared point, singular" in str(model.joints_)


def test_joints_are_those_of_the_closed_form_whenever_they_are_asked_for(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3)) @ np.random.default_rng(1).normal(
        size=(3, 40)
    )
    model = IKD(2, strategy="blockwise", affinity="euclidean", refine="stress").fit(
        np.vstack([X, X[:1]])
    )
    model.save(tmp_path / "model.ikd")
    again = IKD.load(tmp_path / "model.ikd")
    assert str(model.joints_) == str(again.joints_)
    assert model.fixed_.shape == (61,)
    assert model.fixed_[0] == model.fixed_[60]
    assert IKD(2, strategy="geodesic", refine=None).fit(X).joints_ is None
