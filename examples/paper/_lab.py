"""What all experiments share: methods by name, a timed fit, a table beside the published values."""

import csv
import io
import os
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ikd_graph import IKD, graph, kernels, refine, strategies
from ikd_graph._base.files import write_whole
from ikd_graph._base.validation import one_of
from ikd_graph.datasets import fixed_latent, gp_mapping
from ikd_graph.jobs import baselines
from ikd_graph.jobs.baselines import timed

from . import _published_form
from ._peers import PEERS
from ._uncovered import cliques_from_uncovered

PUBLISHED = Path(__file__).parent / "published"

GEODESIC = {"affinity": "correlation", "graph": graph.Neighbors(5, prune=False), "refine": None}
OURS = {
    "ikd": {},
    "ikd_kernel": {},
    "ikd_kernel_12_restarts": {"refine": refine.Likelihood(restarts=12)},
    "ikd_correlation": {"affinity": "correlation"},
    "blockwise": {"strategy": "blockwise", "refine": None},
    "geodesic": {"strategy": "geodesic", "refine": None},
    "geodesic_stress": {"strategy": "geodesic", "refine": "stress"},
    "eigen": {"strategy": "eigen", "refine": None},
    "paper_geodesic": {**GEODESIC, "strategy": strategies.Geodesic.paper()},
    "paper_geodesic_at_threshold": {
        "affinity": "correlation",
        "strategy": strategies.Geodesic.paper(),
        "refine": None,
    },
    "paper_geodesic_centered": {**GEODESIC, "strategy": strategies.Geodesic(path="covariance")},
    "paper_blockwise": {
        "affinity": "correlation",
        "strategy": strategies.Blockwise.paper(),
        "refine": None,
    },
    "paper_blockwise_from_uncovered": {
        "affinity": "correlation",
        "strategy": strategies.Blockwise("greedy", None, "min_max", cliques_from_uncovered),
        "refine": None,
    },
    "paper_blockwise_at_0.1": {
        "affinity": "correlation",
        "strategy": strategies.Blockwise.paper(),
        "graph": graph.Threshold(0.1, prune=False),
        "refine": None,
    },
    "published_form": {},
    "published_form_without_isomap": {},
}
"""Parameters of ``IKD`` by name: ours, and the paper's closed forms; see results/README.md."""

AT_THRESHOLD = ("paper_blockwise", "paper_blockwise_from_uncovered", "paper_geodesic_at_threshold")
"""Those with the threshold that the published runs take at an N."""

METHODS = (*OURS, *PEERS)
"""Every name that an experiment takes as a method."""


def counterparts(method):
    """Names in the published tables that a method is set beside, the closest first."""
    for kind in ("geodesic_centered", "geodesic", "blockwise"):
        if kind in method:
            return kind, "ikd"
    if method in OURS:
        return ("blockwise", "ikd") if method.startswith("published_form") else ("ikd",)
    return ("kernel_pca",) if method.startswith("kernel_pca") else (method,)


RIVALS = (("ikd",), ("gplvm",), ("ikd", "gplvm"), ("isomap",), ("umap",))
"""Published methods that ours are counted against; of two the better one in each cell."""

FEWEST = 6
"""Cells from which they are counted."""


class Fit(NamedTuple):
    """A timed fit."""

    coordinates: np.ndarray | None  # None after a failure
    cost: dict[str, Any]  # seconds, cpu_seconds, failure


def fit(method, X, n_components, seed, *, kernel=None, form="fig4", **changes):
    """Fit a method, timed, after a first call on a few points that pays for compilation.

    ``kernel`` goes to all methods that have one but ``ikd``, which is the default call,
    ``changes`` to ``IKD`` or the peer; ``form`` says which figure the published form is that of.
    """
    one_of(METHODS)("methods", method)
    _warm_up(method)
    if method in PEERS:
        own = {"kernel": kernel} if method == "gplvm" else {}
        done = baselines.embed(method, X, n_components, seed, **own, **changes)
        if "is not installed" in done.failure:
            raise ImportError(f"{method} {done.failure}")
        return Fit(done.value, cost(done))
    done = timed(_solve, method, X, n_components, seed, kernel, form, **changes)
    return Fit(done.value, cost(done))


def _solve(method, X, n_components, seed, kernel, form="fig4", **changes):
    """Coordinates by a method of ours."""
    if method.startswith("published_form"):
        form = form if method == "published_form" else "without_isomap"
        return _published_form.embed(X, n_components, kernel or "squared_exponential", form)
    settings = {} if kernel is None or method == "ikd" else {"kernel": kernel}
    if method in AT_THRESHOLD:
        settings["graph"] = graph.Threshold(_published_form.threshold(X.shape[1]), prune=False)
    settings |= {**OURS[method], **changes}
    return IKD(n_components, random_state=seed, **settings).fit_transform(X)


