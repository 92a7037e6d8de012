"""Which rows of a map lie wrong: planted ones, null tables, maps of real tables, seconds.

    OMP_NUM_THREADS=1 python benchmarks/battery/dubious.py planted [--tables 30]
    OMP_NUM_THREADS=1 python benchmarks/battery/dubious.py nulls [--tables 30]
    OMP_NUM_THREADS=1 python benchmarks/battery/dubious.py real [--split 0]     # umap-learn, pacmap
    OMP_NUM_THREADS=1 python benchmarks/battery/dubious.py seconds

A planted table has 150, 250 or 400 rows and 40, 90 or 200 columns of variance 1 and noise of a
standard deviation. It is a bent surface (a sheet with waves and a roll in turn) or a sample of the
model, a Gaussian process over normal points in the plane; on its true map a tenth of the rows
change places. Far are those that moved by more than a standard deviation of the map. Tables with
even seeds are those that `ikd_graph.dubious` was developed on.

The rivals are written from their papers. scDEED (Xia, Lee and Li 2024): the correlation of a row's
distances on the map to the nearer half of the rows there with those to the nearer half in the data,
both in order, in ten principal components; dubious below the 5 % quantile of a table whose columns
are permuted, on the same map. Trustworthiness (Venna and Kaski 2001): by how many ranks the ten
neighbors of a row on the map are farther than the tenth in the data.

Null tables have their true map unless they say so. Real tables: maps of two thirds of the columns;
the excess of a row is what its ten neighbors on the map leave of the last third, beyond what the
ten nearest by five principal components of the two thirds do.
"""

import time
import warnings

import numpy as np
from measures import head, options, row
from real_tables import Absent, _given
from scipy.signal import lfilter
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

import ikd_graph

HALVES = {"even": 0, "odd": 1}


def bent_surface(rng, n, width):
    """Positions on a sheet with waves or on a roll, and columns without noise."""
    if rng.random() < 0.5:
        Z = rng.uniform(-1.0, 1.0, (n, 2))
        x, y = Z.T
        shape = np.column_stack([x, y, np.sin(2.5 * x), 0.8 * np.cos(2.5 * y), x * y])
    else:
        turn, y = 1.5 * np.pi * (1.0 + 2.0 * rng.random(n)), rng.uniform(0.0, 21.0, n)
        shape = np.column_stack([turn * np.cos(turn), y, turn * np.sin(turn)])
        Z = np.column_stack([turn**2 / 2.0, y])
    X = shape @ rng.normal(size=(shape.shape[1], width))
    return Z, X / X.std(axis=0)


def model(rng, n, width):
    """Normal points in the plane, and samples of a Gaussian process over them."""
    Z = rng.normal(size=(n, 2))
    covariance = np.exp(-0.5 * cdist(Z, Z, "sqeuclidean")) + 1e-8 * np.eye(n)
    return Z, np.linalg.cholesky(covariance) @ rng.normal(size=(n, width))


TABLES = {"bent surface": bent_surface, "model": model}


