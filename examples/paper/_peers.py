"""Peers that only the paper's experiments need; importing this adds them to ``PEERS``."""

import inspect
import itertools

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform

from ikd_graph import kernels
from ikd_graph.jobs.baselines import PEERS, Peer

_GPLVM_STEPS = 100_000
_GPLVM_POINTS, _GPLVM_INDUCING = 500, 40


def gplvm(
    X,
    n_components,
    seed,
    start=None,
    kernel=None,
):
    """Gaussian-process latent variable model of GPy."""
    import GPy

    np.random.seed(seed)  # noqa: NPY002 (the library draws from the global generator)
    covariance = gpy_kernel(GPy.kern, kernel, n_components)
    begin = None if start is None else np.array(start, dtype=np.float64)
    if len(X) > _GPLVM_POINTS:
        # A step costs the cube of the points; users of many take its sparse form.
        model = GPy.models.SparseGPLVM(
            X, n_components, X=begin, kernel=covariance, num_inducing=_GPLVM_INDUCING
        )
        model.optimize(messages=False)
    else:
        model = GPy.models.GPLVM(X, n_components, X=begin, kernel=covariance)
        # Its own limit of 1000 steps ends most fits without noise far from their optimum.
        model.optimize(messages=False, max_iters=_GPLVM_STEPS)
    return np.asarray(model.X)


def gpy_kernel(library, kernel, n_components):
    """GPy's twin of one of our kernels."""
    ours = kernels.get("squared_exponential" if kernel is None else kernel)
    options = {"lengthscale": ours.length_scale}
    name = None
    if isinstance(ours, kernels.SquaredExponential):
        name = "RBF"
    elif isinstance(ours, kernels.RationalQuadratic):
        # Theirs is (1 + r² / 2)^(-power): without the alpha below the square.
        stretched = ours.length_scale * float(np.sqrt(ours.alpha))
        name, options = "RatQuad", {"lengthscale": stretched, "power": ours.alpha}
    elif isinstance(ours, kernels.GammaExponential) and ours.gamma == 1.0:
        name = "OU"
    elif isinstance(ours, kernels.Matern):
        name = {0.5: "OU", 1.5: "Matern32", 2.5: "Matern52"}.get(ours.nu)
    if name is not None:
        return getattr(library, name)(n_components, **options)
    raise ValueError(f"kernel must be one that GPy has, got {ours}; use gamma = 1 or nu = 1.5")


def vae(X, n_components, seed, start=None):
    """Variational autoencoder of two hidden layers each way, 200 passes of Adam."""
    return vae_with_bound(X, n_components, seed, start)[0]


def vae_with_bound(X, n_components, seed, start=None):
    """Coordinates of a variational autoencoder, and the bound of its likelihood (ELBO) for a row.

    With a start, the first 50 of its 200 passes bring the encoder to these coordinates and the
    decoder from them to the rows.
    """
    import torch
    from torch import nn

    torch.manual_seed(seed)
    spread = X.std(axis=0)
    data = torch.tensor((X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)).float()
    n_features = data.shape[1]

    def layers(*sizes):
        parts: list = []
        for before, after in itertools.pairwise(sizes):
            parts += [nn.Linear(before, after), nn.ReLU()]
        return nn.Sequential(*parts[:-1])

    encoder = layers(n_features, 128, 64, 2 * n_components)
    decoder = layers(n_components, 64, 128, n_features)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)

    def loss(rows, target):
        mean, log_var = encoder(data[rows]).chunk(2, dim=1)
        if target is not None:
            there = ((mean - target[rows]) ** 2).sum(dim=1) + ((log_var + 4.0) ** 2).sum(dim=1)
            return (there + ((decoder(target[rows]) - data[rows]) ** 2).sum(dim=1)).mean()
        code = mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)
        misfit = 0.5 * ((decoder(code) - data[rows]) ** 2).sum(dim=1)
        divergence = 0.5 * (mean**2 + log_var.exp() - 1.0 - log_var).sum(dim=1)
        return (misfit + divergence).mean()

    target = None
    if start is not None:
        # The prior has mean 0 and variance 1.
        target = torch.tensor((start - start.mean(axis=0)) / start.std()).float()
    for number in range(200):
        for rows in torch.randperm(data.shape[0]).split(128):
            optimizer.zero_grad()
            loss(rows, target if number < 50 else None).backward()
            optimizer.step()
    with torch.no_grad():
        every = torch.arange(len(data))
        bound = -float(np.mean([loss(every, None).item() for _ in range(20)]))
        return encoder(data)[:, :n_components].numpy(), bound - 0.5 * n_features * np.log(2 * np.pi)