def cost(done):
    """What a fit took, and why it failed."""
    return {name: getattr(done, name) for name in ("seconds", "cpu_seconds", "failure")}


@cache
def _warm_up(method):
    """Compile in this process, once for a method."""
    few = gp_mapping(fixed_latent("medium", 80), 150, kernels.Matern(length_scale=0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method in PEERS:
            baselines.embed(method, few, 3)
        else:
            _solve(method, few, 3, 0, None)


@dataclass(frozen=True)
class Experiment:
    """What is run, and how it is summed up and drawn.

    The page of an experiment with columns ``across`` has a row for each method; all cells with
    costs and further measures are then a second .csv.
    """

    title: str
    by: tuple[str, ...]  # columns that tell the cells of the table apart; ends in "method"
    measure: str  # column that is summed up
    tasks: Callable[[bool, int], Iterable[Callable[[], list[dict[str, Any]]]]]  # (quick, trials)
    draw: Callable[["Table", Path], Path]
    minutes: float  # processor minutes of a full run
    methods: Callable[[bool], tuple[str, ...]] = lambda quick: ()  # that it can be run with
    trials: int = 1
    across: tuple[str, ...] = ()  # columns of a long table that its page spreads over columns
    also: tuple[str, ...] = ()  # further columns, of which the mean of each cell is reported
    notes: tuple[str, ...] = ()
    command: str = ""  # that runs it, if it is none of this folder


def run(name, experiment, *, quick=False, trials=None, jobs=1, methods=()):
    """Run every task in processes of one thread each; a missing data set is one line.

    With ``methods`` only these are fitted.
    """
    from joblib import Parallel, delayed, parallel_config
    from tqdm import tqdm

    tasks = list(experiment.tasks(quick, trials or (1 if quick else experiment.trials)))
    if methods:
        tasks = [partial(task, only=methods) for task in tasks]
    rows, missing = [], set()
    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=jobs, return_as="generator")
        done = pool(delayed(_attempt)(task) for task in tasks)
        for result in tqdm(done, total=len(tasks), unit="task", disable=None):
            if isinstance(result, str):
                missing.add(result)
            else:
                rows += result
    for line in sorted(missing):
        print(f"{name}: left out, {line}")
    stamp = origin()
    return Table(name, experiment, [{**row, **stamp} for row in rows])


def _attempt(task):
    """Rows of a task, or in a line why its data cannot be read."""
    try:
        return task()
    except (OSError, ImportError) as error:
        return str(error)


@cache
def origin():
    """Commit, date and machine of a run."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        here = Path(__file__).parent
        commit = subprocess.run(command, cwd=here, capture_output=True, text=True).stdout.strip()
    except OSError:
        commit = ""
    return {
        "commit": commit or "unknown",
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores",
    }


def rows(cell, fits, measure):
    """One trial a method: its cell, its measures (none after a failure), its cost."""
    return [
        {
            **cell,
            "method": name,
            **(measure(fit.coordinates) if fit.coordinates is not None else {}),
            **fit.cost,
        }
        for name, fit in fits.items()
    ]


def key_of(values):
    """Cell of a table as text, equal for numbers and what is read from a file."""
    return tuple(f"{v:g}" if isinstance(v, (int, float)) else str(v) for v in values)


@dataclass(frozen=True)
class Table:
    """The trials of an experiment, summed up beside the published values."""

    name: str  # of the files, without ending
    experiment: Experiment
    trials: list[dict[str, Any]]  # settings, measures, seconds, ``failure`` (empty if it worked)

    @classmethod
    def read(cls, name, experiment, folder):
        """Trials that were stored."""
        with (folder / f"{name}.csv").open(newline="") as file:
            stored = [{k: _value(v) for k, v in row.items()} for row in csv.DictReader(file)]
        return cls(name, experiment, stored)

    def merged(self, new):
        """Return the table with its trials that another has taken from there."""
        by = self.experiment.by

        def key(trial):
            return key_of([*(trial[name] for name in by), trial.get("trial", "")])

        again = set(map(key, new.trials))
        trials = [t for t in self.trials if key(t) not in again] + new.trials
        *columns, _ = by
        texts = list(dict.fromkeys(str(t[key]) for t in trials for key in columns))

        def place(trial):
            values = [trial[key] for key in columns]
            numbers = [float(v) for v in values if isinstance(v, (int, float))]
            known = [v for v in map(str, values) if v in texts]
            return numbers, [texts.index(v) for v in known]

        return Table(self.name, self.experiment, sorted(trials, key=place))

    def cells(self):
        """Trials of each cell."""
        out = {}
        for trial in self.trials:
            out.setdefault(tuple(trial[key] for key in self.experiment.by), []).append(trial)
        return out

    def published(self):
        """Published mean and standard error by cell, the method last; empty if there are none."""
        return published_cells(self.name, self.experiment.by)

    def beside(self, at):
        """Published cell that a cell is set beside, or None."""
        keys = ((*key_of(at[:-1]), name) for name in counterparts(at[-1]))
        return next((key for key in keys if key in self.published()), None)

    def summary(self):
        """Mean of each cell with its standard error, and the published value beside it."""
        by, measure = self.experiment.by, self.experiment.measure
        published, cells, out = self.published(), self.cells(), []
        for at, trials in cells.items():
            count = column(trials, measure).size
            row = {**dict(zip(by, at, strict=True)), "n": count, **mean_of(trials, measure)}
            if published:
                row["published"], row["published se"] = published.get(
                    self.beside(at), (np.nan, np.nan)
                )
            row |= {key: mean_of(trials, key)["mean"] for key in self.experiment.also}
            if "cpu_seconds" in trials[0]:
                row["processor s"] = float(np.median(column(trials, "cpu_seconds")))
            row["failed"] = next((t["failure"] for t in trials if t.get("failure")), "")
            out.append(row)
        run_here = {self.beside(at) for at in cells}
        alike = {key_of(at[:-1]) for at in cells}
        for at, (mean, se) in published.items():
            # A method of the paper that was not run here is listed with its published value.
            if at[:-1] in alike and at not in run_here:
                out.append(
                    {**dict(zip(by, at, strict=True)), "published": mean, "published se": se}
                )
        return out

    def differences(self, method, names):
        """Cells of a method by its mean less the highest published mean of the names, in errors.

        The error is that of the difference; what is not known of it counts as 0.
        """
        published, out = self.published(), {}
        for at, trials in self.cells().items():
            rivals = [published[key] for n in names if (key := (*key_of(at[:-1]), n)) in published]
            if at[-1] != method or len(rivals) < len(names):
                continue
            own = mean_of(trials, self.experiment.measure)
            mean, se = max(rivals)
            error = np.hypot(*np.nan_to_num([own["se"], se])) or np.nan
            out[at[:-1]] = (own["mean"] - mean) / error
        return out

    def against(self):
        """Lines that count the cells above and below published values by two standard errors."""
        methods = [m for m in dict.fromkeys(at[-1] for at in self.cells()) if m in OURS]
        names = {key[-1] for key in self.published()}
        rivals = [pair for pair in RIVALS if names.issuperset(pair)]
        lines, below = [], []
        for method, pair in product(methods, rivals):
            values = self.differences(method, pair)
            high, low = (sum(sign * v > 2.0 for v in values.values()) for sign in (1, -1))
            if len(values) >= FEWEST and any(np.isfinite(list(values.values()))):
                pair = " and ".join(pair)
                lines.append(f"| {method} | {pair} | {len(values)} | {high} | {low} |")
                if low and pair == "ikd":
                    cells = [" ".join(map(str, at)) for at, v in values.items() if v < -2.0]
                    below.append(f"- {method} is below published ikd in: {'; '.join(cells)}")
        if not lines:
            return []
        head = "| method | published | cells | above by two errors | below by two errors |"
        return ["## Beside the published values", "", head, "|" + " --- |" * 5, *lines, "", *below]

    def to_markdown(self):
        """Summary as a Markdown page."""
        lines = [
            f"# {self.experiment.title.rstrip('.')}",
            "",
            f"`{self.experiment.command or f'python -m examples.paper {self.name}'}`",
            "",
        ]
        notes = [*self.experiment.notes, *self._origin()]
        if self.experiment.across:
            notes.append(
                "mean ± standard error of each cell; numbers of trials, further measures and "
                f"processor seconds: {self.name}_cells.csv, every trial: {self.name}.csv"
            )
        lines += [f"- {note}" for note in notes] + [""]
        columns, table = self._spread() if self.experiment.across else self._long()
        lines += ["| " + " | ".join(row) + " |" for row in (columns, ["---"] * len(columns))]
        lines += ["| " + " | ".join(row) + " |" for row in table]
        compared = self.against()
        return "\n".join([*lines, *([""] if compared else []), *compared]).rstrip() + "\n"

    def _long(self):
        """Columns and rows of the summary."""
        summary = self.summary()
        columns = [key for key in summary[0] if key != "failed" or any(r.get(key) for r in summary)]
        return columns, [[_text(r.get(key)) for key in columns] for r in summary]

    def _spread(self):
        """Means with some columns spread out: a row for a method, or for its published values."""
        by, across = self.experiment.by, self.experiment.across
        kept = [key for key in by[:-1] if key not in across]
        rows, places = {}, {}
        for at, trials in self.cells().items():
            cell = dict(zip(by, at, strict=True))
            place = tuple(cell[key] for key in across)
            places[key_of(place)] = place
            group = tuple(str(cell[key]) for key in kept)
            rows.setdefault(group, {}).setdefault(at[-1], {})[key_of(place)] = _mean_text(
                mean_of(trials, self.experiment.measure)
            )
        for at, (mean, se) in self.published().items():
            cell = dict(zip(by, at, strict=True))
            group, place = tuple(cell[k] for k in kept), tuple(cell[k] for k in across)
            # Those of peers that were run here are in the file of cells.
            known = at[-1] in rows.get(group, ()) and at[-1] not in ("ikd", "gplvm")
            if group in rows and place in places and not known:
                row = rows[group].setdefault(f"*published {at[-1]}*", {})
                row[place] = _mean_text({"mean": mean, "se": se})
        order = sorted(places, key=lambda key: places[key])
        heads = [", ".join(f"{k} = {v}" for k, v in zip(across, key, strict=True)) for key in order]
        table = [
            [*group, method, *(cells.get(key, "-") for key in order)]
            for group, methods in rows.items()
            for method, cells in methods.items()
        ]
        return [*kept, "method", *heads], table

    def _origin(self):
        """Which tree made the trials of which methods, when, on what, and how long it took."""
        groups, count = {}, {}
        for t in self.trials:
            own = groups.setdefault((t["date"], t["commit"]), {})
            own[t["method"]] = own.get(t["method"], 0) + 1
            count[t["method"]] = count.get(t["method"], 0) + 1
        spent = column(self.trials, "cpu_seconds").sum() if "cpu_seconds" in self.trials[0] else 0.0
        machines = ", ".join(sorted({t["machine"] for t in self.trials}))
        lines = []
        for (date, commit), own in sorted(groups.items(), key=str):
            parts = {m: "" if n == count[m] else f" ({n} of {count[m]})" for m, n in own.items()}
            named = ", ".join(m + part for m, part in parts.items())
            lines.append(f"rows of commit {commit}, {date}: {named}")
        return [*lines, f"{machines}; {spent:.0f} processor seconds in fits"]

    def to_csv(self):
        """Every trial as comma-separated values."""
        return _csv_text(self.trials, ".6g")

    def cells_csv(self):
        """Summary as comma-separated values."""
        return _csv_text(self.summary(), ".4g")

    def write(self, folder):
        """Write .csv, and of what it holds .md and .png, and of a long table a second .csv."""
        files = [write_whole(folder / f"{self.name}.csv", self.to_csv())]
        stored = self.read(self.name, self.experiment, folder)
        if self.experiment.across:
            files.append(write_whole(folder / f"{self.name}_cells.csv", stored.cells_csv()))
        files.append(write_whole(folder / f"{self.name}.md", stored.to_markdown()))
        try:
            files.append(self.experiment.draw(stored, folder / f"{self.name}.png"))
        except ImportError as error:
            # A picture shows every method again, also those that were not run now.
            print(f"{self.name}.png: not drawn, {error}")
        return files


@cache
def published_cells(name, by):
    """Published mean and standard error by cell; empty if there are none."""
    path = PUBLISHED / f"{name}.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        stored = list(csv.DictReader(file))
    return {tuple(r[k] for k in by): (float(r["mean"]), float(r["se"] or "nan")) for r in stored}


def column(trials, key):
    """Finite values of a column."""
    values = np.array(
        [t.get(key, np.nan) for t in trials if t.get(key, "") != ""], dtype=np.float64
    )
    return values[np.isfinite(values)]


def mean_of(trials, measure):
    """Mean of a cell and its standard error, NaN where there are too few values.

    The error is that over trials; of a single one that over its splits, if it has a column of it.
    """
    values, splits = column(trials, measure), column(trials, f"{measure} se")
    error = float(splits[0]) if splits.size == 1 else np.nan
    if values.size > 1:
        error = float(values.std(ddof=1) / np.sqrt(values.size))
    return {"mean": float(values.mean()) if values.size else np.nan, "se": error}


def _csv_text(rows, digits):
    """Rows as comma-separated values."""
    out = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: _number(v, digits) for k, v in row.items()})
    return out.getvalue()


def _number(value, digits):
    """Value of a file: numbers with some digits, NaN as nothing."""
    if not isinstance(value, float):
        return value
    return "" if np.isnan(value) else f"{value:{digits}}"


def _mean_text(cell):
    """Mean with its standard error."""
    error = f" ± {cell['se']:.3f}" if np.isfinite(cell["se"]) else ""
    return f"{cell['mean']:.3f}{error}" if np.isfinite(cell["mean"]) else "-"


def _value(text):
    """Number or text of a stored cell."""
    try:
        return float(text) if not text.lstrip("-").isdigit() else int(text)
    except ValueError:
        return text


def _text(value):
    """Text of a value in a Markdown table."""
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 100 else f"{value:.0f}"
    return str(value).replace("|", "\\|").replace("\n", " ")[:120]
