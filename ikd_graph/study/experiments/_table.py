"""Trials of an experiment, their summary, and the files they are written to."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..._files import write_whole

Trial = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """What an experiment found: every trial, and how to sum them up.

    Attributes
    ----------
    name, title : str
        File name without ending; a sentence.
    trials : list of dict
        One row a trial: settings, measures, seconds, and ``failure`` (empty if it worked).
    by : tuple of str
        Columns that tell the cells of the table apart.
    measure : str
        Column that is summed up.
    notes : list of str
        Settings in words: seeds, numbers of trials, what differs from the paper.
    bad_below : float or None
        Trials below this value are counted as bad ones; None counts none.
    also : tuple of str
        Further columns, of which the mean of each cell is given.
    """

    name: str
    title: str
    trials: list[Trial]
    by: tuple[str, ...]
    measure: str
    notes: list[str] = field(default_factory=list)
    bad_below: float | None = None
    also: tuple[str, ...] = ()

    def summary(self) -> list[Trial]:
        """Sum up the trials of each cell.

        Returns
        -------
        list of dict
            The columns ``by``, then n, mean, sd (of a trial), se (of the mean), min, max, bad
            (share below ``bad_below``), means of the columns ``also``, seconds and cpu_seconds
            (medians), failed, the first reason of a failure.
        """
        cells: dict[tuple[Any, ...], list[Trial]] = {}
        for trial in self.trials:
            cells.setdefault(tuple(trial[key] for key in self.by), []).append(trial)
        return [
            {**dict(zip(self.by, at, strict=True)), **self._sum_up(found)}
            for at, found in cells.items()
        ]

    def _sum_up(self, found: list[Trial]) -> Trial:
        """Numbers of one cell."""
        values = np.array([t[self.measure] for t in found], dtype=np.float64)
        good = values[np.isfinite(values)]
        sd = float(good.std(ddof=1)) if good.size > 1 else np.nan
        out: Trial = {
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
            out[key] = _over(np.mean, [t[key] for t in found])
        for key in ("seconds", "cpu_seconds"):
            if key in found[0]:
                out[key] = _over(np.median, [t[key] for t in found])
        out["failed"] = int(values.size - good.size)
        out["failure"] = next((t["failure"] for t in found if t["failure"]), "")
        return out

    def to_markdown(self) -> str:
        """Summary as a Markdown page.

        Returns
        -------
        str
            Title, notes and table.
        """
        rows = self.summary()
        lines = [f"# {self.title}", ""]
        lines += [f"- {note}" for note in self.notes] + [""] * bool(self.notes)
        if rows:
            columns = [key for key in rows[0] if key != "failure" or any(r[key] for r in rows)]
            lines.append("| " + " | ".join(columns) + " |")
            lines.append("|" + "|".join(" --- " for _ in columns) + "|")
            lines += ["| " + " | ".join(_cell(row[key]) for key in columns) + " |" for row in rows]
        return "\n".join(lines) + "\n"

    def to_csv(self) -> str:
        """Every trial as comma-separated values.

        Returns
        -------
        str
            Header and one line a trial.
        """
        columns = list(dict.fromkeys(key for trial in self.trials for key in trial))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.trials)
        return text.getvalue()

    def write(self, folder: str | Path) -> list[Path]:
        """Write ``name.md`` (summary) and ``name.csv`` (trials), each whole or not at all.

        Parameters
        ----------
        folder : str or Path
            Made if it is not there.

        Returns
        -------
        list of Path
            The files.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        return [
            write_whole(place / f"{self.name}.md", self.to_markdown()),
            write_whole(place / f"{self.name}.csv", self.to_csv()),
        ]


def run_trials(
    work: Callable[[Any], list[Trial]],
    tasks: Sequence[Any],
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Trial]:
    """Work through tasks in processes of one BLAS thread each.

    Parameters
    ----------
    work : callable
        Function of a task that returns its trials; of a module, so that a process can import it.
    tasks : sequence
        One for each call.
    n_jobs : int or None
        Number of processes as in joblib; None is 1, in this process.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    list of dict
        The trials of all tasks, in their order.
    """
    from joblib import Parallel, delayed, parallel_config
    from tqdm import tqdm

    with parallel_config(backend="loky", inner_max_num_threads=1):
        pool = Parallel(n_jobs=1 if n_jobs is None else n_jobs, return_as="generator")
        found: Iterable[list[Trial]] = pool(delayed(work)(task) for task in tasks)
        bar = tqdm(found, total=len(tasks), unit="task", disable=None if verbose else True)
        return [trial for trials in bar for trial in trials]


def _over(what: Callable[..., Any], values: list[float]) -> float:
    """Mean or median of the finite values, NaN without any."""
    finite = [value for value in values if np.isfinite(value)]
    return float(what(finite)) if finite else float("nan")


def _cell(value: Any) -> str:
    """Text of a value in a Markdown table."""
    if isinstance(value, float):
        return "-" if not np.isfinite(value) else f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")