def diffusion_map(X, n_components=2, *, time_steps=1, epsilon=None):
    r"""Diffusion map (Coifman & Lafon 2005): W = exp(-\|x - x'\|² / ε), a random walk on it.

    Parameters
    ----------
    X : (n, n_features) float64
        Points in rows.
    n_components : int
        Number of coordinates.
    time_steps : int
        Steps t of the walk: coordinate i is λ_i^t ψ_i, with ψ the right eigenvectors.
    epsilon : float or None
        ε; None is a quarter of the median squared distance to the tenth nearest point, so that
        the walk stays among neighbors (it leaks between the layers of a Swiss roll above that).

    Returns
    -------
    (n, n_components) float64
        The map, without the constant first coordinate.
    """
    sq_dist = squareform(pdist(np.asarray(X, dtype=np.float64), "sqeuclidean"))
    if epsilon is None:
        near = min(10, sq_dist.shape[0] - 1)
        epsilon = 0.25 * float(np.median(np.partition(sq_dist, near, axis=1)[:, near]))
    if not epsilon > 0.0:
        raise ValueError(f"epsilon must be positive, got {epsilon}; too many points are copies")
    weights = np.exp(-sq_dist / epsilon)
    root = np.sqrt(weights.sum(axis=1))
    size = root.size
    values, vectors = eigh(
        weights / np.outer(root, root), subset_by_index=[size - 1 - n_components, size - 1]
    )
    # The symmetric matrix has the walk's eigenvalues; its vectors differ by the root of degrees.
    steps = vectors[:, ::-1] / root[:, None] * root.mean()
    return steps[:, 1:] * values[::-1][1:] ** time_steps


def metric_mds(X, n_components, seed):
    """Metric scaling by stress."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import MDS

    # Newer releases want the start named twice, and say so.
    named = {"init": "classical_mds"} if "init" in inspect.signature(MDS).parameters else {}
    model = MDS(n_components, n_init=1, random_state=seed, **named)
    return model.fit_transform(X, init=PCA(n_components, random_state=seed).fit_transform(X))


def tsne(X, n_components, seed, start=None):
    """t-SNE of scikit-learn, from PCA or a start of one's own."""
    if start is None:
        return _tsne(X, n_components, seed)
    from sklearn.manifold import TSNE

    # The library's own advice: a small start, so that the first steps can still reorder it.
    begin = np.asarray(start, dtype=np.float32)
    begin = begin / begin[:, 0].std() * 1e-4
    perplexity = min(30.0, (len(X) - 1) / 3.0)
    model = TSNE(n_components, perplexity=perplexity, init=begin, random_state=seed)
    return model.fit_transform(X)


def umap(X, n_components, seed, start=None, **options):
    """UMAP, from its spectral start or one of one's own."""
    import umap

    init = "spectral"
    if start is not None:
        begin = np.asarray(start, dtype=np.float32)
        init = 10.0 * begin / np.abs(begin).max()
    options |= {"n_components": n_components, "init": init, "random_state": seed, "n_jobs": 1}
    model = umap.UMAP(**options)
    return model.fit_transform(X)


def opentsne(X, n_components, seed, **options):
    """t-SNE of openTSNE, in the plane."""
    import openTSNE

    perplexity = min(30.0, (len(X) - 1) / 3.0)
    options |= {"perplexity": perplexity, "random_state": seed, "n_jobs": 1}
    model = openTSNE.TSNE(n_components, **options)
    return model.fit(X)


def kernel_pca(kernel):
    """Kernel PCA with a kernel of scikit-learn."""

    def run(X, n_components, seed):
        from sklearn.decomposition import KernelPCA

        return KernelPCA(n_components, kernel=kernel, random_state=seed).fit_transform(X)

    return run


KERNEL_PCA = ("poly", "rbf", "sigmoid", "cosine")
"""Kernels of kernel PCA, all of which the paper tries."""

_tsne = PEERS["tsne"].run
PEERS["tsne"] = PEERS["tsne"]._replace(run=tsne)
PEERS["umap"] = PEERS["umap"]._replace(run=umap)
for _kernel in KERNEL_PCA:
    PEERS[f"kernel_pca_{_kernel}"] = Peer(
        f"kernel PCA ({_kernel})", "", "sklearn", kernel_pca(_kernel)
    )
PEERS["opentsne"] = Peer("openTSNE", "openTSNE", "openTSNE", opentsne)
PEERS["gplvm"] = Peer("GPLVM", "GPy", "GPy", gplvm)
PEERS["vae"] = Peer("VAE", "torch", "torch", vae)
PEERS["metric_mds"] = Peer("metric MDS", "", "sklearn", metric_mds)
PEERS["diffusion_maps"] = Peer(
    "diffusion maps", "", "scipy", lambda X, n_components, seed: diffusion_map(X, n_components)
)
