"""Measure the processor seconds of the default on samples of the model and on digits.

    PYTHONPATH=TREE OMP_NUM_THREADS=1 python benchmarks/battery/speed.py [--repeats 3]

`IKD(3)` on samples of the model (the paper's medium latent, squared exponential of length-scale
0.5, N = 200, sd 0.5, T = 100, 200, 400) and `IKD(2)` on 500, 1000 and 1797 handwritten digits; one
thread, compiled beforehand on small tables of both kinds, the least of some repeats. Prints JSON:
seconds, and the affine R2 of the samples. Seconds of two trees are compared in one run, in turn.
"""

import argparse
import json

import numpy as np
from measures import affine_r2, fitted, medium_latent, one_thread, process_columns
from sklearn.datasets import load_digits

import ikd_graph


def sample(T):
    """Latent and table of a sample of the model."""
    latent, rng = medium_latent(T), np.random.default_rng(T)
    return latent, process_columns(rng, latent, 200, "squared_exponential", 0.5, 0.5)


def least(X, M, repeats):
    """Last model and the least processor seconds."""
    fits = [fitted(X, M) for _ in range(repeats)]
    return fits[-1][0], round(min(seconds for _, seconds in fits), 3)


def main():
    """Print the seconds of every table as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    one_thread()
    digits = load_digits().data
    fitted(sample(60)[1], 3)
    fitted(digits[:300], 2)
    seconds, r2 = {}, {}
    for T in (100, 200, 400):
        latent, X = sample(T)
        model, seconds[f"model_{T}"] = least(X, 3, repeats)
        r2[f"model_{T}"] = round(affine_r2(latent, model.embedding_), 4)
    for n in (500, 1000, 1797):
        _, seconds[f"digits_{n}"] = least(digits[:n], 2, repeats)
    print(json.dumps({"tree": ikd_graph.__path__[0], "seconds": seconds, "affine_r2": r2}))


if __name__ == "__main__":
    main()
