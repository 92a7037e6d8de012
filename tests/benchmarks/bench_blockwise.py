"""Blockwise on the GP mapping (Li & Wu 2024, Eq. 12), against networkx cliques merged in numpy."""

import resource
import warnings

import networkx as nx
import numpy as np
import pytest
from reference_alignment import naive_blockwise

from ikd_graph import IKD, alignment, blocks, cliques, covariance, graph, kernels, solve
from ikd_graph._stages import Stages
from ikd_graph._threads import limit_threads
from ikd_graph.study.metrics import affine_r2

KERNEL = kernels.SquaredExponential(length_scale=3.0)
FLOOR = 0.5  # 5 / sqrt(N) at N = 100


def gp_mapping(n_points, n_observed, seed, n_components=3, noise=0.05):
    """Latent of Eq. 12 and its noisy GP mapping, drawn by random Fourier features."""
    rng = np.random.default_rng(seed)
    step = np.exp(-0.2)
    latent = np.sqrt(6.0) * rng.normal(size=(n_points, n_components))
    for t in range(1, n_points):
        latent[t] = step * latent[t - 1] + np.sqrt(1.0 - step**2) * latent[t]
    waves = rng.normal(size=(n_components, 4000)) / KERNEL.length_scale
    phase = rng.uniform(0.0, 2.0 * np.pi, 4000)
    amplitudes = np.sqrt(2.0 / 4000) * rng.normal(size=(4000, n_observed))
    # In parts: all features at once would be the peak of memory that is to be measured.
    parts = np.array_split(latent, max(n_points // 500, 1))
    data = np.concatenate([np.cos(part @ waves + phase) @ amplitudes for part in parts])
    return latent, data + noise * rng.normal(size=data.shape)


def blockwise(g, n_components=3):
    """Cover, cliques solved, geodesic start, global merger."""
    plan = solve.Plan("blockwise", KERNEL, n_components)
    return solve.solve_blockwise(g, plan, Stages()).embedding.coordinates


def compiled_greedy(g, n_components=3):
    """The same cover merged pair by pair, as in the paper."""
    solved = blocks.solve(g, cliques.cover(g, n_components + 2), KERNEL, n_components)
    return alignment.merge_greedy(solved, g.n_nodes).coordinates


def first_draft(corr, n_components=3):
    """A clique of networkx around every point, then numpy, block after block.

    As many cliques as points is what the paper allows. (Its early stop by enumeration visits half
    a million of them here before each point has been met; that many cannot be merged like this.)
    """
    mask = corr > FLOOR
    np.fill_diagonal(mask, False)
    whole = nx.from_numpy_array(mask)
    found = {
        tuple(sorted(next(nx.find_cliques(whole, nodes=[point])))) for point in range(len(corr))
    }
    sets = [list(nodes) for nodes in sorted(found)]
    return naive_blockwise(corr, sets, KERNEL.sq_distance, n_components)


@pytest.fixture(scope="module")
def thousand():
    latent, data = gp_mapping(1000, 100, 0)
    return latent, covariance.correlation(data)


def ours(solve):
    """One of our ways from the correlation on, with two threads."""

    def run(corr):
        with limit_threads(2):
            return solve(graph.threshold(corr, FLOOR))

    return run


WAYS = {"global": ours(blockwise), "greedy": ours(compiled_greedy), "first draft": first_draft}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.benchmark(group="blockwise on 1000 points of the GP mapping")
def bench_blockwise(benchmark, thousand, way):
    latent, corr = thousand
    rounds = 1 if way == "first draft" else 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = benchmark.pedantic(WAYS[way], (corr,), rounds=rounds, warmup_rounds=int(rounds > 1))
    benchmark.extra_info["R2"] = affine_r2(latent, found)


@pytest.mark.parametrize("n_points", [1000, 2000, 5000, 10_000])
@pytest.mark.benchmark(group="blockwise by size, neighbour graph")
def bench_size(benchmark, n_points):
    latent, data = gp_mapping(n_points, 100, 0)
    rows = covariance.unit_rows(data, "correlation")

    def run():
        with limit_threads(2):
            return blockwise(graph.neighbors(rows @ rows.T, 30))

    found = benchmark.pedantic(run, rounds=2, warmup_rounds=1)
    benchmark.extra_info["R2"] = affine_r2(latent, found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    benchmark.extra_info["peak MB of the process so far"] = peak


@pytest.mark.parametrize("strategy", ["geodesic", "blockwise"])
@pytest.mark.benchmark(group="100 000 points, 30 neighbours of each")
def bench_many(benchmark, strategy):
    """Blockwise beside the landmarks of the geodesic strategy, fits as a user calls them."""
    latent, data = gp_mapping(100_000, 100, 0)
    model = IKD(3, strategy=strategy, affinity="correlation", n_neighbors=30, refine=None, n_jobs=2)
    model.fit(data[:12_000])
    benchmark.pedantic(model.fit, (data,), rounds=1)
    benchmark.extra_info["R2"] = affine_r2(latent, model.embedding_)
