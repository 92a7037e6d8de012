import networkx as nx
import numpy as np
import pytest
from reference_alignment import naive_latent, ragged

from ikd_graph import blockwise, eigen, graph, kernels
from ikd_graph.cliques import Blocks

SE = kernels.SquaredExponential()


def sample_correlation(seed, n=40, n_observed=150, size=3):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, size))
    cov = SE.covariance(((latent[:, None] - latent) ** 2).sum(axis=-1) / 3.0)
    data = np.linalg.cholesky(cov + 1e-9 * np.eye(n)) @ rng.normal(size=(n, n_observed))
    return np.clip(np.corrcoef(data), -1.0, 1.0)


def cliques_above(corr, floor):
    mask = corr > floor
    np.fill_diagonal(mask, False)
    return sorted(sorted(c) for c in nx.find_cliques(nx.from_numpy_array(mask)))


def two_points(corr):
    g = graph.threshold(np.array([[1.0, corr], [corr, 1.0]]), 0.1)
    return g, Blocks(*ragged([[0, 1]]))


@pytest.mark.parametrize("reference", eigen.REFERENCES)
@pytest.mark.parametrize("kernel", [SE, kernels.Matern(nu=1.5, length_scale=2.0)])
def test_every_clique_gets_the_latent_of_the_naive_twin(reference, kernel):
    corr = sample_correlation(0)
    sets = cliques_above(corr, 0.3)
    solved = blockwise.solve(
        graph.threshold(corr, 0.3), Blocks(*ragged(sets)), kernel, 3, reference
    )
    for k, nodes in enumerate(sets):
        rows = slice(*solved.blocks.indptr[k : k + 2])
        sq_dist = kernel.sq_distance(np.clip(corr[np.ix_(nodes, nodes)], 0.0, 1.0))
        np.fill_diagonal(sq_dist, 0.0)
        latent, values = naive_latent(sq_dist, 3, reference)
        np.testing.assert_allclose(solved.coordinates[rows], latent, atol=1e-8)
        used = np.clip(np.append(values, np.zeros(3))[:3], 0.0, None)
        np.testing.assert_allclose(solved.eigenvalues[k], used, atol=1e-9)
        total = (values**2).sum()
        if total > 0:
            mass = (values[values < 0] ** 2).sum() / total
            np.testing.assert_allclose(solved.negative_mass[k], mass, atol=1e-9)


def test_the_precision_is_the_inverse_mean_variance_of_the_distances_of_a_point():
    corr = sample_correlation(1)
    kernel = kernels.RationalQuadratic(alpha=1.5)
    sets = [c for c in cliques_above(corr, 0.4) if len(c) > 2]
    solved = blockwise.solve(graph.threshold(corr, 0.4), Blocks(*ragged(sets)), kernel, 2)
    for k, nodes in enumerate(sets[:5]):
        for i, a in enumerate(nodes):
            variances = []
            for b in nodes:
                if a != b:
                    r, step = corr[a, b], 1e-6
                    # The slope of the distance in r by differences, no kernel derivative.
                    ends = np.sqrt(kernel.sq_distance(np.array([r + step, r - step])))
                    variances.append((1 - r * r) ** 2 * ((ends[0] - ends[1]) / (2 * step)) ** 2)
            expected = 1.0 / np.mean(variances)
            assert solved.precision[solved.blocks.indptr[k] + i] == pytest.approx(
                expected, rel=1e-4
            )


@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_a_clique_of_two_points_lies_on_a_line_and_the_rest_is_zero(n_components):
    solved = blockwise.solve(*two_points(np.exp(-2.0)), SE, n_components)
    np.testing.assert_allclose(abs(solved.coordinates[:, 0]), 1.0)
    assert np.ptp(solved.coordinates[:, 0]) == pytest.approx(2.0)
    assert not solved.coordinates[:, 1:].any()


def test_negative_leading_eigenvalues_become_zero():
    # One long side among short ones: no triangle of these lengths exists.
    corr = SE.covariance(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]]))
    g = graph.threshold(corr, 1e-3)
    solved = blockwise.solve(g, Blocks(*ragged([[0, 1, 2]])), SE, 3)
    assert solved.eigenvalues.min() == 0.0
    assert solved.negative_mass[0] > 0.0
    assert not solved.coordinates[:, 2].any()


def test_a_block_that_is_not_a_clique_is_refused():
    corr = SE.covariance((np.arange(4.0)[:, None] - np.arange(4.0)) ** 2)
    g = graph.threshold(corr, 0.1)
    with pytest.raises(ValueError, match=r"cliques of the graph, got 1 with 1 pairs .* blocks 1;"):
        blockwise.solve(g, Blocks(*ragged([[0, 1, 2], [0, 2, 3]])), SE, 1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"reference": "mean"}, "reference must be one of 'min_max', 'min_mean', 'center'"),
        ({"n_components": 0}, "n_components must be an integer at least 1, got 0"),
        ({"kernel": "cubic"}, "kernel must be"),
    ],
)
def test_bad_parameters_are_refused(changed, message):
    g, whole = two_points(0.5)
    with pytest.raises(ValueError, match=message):
        blockwise.solve(
            **({"graph": g, "cliques": whole, "kernel": SE, "n_components": 1} | changed)
        )
