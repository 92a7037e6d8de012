"""How the default of tables that are no samples of the model was chosen, on `first_tables`.

    OMP_NUM_THREADS=1 python benchmarks/battery/choosing.py --half choose --out FILE [--read]

Every candidate of "auto" is scored by held-out columns, fitted to the whole table and measured as
in `first_answer`; where two halves of the columns agree by less than .6, so is the likelihood from
the representation of the highest score, annealed, with the kernel compared and with the rational
quadratic. Printed: mean neighbors and metric by the margin that a table as it is has, and by the
agreement below which the likelihood takes the place of the closed form. With ``--read`` the lines
of FILE are read again.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from first_answer import scores
from first_tables import Absent, half, make
from measures import append, one_thread

from ikd_graph import IKD, model_selection
from ikd_graph.model_selection import agreement_of_halves, compare_candidates
from ikd_graph.refine import Likelihood
from ikd_graph.settings import Settings

MARGINS = (1.0, 1.02, 1.05, 1.1)
THRESHOLDS = (0.0, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)
KERNELS = ("auto", "rational_quadratic")


def measured(name):
    """What is stored of a table."""
    points = make(name)
    X = np.ascontiguousarray(points.X, dtype=np.float64)
    facts = model_selection.Facts(X)
    options = model_selection.candidates(facts, Settings.of(IKD()))
    _, tried, _ = compare_candidates(facts, options)
    ranked = {(one.affinity, one.strategy): one.score for one in tried}
    line = {"table": name, "candidates": []}
    for option in options:
        key = option.affinity, option.solver.name
        model = IKD(2, affinity=key[0], strategy=key[1], refine=option.refine).fit(X)
        agreement = agreement_of_halves(facts, option)
        found = {"affinity": key[0], "strategy": key[1], "score": ranked[key]}
        found |= {"agreement": agreement, **scores(model.embedding_, points)}
        if agreement < max(THRESHOLDS) and key == max(ranked, key=ranked.get):
            for kernel in KERNELS:
                search = Likelihood(descent="annealed")
                model = IKD(2, affinity=key[0], strategy="geodesic", kernel=kernel, refine=search)
                found[kernel] = scores(model.fit(X).embedding_, points)
        line["candidates"].append(found)
    return line


def chosen(line, margin, threshold, kernel):
    """Scores of a table under a rule."""
    raised = [
        one["score"] * (margin if one["affinity"] == "euclidean" else 1.0)
        for one in line["candidates"]
    ]
    best = line["candidates"][int(np.argmax(raised))]
    weak = best["agreement"] is not None and best["agreement"] < threshold
    return best[kernel] if weak and kernel in best else best


def main():
    """Measure a half, or read what was measured, and print the rules."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", default="choose")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--read", action="store_true")
    given = parser.parse_args()
    one_thread()
    warnings.simplefilter("ignore")
    for name in () if given.read else half(given.half):
        try:
            append(given.out, measured(name))
        except Absent as absent:
            print(f"{name}: {absent}")
    lines = [json.loads(line) for line in Path(given.out).read_text().splitlines()]
    print(f"{len(lines)} tables\nmargin  below  kernel              neighbors metric")
    rules = [(margin, 0.0, "auto") for margin in MARGINS]
    rules += [(1.05, below, kernel) for kernel in KERNELS for below in THRESHOLDS[1:]]
    for margin, below, kernel in rules:
        cells = [chosen(line, margin, below, kernel) for line in lines]
        near = np.mean([cell["neighbors"] for cell in cells])
        metric = np.mean([cell["metric"] for cell in cells if cell["metric"] is not None])
        print(f"{margin:6.2f} {below:6.2f}  {kernel:18s} {near:9.3f} {metric:6.3f}", flush=True)


if __name__ == "__main__":
    main()
