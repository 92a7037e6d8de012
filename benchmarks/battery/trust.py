"""What each number of `IKD.trust_` is worth: beside the R² with the truth, and on nothing.

    OMP_NUM_THREADS=1 python benchmarks/battery/trust.py [--seed 3] [--tables 120] [--nulls 2000] \
        [--out FILE]

A table has 60 to 300 rows over a shape of `calibration.py` and 30 to 1000 columns. In turn they are
samples of the model, or sines along random directions, columns of unlike scale with a noise of 0.1
to 2 of the signal's standard deviation. `IKD` is fitted by default in as many coordinates as the
truth has. Lines that FILE has already are not computed again. The R² is that of `affine_r2`. Null
tables are those of `is_it_real.py`.
"""

import argparse
import itertools
import json
import warnings
from pathlib import Path

import numpy as np
from calibration import SHAPES, draw, shape_points
from is_it_real import null_p_values
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from ikd_graph import IKD
from ikd_graph.metrics import affine_r2

HEAD = """
| {} | tables | R² with the truth: median | a quarter is below | least |
|---|---|---|---|---|"""
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


def bins(lines, name, edges):
    """Print the R² of tables whose number is in each bin."""
    print(HEAD.format(name))
    values, r2 = (np.array([line[key] for line in lines]) for key in (name, "r2"))
    for low, high in itertools.pairwise(edges):
        told = r2[(values > low) & (values <= high)]
        if told.size:
            text = " | ".join(f"{np.quantile(told, q):.2f}" for q in (0.5, 0.25, 0.0))
            print(f"| {max(low, 0.0):.2g} to {high:.2g} | {told.size} | {text} |")
    told = r2[np.isnan(values)]
    if told.size:
        text = " | ".join(f"{np.quantile(told, q):.2f}" for q in (0.5, 0.25, 0.0))
        print(f"| not known | {told.size} | {text} |")
    known = np.isfinite(values)
    print(f"\nSpearman {spearmanr(values[known], r2[known])[0]:.2f} of {known.sum()} tables")


def main():
    """Print the tables of docs/trust.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--tables", type=int, default=120)
    parser.add_argument("--nulls", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=Path("trust.jsonl"))
    options = parser.parse_args()
    done = options.out.read_text().splitlines() if options.out.exists() else []
    with threadpool_limits(limits=1), options.out.open("a") as out:
        for index in range(len(done), options.tables):
            done.append(json.dumps(measure(options.seed, index)))
            print(done[-1], file=out, flush=True)
    lines = [json.loads(line) for line in done[: options.tables]]
    bins(lines, "agreement", [-0.1, 0.2, 0.4, 0.6, 0.8, 1.0])
    bins(lines, "reliability", [-0.1, 0.5, 0.7, 0.85, 0.95, 1.0])
    print(
        "\n| what can be read | tables | R² with the truth: median | a quarter is below | least |"
    )
    print("|---|---|---|---|---|")
    for verdict in sorted({line["verdict"] for line in lines}):
        told = [line["r2"] for line in lines if line["verdict"] == verdict]
        text = " | ".join(f"{np.quantile(told, q):.2f}" for q in (0.5, 0.25, 0.0))
        print(f"| {verdict} | {len(told)} | {text} |")
    if options.nulls:
        print("\n| tables of nothing | p value at most .05 |\n|---|---|")
    for kind, p_values in (
        null_p_values(options.seed, options.nulls).items() if options.nulls else ()
    ):
        print(f"| {kind} | {np.mean(np.array(p_values) <= 0.05):.3f} |")


if __name__ == "__main__":
    main()
