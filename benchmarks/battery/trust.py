"""What each number of `IKD.trust_` is worth: beside the R² with the truth, and on nothing.

    OMP_NUM_THREADS=1 python benchmarks/battery/trust.py [--seed 3] [--tables 120] [--nulls 2000] \
        [--out FILE]

A table has 60 to 300 rows over a shape of `calibration.py` and 30 to 1000 columns. In turn they are
samples of the model, or sines along random directions, columns of unlike scale with a noise of 0.1
to 2 of the signal's standard deviation. `IKD` is fitted by default in as many coordinates as the
truth has. Lines that FILE has already are not computed again. The R² is that of `affine_r2`. Null
tables are those of `is_it_real.py`.
"""

import itertools
import warnings

import numpy as np
from calibration import SHAPES, draw, shape_points
from is_it_real import null_p_values
from measures import head, options, resumed, row
from scipy.stats import spearmanr

from ikd_graph import IKD
from ikd_graph.metrics import affine_r2

R2 = ("tables", "R² with the truth: median", "a quarter is below", "least")
SHAPES = [*SHAPES["develop"], *SHAPES["confirm"]]


def sines(seed, index):
    """Latent and rows of a table whose columns are sines along random directions."""
    rng = np.random.default_rng([78, seed, index])
    n, width = int(rng.choice([60, 100, 150, 200, 300])), int(rng.choice([30, 50, 100, 200, 1000]))
    latent = shape_points(SHAPES[index % len(SHAPES)], n, rng)[rng.permutation(n)]
    phase = rng.uniform(0.0, 2.0 * np.pi, width)
    rows = np.sin(latent @ rng.normal(0.0, 1.5, (latent.shape[1], width)) + phase)
    noise = float(rng.choice([0.1, 0.3, 0.6, 1.0, 2.0])) * np.sqrt(0.5)
    return latent, np.exp(0.5 * rng.normal(size=width)) * (
        rows + noise * rng.normal(size=rows.shape)
    )


def measure(seed, index):
    """A line for a table: what `trust_` says, and the R² with the truth."""
    if index % 2:
        latent, rows = sines(seed, index)
    else:
        facts, latent, rows = draw(seed, index, SHAPES)
        latent, rows = latent[: facts["T"]], rows[: facts["T"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = IKD(latent.shape[1]).fit(rows)
        trust = model.trust_
    return {
        "table": ("model", "sines")[index % 2],
        "r2": affine_r2(latent, model.embedding_),
        "p_value": trust.chance.p_value,
        "agreement": trust.agreement,
        "reliability": trust.reliability,
        "verdict": trust.verdict.split(":")[0],
    }


def show(name, r2):
    """Print the R² of the tables of a bin, if there are any."""
    if len(r2):
        print(row(name, len(r2), *(f"{np.quantile(r2, q):.2f}" for q in (0.5, 0.25, 0.0))))


def bins(lines, name, edges):
    """Print the R² of tables whose number is in each bin."""
    print(f"\n{head(name, *R2)}")
    values, r2 = (np.array([line[key] for line in lines]) for key in (name, "r2"))
    for low, high in itertools.pairwise(edges):
        show(f"{max(low, 0.0):.2g} to {high:.2g}", r2[(values > low) & (values <= high)])
    known = np.isfinite(values)
    show("not known", r2[~known])
    print(f"\nSpearman {spearmanr(values[known], r2[known])[0]:.2f} of {known.sum()} tables")


def main():
    """Print the tables of trust.md, one of which docs/trust.md shows."""
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--tables", type=int, default=120)
    parser.add_argument("--nulls", type=int, default=2000)
    parser.add_argument("--out", default="trust.jsonl", metavar="FILE")
    given = parser.parse_args()
    lines = resumed(given.out, given.tables, lambda index: measure(given.seed, index))
    bins(lines, "agreement", [-0.1, 0.2, 0.4, 0.6, 0.8, 1.0])
    bins(lines, "reliability", [-0.1, 0.5, 0.7, 0.85, 0.95, 1.0])
    print(f"\n{head('what can be read', *R2)}")
    for verdict in sorted({line["verdict"] for line in lines}):
        show(verdict, [line["r2"] for line in lines if line["verdict"] == verdict])
    if given.nulls:
        print(f"\n{head('tables of nothing', 'p value at most .05')}")
        for kind, p_values in null_p_values(given.seed, given.nulls).items():
            print(row(kind, float(np.mean(np.array(p_values) <= 0.05))))


if __name__ == "__main__":
    main()
