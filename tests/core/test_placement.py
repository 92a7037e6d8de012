import numpy as np
import pytest
from sklearn.decomposition import PCA
from tables import r2_of_placed, sheet

from ikd_graph import IKD, graph

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
STRATEGIES = ["eigen", "blockwise", "geodesic", "linear"]
BOTH = graph.Threshold(0.6, n_neighbors=8)


def surface(seed=0, n=240, n_columns=400):
    return sheet(seed, n, n_columns, noise=0.0, size=(3.0, 2.0))


@pytest.mark.parametrize("strategy", ["eigen", "blockwise", "geodesic"])
def test_new_rows_land_where_they_belong(strategy):
    X, latent = surface()
    train, new = np.arange(0, 200), np.arange(200, 240)
    model = IKD(2, refine=None, strategy=strategy, graph=BOTH).fit(X[train])
    found = model.transform(X[new])
    # Aligned by the training points, so that the new ones have no say in it.
    assert r2_of_placed(model.embedding_, latent[train], found, latent[new]) > 0.95


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_precomputed_block_gives_what_the_rows_give(strategy):
    X, _ = surface(n=150)
    from_rows = IKD(2, strategy=strategy, affinity="correlation", graph=BOTH, refine=None)
    from_rows.fit(X[:120])
    corr = np.corrcoef(X)
    model = IKD(2, refine=None, strategy=strategy, affinity="precomputed", graph=BOTH)
    model.fit(corr[:120, :120])
    np.testing.assert_allclose(
        model.transform(corr[120:, :120]), from_rows.transform(X[120:]), atol=1e-8
    )
    assert np.array_equal(model.transform(corr[:120, :120]), model.embedding_)


def test_a_row_far_from_all_others_is_seen_as_such():
    X, _ = surface()
    model = IKD(2, refine=None, strategy="geodesic", graph=8).fit(X[:200])
    stray = np.random.default_rng(5).normal(size=(20, X.shape[1]))
    usual = model.placement_residuals(X[200:])
    assert model.placement_residuals(stray).min() > 3.0 * np.median(usual)


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [2, 5, 10])
def test_new_images_are_classified_as_well_as_by_isomap(digits, n_components):
    from sklearn.manifold import Isomap
    from sklearn.neighbors import KNeighborsClassifier

    X, y = digits
    order = np.random.default_rng(1).permutation(len(X))
    train, new = order[:1437], order[1437:]

    def accuracy(fitted, placed):
        return KNeighborsClassifier(5).fit(fitted, y[train]).score(placed, y[new])

    model = IKD(n_components, random_state=0).fit(X[train])
    peer = Isomap(n_neighbors=7, n_components=n_components).fit(X[train])
    whole = IKD(n_components, random_state=0).fit_transform(X)
    ours = accuracy(model.embedding_, model.transform(X[new]))
    # Gray values count as counts, whose roots cost a hundredth in ten dimensions.
    rival = accuracy(peer.embedding_, peer.transform(X[new]))
    assert ours >= rival - (0.012 if n_components == 10 else 0.0)
    # In the plane the likelihood has many optima, and that of fewer rows may be another one.
    assert ours >= accuracy(whole[train], whole[new]) - (0.04 if n_components == 2 else 0.02)


def test_shared_neighbors_place_by_mutual_ones():
    rng = np.random.default_rng(0)
    centers = 3.0 * rng.normal(size=(5, 40))
    X = centers[np.arange(150) % 5] + rng.normal(size=(150, 40))
    model = IKD(3, affinity="shared_neighbors", refine="stress").fit(X[:120])
    found = model.transform(X[120:])
    for row in range(0, 30, 7):
        np.testing.assert_allclose(model.transform(X[120 + row : 121 + row])[0], found[row])
    nearest = np.linalg.norm(found[:, None] - model.embedding_, axis=2).argmin(axis=1)
    assert np.array_equal(nearest % 5, np.arange(120, 150) % 5)


@pytest.mark.parametrize("affinity", ["euclidean", "standardized_euclidean", "cosine"])
def test_a_linear_latent_is_that_of_principal_components(affinity):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(90, 3)) @ rng.normal(size=(3, 12)) + 0.3 * rng.normal(size=(90, 12))
    X, new = rows[:60] + 2.0, rows[60:] + 2.0
    model = IKD(2, strategy="linear", affinity=affinity).fit(X)
    if affinity == "standardized_euclidean":
        X, new = X / X.std(axis=0), new / X.std(axis=0)
    if affinity == "cosine":
        X, new = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (X, new))
    oracle = PCA(2, svd_solver="full").fit(X)
    found, right = model.embedding_, oracle.transform(X)
    # In units of the similarity, and of any sign.
    ratio = np.sum(found * right, axis=0) / np.sum(right**2, axis=0)
    np.testing.assert_allclose(np.abs(ratio), abs(ratio[0]), rtol=1e-9)
    np.testing.assert_allclose(found, right * ratio, atol=1e-9)
    np.testing.assert_allclose(
        model.transform(rows[60:] + 2.0), oracle.transform(new) * ratio, atol=1e-9
    )


def test_the_wrong_width_of_a_latent_is_named():
    fast = {"strategy": "geodesic", "affinity": "euclidean", "refine": None}
    model = IKD(2, graph=5, **fast).fit(np.random.default_rng(0).normal(size=(30, 9)))
    with pytest.raises(ValueError, match="Z must have the 2 columns of the embedding, got 3"):
        model.inverse_transform(np.zeros((4, 3)))


@pytest.mark.parametrize("affinity", ["correlation", "euclidean", "hellinger", "cosine"])
@pytest.mark.parametrize("n_components", [1, 2])
def test_new_rows_of_the_source_have_the_residuals_of_its_rows(affinity, n_components):
    rng = np.random.default_rng(3)
    Z = rng.uniform(-1.0, 1.0, (400, 2))
    X = 2.0 + np.sin(2.0 * Z @ rng.normal(size=(2, 40)) + rng.uniform(0.0, 6.0, 40))
    X = np.abs(X + 0.3 * rng.normal(size=X.shape))
    model = IKD(n_components, affinity=affinity, refine=None, strategy="geodesic").fit(X[:200])
    own = model.residuals_
    assert own.shape == (200,)
    limit = np.quantile(own, 0.95)
    assert np.mean(model.placement_residuals(X[200:]) > limit) < 0.12
    # Columns in another order, and rows far out.
    for other in (X[200:, rng.permutation(40)], 20.0 * X[200:] * rng.random(40)):
        assert np.mean(model.placement_residuals(other) > limit) > 0.7
    assert not model.placement_residuals(X[:200]).any()


def test_points_of_given_values_have_no_residuals_to_compare_with():
    X, _ = surface()
    assert IKD(affinity="precomputed").fit(np.corrcoef(X[:60])).residuals_.size == 0