def misplaced(rng, Z):
    """Map with a tenth of the rows at places of others, which these are, and which moved far."""
    rows, wrong = rng.choice(len(Z), len(Z) // 10, replace=False), Z.copy()
    wrong[rows] = Z[np.roll(rows, 1)]
    moved = np.linalg.norm((wrong - Z) / Z.std(axis=0), axis=1)
    return wrong, moved > 0.0, moved > 1.0


def scdeed(Z, X, rng):
    """Reliability of every row, and the quantile of a permuted table below which it is dubious."""
    half, on_map = len(Z) // 2, cdist(Z, Z)
    first = np.sort(on_map, axis=1)[:, 1 : half + 1]

    def reliability(table):
        points = PCA(min(10, table.shape[1])).fit_transform(table)
        order = np.argsort(cdist(points, points), axis=1)[:, 1 : half + 1]
        second = np.take_along_axis(on_map, order, axis=1)
        return np.array([np.corrcoef(*pair)[0, 1] for pair in zip(first, second, strict=True)])

    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return reliability(X), np.quantile(reliability(rng.permuted(X, axis=0)), 0.05)


def untrustworthiness(Z, X, k=10):
    """Ranks beyond k in the data of the k neighbors of every row on the map."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ranks = np.argsort(np.argsort(cdist(X, X), axis=1), axis=1)
    near = NearestNeighbors(n_neighbors=k).fit(Z).kneighbors(return_distance=False)
    return np.maximum(np.take_along_axis(ranks, near, axis=1) - k, 0).sum(axis=1)


def planted_table(kind, sd, seed):
    """False discoveries, power and areas of a table with misplaced rows; flags on the true map."""
    rng = np.random.default_rng([91, seed])
    n, width = int(rng.choice([150, 250, 400])), int(rng.choice([40, 90, 200]))
    Z, X = TABLES[kind](rng, n, width)
    X = X + sd * rng.normal(size=X.shape)
    map_of, wrong, far = misplaced(rng, Z)
    dubious, (reliability, _) = ikd_graph.dubious(map_of, X), scdeed(map_of, X, rng)
    true, level = scdeed(Z, X, rng)
    return (
        dubious.mask[~wrong].sum() / max(dubious.n_dubious, 1),
        dubious.mask[far].mean(),
        roc_auc_score(wrong, -dubious.p_values),
        roc_auc_score(wrong, -reliability),
        roc_auc_score(wrong, untrustworthiness(map_of, X)),
        ikd_graph.dubious(Z, X).mask.mean(),
        np.mean(true < level),
    )


def planted(n_tables):
    """Print what is found of misplaced rows."""
    what = ("seeds", "false discoveries", "power", "area: dubious", "scDEED", "trustworthiness")
    print(head("table", "sd", *what, "true map: flagged", "by scDEED"))
    for kind in TABLES:
        for sd in (0.5, 1.0, 2.0):
            for half, first in HALVES.items():
                seeds = range(first, 2 * n_tables, 2)
                lines = np.array([planted_table(kind, sd, seed) for seed in seeds])
                means, errors = lines.mean(axis=0), lines.std(axis=0) / np.sqrt(n_tables)
                cells = [f"{m:.3f} ± {e:.3f}" for m, e in zip(means[:5], errors[:5], strict=True)]
                print(row(kind, sd, half, *cells, *(f"{m:.2%}" for m in means[5:])), flush=True)


def along(rng, shape, past, axis):
    """Autoregressive noise of variance 1 along an axis."""
    longer = (shape[0] + 200 * (axis == 0), shape[1] + 200 * (axis == 1))
    noise = lfilter([1.0], [1.0, -past], rng.normal(size=longer), axis=axis)
    return np.sqrt(1.0 - past**2) * noise[-shape[0] :, -shape[1] :]


def factor(rng, n, width, loadings, heavy=False):
    """A factor that the map does not have, and white noise."""
    scores = rng.standard_t(3, size=n) if heavy else rng.normal(size=n)
    return np.outer(scores, loadings) + rng.choice([0.3, 1.0]) * rng.normal(size=(n, width))


def drawn(rng, values):
    """Values of rows that are drawn again."""
    return values[rng.integers(0, len(values) // 2, len(values))]


NOISE = {
    "no noise": lambda rng, n, width: np.zeros((n, width)),
    "white, sd .1": lambda rng, n, width: 0.1 * rng.normal(size=(n, width)),
    "0.5 along columns": lambda rng, n, width: along(rng, (n, width), 0.5, 1),
    "0.9 along columns": lambda rng, n, width: along(rng, (n, width), 0.9, 1),
    "0.9 along rows": lambda rng, n, width: along(rng, (n, width), 0.9, 0),
    "a factor": lambda rng, n, width: factor(rng, n, width, rng.normal(size=width)),
    "a factor of one sign": lambda rng, n, width: factor(
        rng, n, width, rng.uniform(0.5, 1.5, width)
    ),
    "a factor, Student's t, 3": lambda rng, n, width: factor(
        rng, n, width, rng.normal(size=width), heavy=True
    ),
    "Student's t, 2": lambda rng, n, width: 0.5 * rng.standard_t(2, size=(n, width)),
    "scales of rows": lambda rng, n, width: (
        np.exp(0.7 * rng.normal(size=(n, 1))) * rng.normal(size=(n, width))
    ),
    "levels of rows": lambda rng, n, width: (
        rng.normal(size=(n, width)) + 2.0 * rng.normal(size=(n, 1))
    ),
    "rare values": lambda rng, n, width: 20.0 * (rng.random((n, width)) < 0.005),
}


def clusters(rng, n, width):
    """Five clusters of any place, one of five rows, whose rows are exchangeable."""
    kinds = np.minimum(rng.integers(0, 4, n), 3)
    kinds[:5] = 4
    places = 9.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 2]])
    X = rng.normal(size=(5, width))[kinds] + 1.5 * rng.normal(size=(n, width))
    return places[kinds] + rng.normal(size=(n, 2)), X


def pca_map(X):
    """Two principal components of a table, and the table."""
    return PCA(2).fit_transform(X), X


def copies(rng, n, width):
    """Rows that stand in the table several times, at one place."""
    Z, X = bent_surface(rng, n, width)
    rows = rng.integers(0, n // 2, n)
    return Z[rows], (X + 0.5 * rng.normal(size=X.shape))[rows]


def binary(rng, n, width):
    """Columns of zeros and ones."""
    Z, X = bent_surface(rng, n, width)
    return Z, (X + rng.normal(size=X.shape) > 0.5) * 1.0


WHOLE = {
    "clusters": clusters,
    "copies of rows": copies,
    "zeros and ones": binary,
    "white, on its components": lambda rng, n, width: pca_map(rng.normal(size=(n, width))),
    "walks along rows, on their components": lambda rng, n, width: pca_map(
        rng.normal(size=(n, width)).cumsum(axis=0)
    ),
    "walks along columns, on their components": lambda rng, n, width: pca_map(
        rng.normal(size=(n, width)).cumsum(axis=1)
    ),
    "surface, sd .5, on its components": lambda rng, n, width: pca_map(
        bent_surface(rng, n, width)[1] + 0.5 * rng.normal(size=(n, width))
    ),
    "20 x 8, sd .5": lambda rng, n, width: noisy(rng, 20, 8),
}


def noisy(rng, n, width):
    """A bent surface with white noise of half its standard deviation."""
    Z, X = bent_surface(rng, n, width)
    return Z, X + 0.5 * rng.normal(size=X.shape)


def null_table(kind, seed):
    """Fraction of the rows that are flagged, and whether the map as a whole is."""
    rng = np.random.default_rng([92, seed])
    n, width = int(rng.choice([100, 250, 400])), int(rng.choice([30, 90, 200]))
    if kind in WHOLE:
        Z, X = WHOLE[kind](rng, n, width)
    else:
        Z, X = list(TABLES.values())[seed // 2 % 2](rng, n, width)
        X = X + NOISE[kind](rng, n, width)
    dubious = ikd_graph.dubious(Z, X)
    return dubious.mask.mean(), dubious.is_contradicted


def nulls(n_tables):
    """Print what is flagged where nothing is misplaced."""
    print(head("noise or table", *(f"flagged, {half} seeds" for half in HALVES), "map as a whole"))
    for kind in [*NOISE, *WHOLE]:
        found = np.array([null_table(kind, seed) for seed in range(2 * n_tables)])
        cells = [f"{found[first::2, 0].mean():.2%}" for first in HALVES.values()]
        print(row(kind, *cells, f"{found[:, 1].mean():.0%}"), flush=True)


def real_table(name):
    """Columns of a real table that vary."""
    if name == "digits":
        X = load_digits().data
    elif name == "tumours":
        X = load_breast_cancer().data
    elif name == "clothes":
        X = _given("fashion_mnist")["X_test"][:2000].astype(float)
    else:
        file, shape, step = {
            "turntable": ("coil20_128", (128, 128), 4),
            "faces": ("extyaleb_192x168", (192, 168), 8),
        }[name]
        images = _given(file)["X"]
        high, wide = (size // step for size in shape)
        X = images.reshape(-1, high, step, wide, step).mean(axis=(2, 4)).reshape(len(images), -1)
    return X[:, X.std(axis=0) > 0.0]


def methods():
    """Methods that make maps, by name."""
    import pacmap
    import umap
    from sklearn.manifold import TSNE

    return {
        "UMAP": lambda X: umap.UMAP(random_state=0).fit_transform(X),
        "t-SNE": lambda X: TSNE(random_state=0).fit_transform(X),
        "PaCMAP": lambda X: pacmap.PaCMAP(random_state=0).fit_transform(X),
    }


def nearest(points):
    """Ten nearest other points of every point."""
    return NearestNeighbors(n_neighbors=10).fit(points).kneighbors(return_distance=False)


def real(split):
    """Print what held-out columns say of flagged rows."""
    what = ("flagged", "held-out excess of flagged rows", "of others", "flagged with excess > 0")
    print(head("table", "rows x columns", "map", *what))
    for name in ("digits", "tumours", "clothes", "turntable", "faces"):
        try:
            X = real_table(name)
        except Absent:
            continue
        order = np.random.default_rng(split).permutation(X.shape[1])
        held, seen = np.sort(order[: order.size // 3]), np.sort(order[order.size // 3 :])
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        others = scaled[:, held]
        left = others - others[nearest(PCA(5).fit_transform(scaled[:, seen]))].mean(axis=1)
        for method, make in methods().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                Z = np.asarray(make(X[:, seen].copy()), dtype=np.float64)
            by_map = others - others[nearest(Z)].mean(axis=1)
            excess = (by_map**2 - left**2).mean(axis=1)
            mask = ikd_graph.dubious(Z, X[:, seen]).mask
            told = [excess[mask].mean(), excess[~mask].mean(), (excess[mask] > 0.0).mean()]
            told = told if mask.any() else ["", excess.mean(), ""]
            size = " x ".join(map(str, X.shape))
            print(row(name, size, method, mask.sum(), *map(_float, told)), flush=True)


def _float(value):
    """A number for a cell, or nothing."""
    return value if value == "" else float(value)


def seconds():
    """Print seconds of a second call, for a map with misplaced rows."""
    print(head("rows x columns", "seconds", "p value of the table"))
    for n, width in ((1000, 200), (10_000, 50), (100_000, 50)):
        rng = np.random.default_rng(0)
        Z, X = noisy(rng, n, width)
        Z = misplaced(rng, Z)[0]
        ikd_graph.dubious(Z[:1000], X[:1000])
        start = time.perf_counter()
        dubious = ikd_graph.dubious(Z, X)
        middle = time.perf_counter()
        _ = dubious.chance
        end = time.perf_counter()
        print(row(f"{n} x {width}", f"{middle - start:.2f}", f"{end - middle:.2f}"), flush=True)


def main():
    """Print one of the tables of dubious.md."""
    parser = options(__doc__)
    parser.add_argument("what", choices=["planted", "nulls", "real", "seconds"])
    parser.add_argument("--tables", type=int, default=30, help="of each kind, and each half")
    parser.add_argument(
        "--split", type=int, default=0, help="seed of the columns that are held out"
    )
    given = parser.parse_args()
    if given.what == "planted":
        planted(given.tables)
    elif given.what == "nulls":
        nulls(given.tables)
    elif given.what == "real":
        real(given.split)
    else:
        seconds()


if __name__ == "__main__":
    main()
