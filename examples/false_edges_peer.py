"""pyLDLE2 on some of the rolls of false_edges_table.py.

`python false_edges_peer.py 1000,0.3,14,600 ...` appends a line for each points,noise,k,seed to
false_edges_peer.csv. It needs pyLDLE2 and the libraries that it imports and does not ask for
(multiprocess, pandas, seaborn, umap-learn, imageio, scs, cvxpy); hyperspy, for one of its local
views only, may be missing.
"""

import contextlib
import io
import os
import sys
import types
from pathlib import Path

import numpy as np
from sklearn.datasets import make_swiss_roll

OUT = Path(__file__).with_name("false_edges_peer.csv")


def roll(n_points, noise, seed):
    """As in false_edges_table.py, which needs this package; pyLDLE2 has a home of its own."""
    X, turn = make_swiss_roll(n_points, noise=noise, random_state=seed)
    height = make_swiss_roll(n_points, noise=0.0, random_state=seed)[0][:, 1]
    along = 0.5 * (turn * np.sqrt(1.0 + turn * turn) + np.arcsinh(turn))
    return X, np.column_stack([along, height])


def imported():
    """The module of pyLDLE2 that embeds."""
    try:
        import hyperspy  # noqa: F401
    except ImportError:
        for name in ("hyperspy", "hyperspy.learn", "hyperspy.learn.rpca"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["hyperspy.learn.rpca"].rpca_godec = None
    from pyLDLE2 import buml_

    return buml_


def fitted(buml_, X, k):
    """Embedding by pyLDLE2: local views by PCA, generalised power method, no tears."""
    with contextlib.redirect_stdout(io.StringIO()):
        model = buml_.BUML(
            d=2,
            local_opts={"algo": "LPCA", "k": k},
            intermed_opts={},
            global_opts={"to_tear": False, "refine_algo_name": "gpm", "color_tear": False},
            vis_opts={},
            n_proc=1,
        )
        return np.asarray(model.fit(X=X))


def r2(points, Z):
    """Mean R² of the dimensions after the best affine map of Z, as `affine_r2` has it."""
    A = np.column_stack([Z, np.ones(len(Z))])
    left = points - A @ np.linalg.lstsq(A, points, rcond=None)[0]
    return np.mean(1.0 - (left**2).sum(axis=0) / ((points - points.mean(axis=0)) ** 2).sum(axis=0))


def cpu_seconds():
    """Processor seconds of this process and of those that it started and waited for."""
    return sum(os.times()[:4])


def main():
    """Measure the cells that are asked for."""
    if not OUT.exists():
        OUT.write_text("points,damage,k,seed,R2,seconds\n")
    peer = imported()
    fitted(peer, roll(500, 0.1, 0)[0], 10)  # what it compiles at first does not count
    for cell in sys.argv[1:]:
        n_points, noise, k, seed = cell.split(",")
        X, points = roll(int(n_points), float(noise), int(seed))
        begin = cpu_seconds()
        Z = fitted(peer, X, int(k))
        seconds = cpu_seconds() - begin
        found = r2(points, Z)
        with OUT.open("a") as file:
            file.write(f"{n_points},{noise},{k},{seed},{found:.5f},{seconds:.1f}\n")


if __name__ == "__main__":
    main()
