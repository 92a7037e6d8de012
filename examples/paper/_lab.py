"""What all experiments share: methods by name, one timed fit, trials in processes, one table."""

import csv
import io
import warnings
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ikd_graph import IKD, graph, kernels, strategies
from ikd_graph._checks import check_choice
from ikd_graph._files import write_whole
from ikd_graph.study import baselines
from ikd_graph.study.datasets import fixed_latent, gp_mapping
from ikd_graph.study.timing import Timed, timed

from ._peers import PEERS

CLOSED_GEODESIC = {
    "affinity": "correlation",
    "strategy": strategies.Geodesic.paper(),
    "graph": graph.Neighbors(5, prune=False),
    "refine": None,
}
OURS = {
    "ikd": {},
    **{name: {"strategy": name, "refine": None} for name in ("blockwise", "geodesic", "eigen")},
    "geodesic+stress": {"strategy": "geodesic", "refine": "stress"},
    "paper_blockwise": {
        "affinity": "correlation",
        "strategy": strategies.Blockwise.paper(),
        "graph": graph.Threshold(0.1, prune=False),
        "refine": None,
    },
    "paper_geodesic": CLOSED_GEODESIC,
    "paper_geodesic_centred": {
        **CLOSED_GEODESIC,
        "strategy": strategies.Geodesic(path="covariance"),
    },
    "blockwise_greedy": {"strategy": strategies.Blockwise(merge="greedy"), "refine": None},
    "ikd_auto_kernel": {"kernel": "auto", "refine": "likelihood"},
}
"""Parameters of ``IKD`` by name: ours, the paper's closed forms, the same with true centring."""

METHODS = (*OURS, *PEERS)
"""Every name that an experiment takes as a method."""


class Fit(NamedTuple):
    """A timed fit."""

    coordinates: np.ndarray | None  # None after a failure
    model: Any  # the fitted IKD; None for peers and after a failure
    cost: dict[str, Any]  # seconds, cpu_seconds, failure


def fit(method, X, n_components, seed, *, kernel=None, start=None, **changes):
    """Fit a method, timed, after a first call on a few points that pays for compilation.

    ``kernel`` goes to all methods that have one, ``start`` to peers that can be told where to
    begin, ``changes`` to ``IKD``.
    """
    check_choice("methods", method, METHODS)
    if method in PEERS:
        given = {"start": start, "kernel": kernel}
        able = {"start", *PEERS[method].options}
        options = {k: v for k, v in given.items() if v is not None and k in able}
        done = baselines.embed(method, X, n_components, seed, **options)
        return Fit(done.value, None, cost(done))
    settings = {"kernel": kernel} if kernel is not None else {}
    settings |= {**OURS[method], **changes}
    _warm_up(method)
    model = IKD(n_components, random_state=seed, **settings)
    done = timed(model.fit_transform, X)
    return Fit(done.value, None if done.failure else model, cost(done))


def cost(done: Timed):
    """What a fit took, and why it failed."""
    return {name: getattr(done, name) for name in ("seconds", "cpu_seconds", "failure")}


