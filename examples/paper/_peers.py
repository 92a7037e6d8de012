"""Peers of the paper's experiments that need GPy or torch; importing this adds them to ``PEERS``."""

import itertools

import numpy as np

from ikd_graph import kernels
from ikd_graph.study.baselines import PEERS, Peer

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


def vae(X, n_components, seed):
    """Variational autoencoder of two hidden layers each way, 200 passes of Adam."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    spread = X.std(axis=0)
    data = torch.tensor((X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)).float()
    n_features = data.shape[1]

    def layers(*sizes):
        parts: list[Any] = []
        for before, after in itertools.pairwise(sizes):
            parts += [nn.Linear(before, after), nn.ReLU()]
        return nn.Sequential(*parts[:-1])

    encoder = layers(n_features, 128, 64, 2 * n_components)
    decoder = layers(n_components, 64, 128, n_features)
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
    for _ in range(200):
        for rows in torch.randperm(data.shape[0]).split(128):
            mean, log_var = encoder(data[rows]).chunk(2, dim=1)
            code = mean + torch.randn_like(mean) * torch.exp(0.5 * log_var)
            misfit = 0.5 * ((decoder(code) - data[rows]) ** 2).sum(dim=1)
            divergence = 0.5 * (mean**2 + log_var.exp() - 1.0 - log_var).sum(dim=1)
            optimiser.zero_grad()
            (misfit + divergence).mean().backward()
            optimiser.step()
    with torch.no_grad():
        return encoder(data)[:, :n_components].numpy()


PEERS["gplvm"] = Peer(
    "GPLVM", "optimisation", "GPy", "GPy",
    "squared exponential, started from PCA; 40 inducing points beyond 500", gplvm,
    ("start", "kernel"),
)  # fmt: skip
PEERS["vae"] = Peer("VAE", "optimisation", "torch", "torch", "128-64 hidden, 200 passes", vae)
