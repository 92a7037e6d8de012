import itertools
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_alignment import naive_merger, naive_round, ragged
from scipy.linalg import orthogonal_procrustes
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist

from ikd_graph import IKD, blockwise, graph, kernels
from ikd_graph.blockwise import SolvedBlocks
from ikd_graph.cliques import Blocks
from ikd_graph.metrics import affine_r2, rigid_r2

SE = kernels.SquaredExponential()


def random_orthogonal(rng, size, reflect=False):
    q, r = np.linalg.qr(rng.normal(size=(size, size)))
    q *= np.sign(np.diag(r))
    if (np.linalg.det(q) < 0) != reflect:
        q[:, 0] *= -1.0
    return q


def solved_from(sets, coordinates, precision=None):
    """Blocks with given coordinates, as if they had been solved."""
    indptr, members = ragged(sets)
    n_blocks, size = len(sets), coordinates[0].shape[1]
    return SolvedBlocks(
        blocks=Blocks(indptr, members),
        coordinates=np.concatenate(coordinates),
        precision=np.ones(members.size) if precision is None else precision,
        eigenvalues=np.ones((n_blocks, size)),
        negative_mass=np.zeros(n_blocks),
    )


def random_blocks(seed, n_points, size, n_blocks, smallest, largest, noise):
    """Noisy views of one latent, each moved rigidly."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n_points, size))
    sets, views = [], []
    for _ in range(n_blocks):
        nodes = np.sort(rng.choice(n_points, rng.integers(smallest, largest + 1), replace=False))
        view = latent[nodes] + noise * rng.normal(size=(nodes.size, size))
        sets.append(nodes)
        views.append(view @ random_orthogonal(rng, size, bool(rng.integers(2))) + rng.normal())
    return latent, sets, views


def geodesic_latent(corr, mask, size):
    lengths = np.where(mask, np.sqrt(SE.sq_distance(np.clip(corr, 1e-12, 1.0))), np.inf)
    lengths[~np.isfinite(lengths)] = 0.0
    sq_dist = dijkstra(lengths) ** 2
    sq_dist -= sq_dist.mean(axis=0) + sq_dist.mean(axis=1)[:, None] - sq_dist.mean()
    values, vectors = np.linalg.eigh(-0.5 * sq_dist)
    return vectors[:, -size:] * np.sqrt(np.clip(values[-size:], 0.0, None))


def sample(seed, n=60, n_observed=300, size=2, width=4.0, floor=0.3):
    """A noisy covariance of a random latent with its threshold graph, connected by neighbors."""
    rng = np.random.default_rng(seed)
    latent = width * rng.uniform(size=(n, size))
    cov = SE.covariance(((latent[:, None] - latent) ** 2).sum(axis=-1))
    data = np.linalg.cholesky(cov + 1e-9 * np.eye(n)) @ rng.normal(size=(n, n_observed))
    corr = np.clip(np.corrcoef(data), 1e-3, 1.0)
    np.fill_diagonal(corr, -1.0)
    near = corr >= np.sort(corr, axis=1)[:, -6, None]
    mask = (corr > floor) | near | near.T
    np.fill_diagonal(corr, 1.0)
    assert nx.is_connected(nx.from_numpy_array(mask))
    corr = np.where(mask, corr, 0.0)
    return latent, graph.threshold(corr, 1e-4), corr, mask


def all_cliques(mask):
    plain = mask.copy()
    np.fill_diagonal(plain, False)
    return Blocks(*ragged(sorted(sorted(c) for c in nx.find_cliques(nx.from_numpy_array(plain)))))


def merge_quietly(solved, n_points):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return blockwise.merge_greedy(solved, n_points)


# One rigid fit


@pytest.mark.parametrize("seed", range(5))
def test_noisy_fits_agree_with_scipy(seed):
    source, target = np.random.default_rng(seed).normal(size=(2, 12, 4))
    move = blockwise.rigid_fit(source, target)
    centered = source - source.mean(axis=0), target - target.mean(axis=0)
    np.testing.assert_allclose(move.rotation, orthogonal_procrustes(*centered)[0], atol=1e-10)
    shift = target.mean(axis=0) - source.mean(axis=0) @ move.rotation
    np.testing.assert_allclose(move.translation, shift, atol=1e-10)


@given(
    st.integers(0, 10_000),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from([0.0, 1e-8, 1.0, 1e8]),
)
@settings(deadline=None, max_examples=40)
def test_the_rotation_is_orthogonal_and_optimal(seed, n, size, scale):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(0, size + 1))
    source = scale * rng.normal(size=(n, rank)) @ rng.normal(size=(rank, size))
    rotation = random_orthogonal(rng, size, bool(seed % 2))
    move = blockwise.rigid_fit(source, source @ rotation + 1.0)
    np.testing.assert_allclose(move.rotation @ move.rotation.T, np.eye(size), atol=1e-12)
    placed = source @ move.rotation + move.translation
    np.testing.assert_allclose(placed, source @ rotation + 1.0, atol=1e-7 * max(scale, 1.0))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_directions_without_points_are_not_turned(n):
    source = np.zeros((n, 4))
    source[:, 1] = np.arange(n)
    move = blockwise.rigid_fit(source, source + 3.0)
    np.testing.assert_allclose(move.rotation, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(move.translation, 3.0)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (np.ones((3, 2)), np.ones((2, 2)), r"source must be a table .* got shape \(3, 2\)"),
        (np.ones(3), np.ones((3, 2)), "source must be a table"),
        (np.full((3, 2), np.nan), np.ones((3, 2)), "source must"),
        (np.ones((3, 2)), np.full((3, 2), np.inf), "target must"),
    ],
)
def test_points_that_cannot_be_fitted_are_refused(source, target, message):
    with pytest.raises(ValueError, match=message):
        blockwise.rigid_fit(source, target)


def test_groups_are_moved_rigidly_onto_a_frame():
    rng = np.random.default_rng(0)
    frame = rng.normal(size=(20, 3))
    labels = np.arange(20) % 3
    points = frame.copy()
    for label in range(3):
        points[labels == label] = points[labels == label] @ random_orthogonal(rng, 3) + label
    np.testing.assert_allclose(blockwise.place_groups(points, labels, frame), frame, atol=1e-10)


# Greedy merging


@pytest.mark.parametrize(
    ("n_points", "size", "n_blocks", "smallest", "largest"),
    [
        (12, 1, 6, 2, 5),
        (30, 2, 25, 4, 12),
        (40, 3, 12, 8, 30),
        (60, 2, 150, 4, 7),  # more blocks than rows of overlaps that are kept
        (60, 2, 10, 1, 4),  # tiny overlaps, blocks apart, points in none
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_greedy_merging_gives_what_its_mergers_give_one_by_one(
    n_points, size, n_blocks, smallest, largest, seed
):
    _, sets, views = random_blocks(seed, n_points, size, n_blocks, smallest, largest, 0.05)
    merged = merge_quietly(solved_from(sets, views), n_points)
    groups = naive_merger(sets, views, merged.order)
    for group in groups:
        nodes = sorted(group)
        expected = np.array([group[p] for p in nodes])
        assert np.unique(merged.labels[nodes]).size == 1
        np.testing.assert_allclose(
            merged.coordinates[nodes], expected - expected.mean(axis=0), atol=1e-6
        )
    # No two blocks that are left share a point, and points of no block are apart.
    covered = sum(map(len, groups))
    assert covered == np.unique(np.concatenate(sets)).size
    assert merged.labels.max() + 1 == len(groups) + n_points - covered


@pytest.mark.parametrize("seed", range(2))
def test_many_blocks_merge_in_the_order_of_the_whole_matrix_of_overlaps(seed):
    """More blocks than are looked at one by one for the largest overlap."""
    rng = np.random.default_rng(seed)
    n_points, n_blocks = 700, 1200
    starts = rng.integers(0, n_points - 12, n_blocks)
    sets = [np.sort(rng.choice(12, rng.integers(4, 9), replace=False)) + s for s in starts]
    latent = rng.normal(size=(n_points, 2))
    merged = merge_quietly(solved_from(sets, [latent[nodes] for nodes in sets]), n_points)
    inside = np.zeros((n_blocks, n_points), dtype=np.int32)
    for block, nodes in enumerate(sets):
        inside[block, nodes] = 1
    overlaps = np.triu(inside @ inside.T, 1)
    for low, high, overlap in merged.order:
        assert (low, high) == np.unravel_index(overlaps.argmax(), overlaps.shape)
        assert overlap == overlaps[low, high]
        inside[low] |= inside[high]
        inside[high] = 0
        shared = inside @ inside[low]
        shared[low] = 0
        overlaps[low, low:], overlaps[:low, low] = shared[low:], shared[:low]
        overlaps[high], overlaps[:, high] = 0, 0
    assert overlaps.max() == 0


def test_without_blocks_every_point_is_apart():
    solved = solved_from([[0]], [np.zeros((1, 2))])
    empty = solved._replace(
        blocks=Blocks(*ragged([])), coordinates=np.zeros((0, 2)), precision=np.zeros(0)
    )
    start = np.arange(6.0).reshape(3, 2)
    assert blockwise.merge_greedy(empty, 3).labels.tolist() == [0, 1, 2]
    merged = blockwise.merge(empty, 3, start=start)
    np.testing.assert_allclose(merged.coordinates, start, atol=1e-12)


def test_blocks_that_share_no_point_stay_apart_and_keep_their_shape():
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(4, 2)), rng.normal(size=(5, 2))]
    solved = solved_from([range(4), range(5, 10)], views)
    merged = blockwise.merge_greedy(solved, 10)
    assert merged.labels.tolist() == [0, 0, 0, 0, 1, 2, 2, 2, 2, 2]
    np.testing.assert_allclose(merged.coordinates[:4], views[0] - views[0].mean(axis=0))
    np.testing.assert_allclose(merged.coordinates[4], 0.0)
    start = rng.normal(size=(10, 2))
    placed = blockwise.merge(solved, 10, start=start)
    assert rigid_r2(views[1], placed.coordinates[5:]) > 1.0 - 1e-4
    # Each lies where the start has it.
    gap = placed.coordinates[5:].mean(axis=0) - placed.coordinates[:4].mean(axis=0)
    np.testing.assert_allclose(gap, start[5:].mean(axis=0) - start[:4].mean(axis=0), atol=0.05)


def test_blocks_hinged_on_few_points_are_merged_with_a_warning():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(8, 2))
    solved = solved_from([range(5), range(3, 8)], [latent[:5], latent[3:]])
    with pytest.warns(UserWarning, match="1 of 1 mergers of blocks rest on fewer than 3 shared"):
        merged = blockwise.merge_greedy(solved, 8)
    assert merged.n_weak == 1
    assert merged.order.tolist() == [[0, 1, 2]]
    np.testing.assert_allclose(np.ptp(merged.labels), 0)
    np.testing.assert_allclose(rigid_r2(latent, merged.coordinates), 1.0)
    with pytest.warns(UserWarning, match="fewer than 3 shared"):
        blockwise.merge(solved, 8)


def test_blocks_that_share_flat_points_merge_last():
    rng = np.random.default_rng(3)
    latent = rng.normal(size=(16, 2))
    latent[:5, 1] = 0.0  # on a line
    near, far = [*range(5), 5, 6, 7, 8], [*range(5), 9, 10, 11, 12]
    between = [6, 7, 8, 10, 11, 12, 13]
    sets = [sorted(near), sorted(far), between]
    views = [latent[s] @ random_orthogonal(rng, 2, k == 1) for k, s in enumerate(sets)]
    merged = merge_quietly(solved_from(sets, views), 16)
    # The line is what most points are shared on, and says nothing of the side.
    assert merged.order[:, 2].tolist() == [3, 8]
    assert rigid_r2(latent[:14], merged.coordinates[:14]) > 1 - 1e-12
    assert merged.n_weak == 0
    with pytest.warns(UserWarning, match="1 of 1 mergers .* or on points that are flat"):
        folded = blockwise.merge_greedy(solved_from(sets[:2], views[:2]), 13)
    assert folded.order.tolist() == [[0, 1, 5]]


def test_a_start_says_on_which_side_of_a_line_a_greedy_merger_puts_a_block():
    rng = np.random.default_rng(3)
    latent = rng.normal(size=(13, 2))
    latent[:5, 1] = 0.0
    sets = [[*range(5), 5, 6, 7, 8], [*range(5), 9, 10, 11, 12]]
    rough = latent + 0.05 * rng.normal(size=latent.shape)
    for reflect, noise in itertools.product((False, True), (0.0, 1e-3)):
        views = [
            latent[s] @ random_orthogonal(rng, 2, reflect and k == 1) for k, s in enumerate(sets)
        ]
        solved = solved_from(sets, [view + noise * rng.normal(size=view.shape) for view in views])
        with pytest.warns(UserWarning, match="there it is that of the start"):
            merged = blockwise.merge_greedy(solved, 13, start=rough)
        assert rigid_r2(latent, merged.coordinates) > 1 - 1e-4
        # In the frame of the start.
        np.testing.assert_allclose(merged.coordinates, rough, atol=0.25)


def test_a_start_changes_nothing_that_shared_points_fix():
    latent, sets, views = random_blocks(4, 40, 3, 30, 10, 14, 0.0)
    solved = solved_from(sets, views)
    merged = blockwise.merge_greedy(solved, 40, start=latent[::-1])
    assert rigid_r2(latent, merged.coordinates) > 1 - 1e-12
    assert merged.order.tolist() == blockwise.merge_greedy(solved, 40).order.tolist()
    with pytest.raises(ValueError, match="start must have a row for each of 40 points"):
        blockwise.merge_greedy(solved, 40, start=latent[:, :2])


def test_points_on_a_line_merge_in_the_plane_without_a_warning():
    line = (np.arange(12.0) ** 1.1)[:, None] * [1.0, 0.5]
    sets = [range(5), range(2, 8), range(4, 12)]
    merged = blockwise.merge_greedy(solved_from(sets, [line[list(s)] for s in sets]), 12)
    assert merged.n_weak == 0
    assert rigid_r2(line, merged.coordinates) > 1 - 1e-12


def test_a_start_settles_what_hinged_blocks_leave_open():
    rng = np.random.default_rng(1)
    latent = rng.normal(size=(9, 2))
    turned = latent[4:] @ random_orthogonal(rng, 2, reflect=True)
    solved = solved_from([range(5), range(4, 9)], [latent[:5], turned])
    rough = latent + 0.02 * rng.normal(size=latent.shape)
    merged = blockwise.merge(solved, 9, start=rough)
    assert merged.n_weak == 0
    assert rigid_r2(latent, merged.coordinates) > 0.995
    assert rigid_r2(latent, merge_quietly(solved, 9).coordinates) < 0.95


def test_residuals_show_where_blocks_disagree():
    latent, sets, views = random_blocks(0, 30, 2, 20, 8, 12, 0.0)
    odd = sets[3][2]
    views[3][2] += 1.0
    solved = solved_from(sets, views)
    for merged in (blockwise.merge_greedy(solved, 30), blockwise.merge(solved, 30)):
        assert merged.residuals.argmax() == odd
        assert merged.residuals[odd] > 5.0 * np.median(merged.residuals)
        assert rigid_r2(latent, merged.coordinates) > 0.99


# Global merging


def noisy_blocks(noise):
    """Blocks of the plane with noise and unequal weights, as lists and solved."""
    latent, sets, views = random_blocks(0, 25, 2, 15, 5, 9, noise)
    precision = np.random.default_rng(0).uniform(0.5, 2.0, sum(map(len, sets)))
    solved = solved_from(sets, views, precision)
    weights = np.sqrt(precision) / np.sqrt(precision).sum()
    return latent, sets, views, solved, np.split(weights, solved.blocks.indptr[1:-1])


def test_rounds_reach_the_fixed_point_of_the_naive_round():
    latent, sets, views, solved, weights = noisy_blocks(0.02)
    merged = blockwise.merge(solved, 25, start=latent, tolerance=1e-13, max_rounds=3000)
    assert merged.converged
    loss, again = naive_round(sets, views, weights, merged.coordinates)
    assert loss == pytest.approx(merged.objective)
    np.testing.assert_allclose(again, merged.coordinates, atol=1e-5)


def test_a_start_counts_by_the_square_of_the_noise():
    latent, sets, views, solved, weights = noisy_blocks(0.1)
    start = latent + 0.05 * np.random.default_rng(1).normal(size=latent.shape)
    before, (loss, alone) = np.inf, naive_round(sets, views, weights, start)
    while before - loss > 1e-15 * loss:
        before, (loss, alone) = loss, naive_round(sets, views, weights, alone)
    # Places of 25 points and motions of 15 blocks are fitted to the coordinates of all members.
    entries = sum(map(len, sets))
    noise = loss / (1.0 - (25 * 2 + 15 * 3) / (2 * entries))
    fraction = (noise / start.var(axis=0).sum() / 0.03) ** 2
    assert 0.01 < fraction < 1.0
    settings = {"tolerance": 1e-13, "max_rounds": 3000}
    merged = blockwise.merge(solved, 25, start=start, **settings)
    assert merged.start_weight == pytest.approx(fraction, rel=1e-6)
    everyone = [set(range(25))]
    loss, again = naive_round(
        [*sets, *everyone],
        [*views, start],
        [*weights, np.full(25, fraction / 25)],
        merged.coordinates,
    )
    np.testing.assert_allclose(again, merged.coordinates, atol=1e-5)
    # The objective is that of the blocks, and theirs alone.
    assert naive_round(sets, views, weights, merged.coordinates)[0] == pytest.approx(
        merged.objective
    )


def test_a_start_counts_for_nothing_where_blocks_agree_or_nothing_is_fitted_twice():
    latent, _, _, solved, _ = noisy_blocks(0.0)
    bent = latent + 0.3 * np.sin(latent[:, ::-1])
    merged = blockwise.merge(solved, 25, start=bent)
    assert merged.start_weight == 0.0
    assert rigid_r2(latent, merged.coordinates) > 1.0 - 1e-5
    lone = solved_from([set(range(25))], [latent])
    assert blockwise.merge(lone, 25, start=bent).start_weight == 0.0


def test_the_objective_never_rises():
    _, g, corr, mask = sample(1)
    solved = blockwise.solve(g, all_cliques(mask), SE, 2)
    start = geodesic_latent(corr, mask, 2)
    losses = []
    for max_rounds in (1, 2, 3, 5, 8, 13, 21, 34, 55):
        merged = blockwise.merge(solved, 60, start=start, max_rounds=max_rounds, tolerance=1e-9)
        assert merged.n_rounds <= max_rounds
        losses.append(merged.objective)
    assert (np.diff(losses) <= 1e-12).all()


@pytest.mark.parametrize("seed", range(3))
def test_global_merging_from_a_geodesic_start_beats_greedy_on_noisy_data(seed):
    latent, g, corr, mask = sample(seed, n=80, n_observed=100, floor=0.45)
    solved = blockwise.solve(g, all_cliques(mask), SE, 2)
    merged = blockwise.merge(solved, 80, start=geodesic_latent(corr, mask, 2))
    assert rigid_r2(latent, merged.coordinates) > rigid_r2(
        latent, merge_quietly(solved, 80).coordinates
    )
    assert rigid_r2(latent, merged.coordinates) > 0.95


# Exactness is seen, not assumed


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_strip_of_simplices_that_share_faces_comes_back_exactly(size):
    """Joints of M points tell of no noise, but nothing is left open and all of it agrees."""
    step = np.arange(40)
    points = np.column_stack([0.7 * step, step[:, None] % size == np.arange(1, size)])
    gaps = cdist(points, points)
    near = sp.csr_array(np.where(abs(step[:, None] - step) <= size, gaps, 0.0))
    model = IKD(size, strategy="blockwise", affinity="precomputed_distance", refine=None)
    with pytest.warns(UserWarning, match="may be mirrored and 0 may move freely"):
        model.fit(near)
    found = cdist(model.embedding_, model.embedding_)
    np.testing.assert_allclose(found, gaps, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_noisy_blocks_that_share_m_points_are_not_taken_for_exact(size, seed):
    points = np.random.default_rng(seed).normal(size=((8 - size) * 8 + size, size))
    points[:, 0] = 0.1 * np.arange(len(points))
    rng = np.random.default_rng(seed)
    sets = [list(range(i, i + 8)) for i in range(0, len(points) - 7, 8 - size)]
    noisy = [points[s] + 0.1 * rng.normal(size=(8, size)) for s in sets]
    views = [view @ random_orthogonal(rng, size) for view in noisy]
    start = points + 0.1 * rng.normal(size=points.shape)
    merged = blockwise.merge(solved_from(sets, views), len(points), start=start).coordinates
    moved = blockwise.rigid_fit(merged, points).apply(merged)
    # As in the start; taken for exact, errors add up along the chain, to 0.3 to 1.3.
    assert np.sqrt(np.square(moved - points).sum(axis=1).mean()) < 0.2


def test_points_with_fewer_distances_than_coordinates_are_not_taken_for_exact():
    """Any distances of so few edges are those of some points: there is no noise to be seen."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(5, 12))[np.arange(100) % 5] + 0.5 * rng.normal(size=(100, 12))
    X = latent @ rng.normal(size=(12, 60)) / 12**0.5 + 0.2 * rng.normal(size=(100, 60))
    model = IKD(12, strategy="blockwise", refine=None, affinity="euclidean").fit(X)
    assert model.merge_start_weight_ > 0.0
    assert affine_r2(latent, model.embedding_) > 0.72


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"start": np.zeros((5, 3))}, r"start must have a row .* got shape \(5, 3\)"),
        ({"start": np.full((5, 2), np.nan)}, "start must"),
        ({"max_rounds": 0}, "max_rounds must be an integer at least 1, got 0"),
        ({"tolerance": -1.0}, "tolerance must be positive"),
        ({"n_points": 4}, r"must lie from 0 to 3, got 0 to 4"),
    ],
)
def test_bad_parameters_are_refused(changed, message):
    solved = solved_from([range(5)], [np.random.default_rng(0).normal(size=(5, 2))])
    with pytest.raises(ValueError, match=message):
        blockwise.merge(**({"solved": solved, "n_points": 5} | changed))


def test_an_empty_block_is_refused():
    solved = solved_from([[0, 1], []], [np.zeros((2, 2)), np.zeros((0, 2))])
    with pytest.raises(ValueError, match=r"at least one point each, got 1 empty: 1;"):
        blockwise.merge_greedy(solved, 2)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_merger_in_as_many_coordinates_as_points_ends():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 40)) + 0.5 * rng.normal(size=(60, 40))
    options = {"strategy": "blockwise", "graph": 0.5, "affinity": "correlation", "refine": None}
    model = IKD(59, **options).fit(X.astype(np.float32))
    assert np.isfinite(model.embedding_).all()