@cache
def _warm_up(method):
    """Compile in this process, once for a method."""
    few = gp_mapping(fixed_latent("medium", 80), 150, kernels.Matern(length_scale=0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        IKD(3, **OURS[method]).fit(few)


def rows(cell, found, measure):
    """One trial a method: its cell, its measures (none after a failure), its cost."""
    return [
        {
            **cell,
            "method": name,
            **(measure(one) if one.coordinates is not None else {}),
            **one.cost,
        }
        for name, one in found.items()
    ]


def classes(data):
    """Data that have classes."""
    if data.y is None or not data.label_names:
        raise ValueError(f"data must have classes, got none in {data.name!r}; give label_column")
    return data


def title_of(doc):
    """Title of a table: the first sentence of its module."""
    return doc.splitlines()[0].rstrip(".")


@dataclass(frozen=True)
class Table:
    """What an experiment found: every trial, and how to sum them up."""

    name: str  # of the files, without ending
    title: str
    trials: list[dict[str, Any]]  # settings, measures, seconds, ``failure`` (empty if it worked)
    by: tuple[str, ...]  # columns that tell the cells of the table apart
    measure: str  # column that is summed up
    notes: list[str] = field(default_factory=list)  # settings in words
    bad_below: float | None = None  # trials below it are counted as bad ones
    also: tuple[str, ...] = ()  # further columns, of which the mean of each cell is given

    def summary(self):
        """Sum up each cell: numbers of the measure, means of ``also``, median times, failures."""
        cells = {}
        for trial in self.trials:
            cells.setdefault(tuple(trial[key] for key in self.by), []).append(trial)
        return [
            {**dict(zip(self.by, at, strict=True)), **self._sum_up(found)}
            for at, found in cells.items()
        ]

    def _sum_up(self, found):
        """Numbers of one cell."""
        values = np.array([t.get(self.measure, np.nan) for t in found], dtype=np.float64)
        good = values[np.isfinite(values)]
        sd = float(good.std(ddof=1)) if good.size > 1 else np.nan
        out = {
            "n": int(good.size),
            "mean": float(good.mean()) if good.size else np.nan,
            "sd": sd,
            "se": sd / np.sqrt(good.size) if good.size else np.nan,
            "min": float(good.min()) if good.size else np.nan,
            "max": float(good.max()) if good.size else np.nan,
        }
        if self.bad_below is not None:
            out["bad"] = float(np.mean(good < self.bad_below)) if good.size else np.nan
        for key in self.also:
            out[key] = _over(np.mean, found, key)
        for key in ("seconds", "cpu_seconds"):
            if key in found[0]:
                out[key] = _over(np.median, found, key)
        out["failed"] = int(values.size - good.size)
        out["failure"] = next((t["failure"] for t in found if t["failure"]), "")
        return out

    def to_markdown(self):
        """Summary as a Markdown page."""
        rows = self.summary()
        lines = [f"# {self.title}", ""]
        lines += [f"- {note}" for note in self.notes] + [""] * bool(self.notes)
        if rows:
            columns = [key for key in rows[0] if key != "failure" or any(r[key] for r in rows)]
            lines.append("| " + " | ".join(columns) + " |")
            lines.append("|" + "|".join(" --- " for _ in columns) + "|")
            lines += ["| " + " | ".join(_cell(row[key]) for key in columns) + " |" for row in rows]
        return "\n".join(lines) + "\n"

    def to_csv(self):
        """Every trial as comma-separated values."""
        columns = list(dict.fromkeys(key for trial in self.trials for key in trial))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.trials)
        return text.getvalue()

    def write(self, folder):
        """Write ``name.md`` (summary) and ``name.csv`` (trials), each whole or not at all."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        return [
            write_whole(place / f"{self.name}.md", self.to_markdown()),
            write_whole(place / f"{self.name}.csv", self.to_csv()),
        ]


def run_trials(work, tasks, *, n_jobs=None, verbose=0):
    """Trials of ``work(*task)`` for all tasks, in processes of one BLAS thread each.

    ``work`` is a function of a module, so that a process can import it. One job, or None, is this
    process.
    """
    from joblib import Parallel, delayed, parallel_config
    from tqdm import tqdm

    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=1 if n_jobs is None else n_jobs, return_as="generator")
        found = pool(delayed(work)(*task) for task in tasks)
        bar = tqdm(found, total=len(tasks), unit="task", disable=None if verbose else True)
        return [trial for trials in bar for trial in trials]


def _over(what, found, key):
    """Mean or median of the finite values of a column, NaN without any."""
    values = [trial.get(key, np.nan) for trial in found]
    finite = [value for value in values if np.isfinite(value)]
    return float(what(finite)) if finite else float("nan")


def _cell(value):
    """Text of a value in a Markdown table."""
    if isinstance(value, float):
        return "-" if not np.isfinite(value) else f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")
