"""What "auto" takes: every candidate is fitted, and the one whose latent predicts most wins."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _limits, evidence
from .._stages import Stages
from .._table import dense_rows
from ..evidence import Candidate, Evidence, Judge, Trial, sentence
from ..similarity import AFFINITIES, Similarity
from ._attempt import Attempt, close, polish, similarity_of
from ._closed import Ground
from ._core import Core
from ._judged import Judged, beats, best_of, chance, is_linear, score_of, trial_of
from ._reasons import why_affinity, why_linear, why_refine
from ._task import Task

Floats = NDArray[np.float64]

# Closed forms that are polished: the better one is not always the better start.
_POLISHED = 2

# Coordinates that candidates have where their number is not known yet.
_USUAL_COMPONENTS = 5


class Verdict(NamedTuple):
    """What was decided before the fit."""

    affinity: str
    strategy: str
    refine: str | None
    ground: Ground
    trials: tuple[Trial, ...] = ()
    attempt: Attempt | None = None  # the fit itself, where all rows were judged
    core: Core | None = None  # rows whose likelihood was searched, where they were not all
    own_starts: bool = False  # whether the likelihood has no others, where that is open
    judges_core: bool = False  # whether a core is searched once the number of coordinates is known


def judge(rows: Any, task: Task, stages: Stages) -> Verdict:
    """Decide on similarity and polish, as far as they are "auto".

    Where the table looks like samples of the model, trusted correlations are taken, and the
    likelihood; of many rows it is searched for a core. Else candidates are fitted to the rows, or
    to some of many, and judged by how many directions of the measurements the nearest points in
    their latents predict.
    """
    table = evidence.examine(rows)
    if task.affinity != "auto" and AFFINITIES[task.affinity].ignores_columns:
        # What a named similarity cannot see may not decide what is done with it.
        table = evidence.examine(rows, ignore_columns=True)
    options = evidence.candidates(
        task.affinity, task.wishes, table, n_samples=len(rows), linear=task.leaves_all_open
    )
    first, wishes = options[0], task.wishes
    portfolio = _Portfolio(rows, task, table, sure=table.is_model and first.trusted)
    if portfolio.sure and not evidence.some_are_related(rows):
        return portfolio.of_unrelated_rows(first)
    if portfolio.sure and not (wishes.refine == "auto" and portfolio.affords_likelihood):
        return portfolio.by_evidence(first)
    if len(options) == 1 and wishes.refine != "auto":
        return Verdict(first.affinity, wishes.strategy, wishes.refine, Ground(table))
    with stages("choosing"):
        scaled = [one for one in options if AFFINITIES[one.affinity].scales_columns]
        if task.affinity == "auto" and scaled and not evidence.scaling_helps(portfolio.rows):
            options = [one for one in options if one not in scaled]
        return portfolio.run(options)


class _Portfolio:
    """Candidates of one table; ``sure`` says that it looks like samples of the model."""

    def __init__(self, rows: Any, task: Task, table: Evidence, *, sure: bool) -> None:
        self.task, self.table, self.sure = task, table, sure
        # Few columns say little against the model; where it holds, the right optimum is often not
        # that of the winner.
        self.own_starts = not (sure or table.holds)
        n = len(rows)
        most = _limits.LIKELIHOOD_CORE if sure else _limits.JUDGED_WHOLE
        fewer = _limits.LIKELIHOOD_CORE if sure else _limits.JUDGED_SAMPLE
        self.whole = n <= most
        self.some = np.arange(n)
        if not self.whole:
            self.some = np.sort(np.random.default_rng(0).choice(n, fewer, replace=False))
        self.rows = dense_rows(rows) if self.whole else rows[self.some]
        self.n_samples = n
        self.seen = self._seen(task)
        self.known: dict[str, tuple[Similarity, list[str]]] = {}
        self.fitted: dict[Candidate, tuple[Attempt, bool] | None] = {}
        self.judge = Judge(self.rows, are_counts=table.are_counts)

    @property
    def affords_likelihood(self) -> bool:
        """Whether there are few enough rows for it, numbers enough, and bends to be found."""
        n, width = self.rows.shape
        if self.task.wishes.strategy == "linear":
            return False
        few = self.sure or self.n_samples <= _limits.LIKELIHOOD_AUTO
        return few and n >= evidence.FEWEST_POINTS and width >= evidence.FEWEST_COLUMNS

    @property
    def _looks_like_the_model(self) -> str:
        return f"the {self.table.n_observed} columns look like samples of a Gaussian process"

    def by_evidence(self, first: Candidate) -> Verdict:
        """What a table that looks like samples of the model decides."""
        ground = Ground(self.table, True, self._compared(first, ()))
        wishes = self.task.wishes
        return Verdict(first.affinity, wishes.strategy, wishes.refine, ground)

    def of_unrelated_rows(self, first: Candidate) -> Verdict:
        """What is decided, and said, of rows of which no two are more alike than chance."""
        looked_at = min(self.n_samples, _limits.EXAMINED)
        warnings.warn(
            f"no two of {looked_at} rows are correlated more than unrelated rows are by chance: "
            f"{self.table.n_observed} columns tell no distance between them, and the coordinates "
            "describe noise; measure more columns, or give the mean of rows that belong together",
            UserWarning,
            stacklevel=5,
        )
        verdict = self.by_evidence(first)
        if self.task.wishes.refine != "auto":
            return verdict
        why = "no two rows are more alike than chance would have them"
        told = sentence("No polish", why, "refine='stress'")
        reasons = {**verdict.ground.reasons, "refine": told}
        return verdict._replace(refine=None, ground=verdict.ground._replace(reasons=reasons))

    def _compared(self, taken: Candidate, trials: tuple[Trial, ...]) -> dict[str, str]:
        """Why rows are compared as they are, if that was open."""
        if self.task.affinity != "auto":
            return {}
        why = self._looks_like_the_model if self.sure else why_affinity(trials)
        what = AFFINITIES[taken.affinity].summary
        other = next(name for name in AFFINITIES if name != taken.affinity)
        change = f"affinity={other!r} (or another name)"
        return {"affinity": sentence(what[0].upper() + what[1:], why, change)}

    def _seen(self, task: Task) -> Task:
        """The task of the rows that are judged."""
        n_components = task.n_components
        if n_components == "auto":
            n_components = min(_USUAL_COMPONENTS, len(self.rows) - 1)
        seen = replace(task, n_components=n_components, verbose=0)
        if self.whole:
            return seen
        wishes = task.wishes
        if not isinstance(wishes.reference, str):
            wishes = wishes._replace(reference="auto")
        ones = np.ones(len(self.rows), dtype=np.int64)
        return replace(seen, n_landmarks=None, wishes=wishes, copies=ones)

    def run(self, options: list[Candidate]) -> Verdict:
        """Fit and judge the candidates, and take the best."""
        closed = [found for option in options if (found := self._closed(option)) is not None]
        if not closed or self.judge.directions.shape[1] == 0:
            # Nothing can be compared, or nothing differs: the fit itself says so.
            wishes = self.task.wishes
            first = next(one for one in options if one.strategy is None)
            return Verdict(first.affinity, wishes.strategy, wishes.refine, Ground(self.table))
        # Whatever polish is asked for: a table has one similarity.
        bent = [one for one in closed if one.attempt.closed.graph is not None]
        leading = sorted(bent, key=score_of, reverse=True)[:_POLISHED]
        judged = closed + [self._polished(one, "stress") for one in leading]
        best = self._linear_if_told(self._seeing_length(judged), judged)
        if self.task.wishes.refine == "auto" and self.affords_likelihood and not is_linear(best):
            likely = self._polished(best, "likelihood", "own" if self.own_starts else "auto")
            judged.append(likely)
            # Of samples of the model the likelihood is the sharper judge: near points tell little
            # of the shape, and R2 of .997 has lost to .955 by them. Of other tables it is one more
            # latent, and often a wrong one. On 65 of 150 and 250 rows R2 fell by .017 where it was
            # taken for any gain, and rose by .009 at a level of 5 %; started at principal
            # components it lost up to .68 and gained at most .05. Confirmed on 76 fresh tables of
            # 150 rows, with `_linear_if_told`: .848 -> .879. Where something speaks against the
            # model its own starts are enough: from one of them .823 in 7 s, from all starts .818 in
            # 19 s on 33 tables of 200 and 300 rows (error of the difference .008); on 33 fresh ones
            # of 150 .796 in 5 s, .800 in 14 s (.004). Of 27 samples of the model of 20 columns,
            # which are too few to be sure, all starts make .655, own ones .626; of 54 fresh ones of
            # 20 and 40 columns .906 in 10 s and .886 in 4 s (error of the difference .014).
            if self.sure or beats(likely, best, evidence.CHANCE):
                best = likely
        return self._verdict(best, judged)

    def _seeing_length(self, judged: list[Judged]) -> Judged:
        """The best, or the best that sees how long rows are, if it tells more of left out columns.

        Angles between rows of few causes tell less than the rows, and the latent has room for
        noise, which it predicts as well as anything. The other must tell more than chance may make
        it, and gain there what it loses on the columns that latents were made from. Near rows are
        asked first, which costs little.
        """
        best = best_of(judged)
        name = best.candidate.affinity
        seeing = [one for one in judged if not AFFINITIES[one.candidate.affinity].forgets_length]
        if not (seeing and AFFINITIES[name].forgets_length and self.task.affinity == "auto"):
            return best
        are_counts = self.table.are_counts
        if not evidence.length_tells(self.rows, name, are_counts=are_counts):
            return best
        rival = best_of(seeing)
        # It is a question of the similarity, so closed forms are asked.
        least = score_of(best) - score_of(rival)
        gain = self._told_of_left_out([rival], best, least)[0]
        return rival if gain.sum() > max(least, chance(gain)) else best

    def _linear_if_told(self, best: Judged, judged: list[Judged]) -> Judged:
        """The best, or principal components if they tell more of left out columns.

        Where most of a column is noise (answers of yes or no) a latent with bends wins by the
        noise that it was made from: 63 cells of the battery's develop half .867 -> .890, none lost.
        Of few columns a part does not show the bends: with 3 to 8 up to .2 was lost. Confirmed on
        152 fresh tables (.9026 -> .9045); on the battery's other half the mixtures, which were
        known by then, gained .020 and the forty other tables nothing.
        """
        straight = [one for one in judged if is_linear(one)]
        few = self.table.n_observed < evidence.FEWEST_COLUMNS
        if few or not straight or is_linear(best):
            return best
        gains = self._told_of_left_out(straight, best, polished=True)
        most = int(np.argmax(np.nan_to_num(gains.sum(axis=1), nan=-np.inf)))
        return straight[most] if gains[most].sum() > chance(gains[most]) else best

    def _told_of_left_out(
        self, rivals: list[Judged], best: Judged, least: float = 0.0, *, polished: bool = False
    ) -> Floats:
        """What each point adds to what rivals tell of left out columns, less what the best does.

        One row for each rival; NaN where it or the best cannot be made of some of the columns. Who
        has to gain ``least``, and would not if all parts were like those asked and chance were with
        him, is not asked of the next.
        """
        gains = np.zeros(())
        for asked, (kept, judge) in enumerate(self.parts, 1):
            told = [kept._tells(one, judge, polished) for one in (best, *rivals)]
            gains = gains + (np.array(told[1:]) - told[0])
            share = asked / len(self.parts)
            if all(gain.sum() + chance(gain) < share * least for gain in gains):
                break
        return gains

    @cached_property
    def parts(self) -> list[tuple[_Portfolio, Judge]]:
        """The same of all columns but a part, and who judges by that part."""
        columns, are_counts = evidence.varying_columns(self.rows), self.table.are_counts
        return [
            (
                _Portfolio(columns[:, ~away], self.task, self.table, sure=False),
                Judge(columns[:, away], are_counts=are_counts),
            )
            for away in evidence.left_out(columns)
        ]

    def _tells(self, one: Judged, judge: Judge, polished: bool) -> Floats:
        """What each point adds to what a candidate tells, (n,), if it is made of these rows."""
        if one.candidate not in self.fitted:
            self.fitted[one.candidate] = self._fit(one.candidate)
        found = self.fitted[one.candidate]
        if found is None:
            return np.full(len(self.rows), np.nan)
        attempt = found[0]
        if polished and one.attempt.refine == "stress":
            attempt = self._polish(attempt, "stress")[0]
        return judge.predict(attempt.coordinates).by_point

    def _closed(self, candidate: Candidate) -> Judged | None:
        """Closed form of a candidate and what it predicts, None if there is none."""
        found = self._fit(candidate)
        return None if found is None else self._judged(candidate, *found)

    def _fit(self, candidate: Candidate) -> tuple[Attempt, bool] | None:
        """Closed form of a candidate and whether there was something to warn of.

        None if its rows cannot be compared or joined.
        """
        wishes = self.seen.wishes._replace(refine=None)
        if candidate.strategy is not None:
            wishes = wishes._replace(strategy=candidate.strategy)
        task = replace(self.seen, affinity=candidate.affinity, wishes=wishes)
        ground = Ground(self.table, candidate.trusted, judge=self.judge)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", UserWarning)
            try:
                if candidate.affinity not in self.known:
                    self.known[candidate.affinity] = similarity_of(self.rows, task)
                attempt = close(self.known[candidate.affinity][0], task, ground, Stages())
            except ValueError:
                return None
        return attempt, bool(said)

    def _polished(self, one: Judged, refine: str, starts: str = "auto") -> Judged:
        """A candidate with its closed form polished, judged again."""
        attempt, warned = self._polish(one.attempt, refine, starts)
        candidate = one.candidate._replace(strategy=None)
        return self._judged(candidate, attempt, one.warned or warned)

    def _polish(self, closed: Attempt, refine: str, starts: str = "auto") -> tuple[Attempt, bool]:
        """A closed form polished; ``starts`` of what was left open. Whether it warned."""
        task = self.seen
        if task.starts == "auto":
            task = replace(task, starts=starts)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", UserWarning)
            attempt = polish(closed, refine, self.rows, task, Stages())
        return attempt, bool(said)

    def _judged(self, candidate: Candidate, attempt: Attempt, warned: bool) -> Judged:
        prediction = self.judge.predict(attempt.coordinates)
        return Judged(candidate, attempt, prediction, warned)

    def _verdict(self, best: Judged, judged: list[Judged]) -> Verdict:
        """What is taken, why, and what else was tried."""
        others = sorted((one for one in judged if one is not best), key=score_of, reverse=True)
        trials = tuple(trial_of(one, best) for one in (best, *others))
        asked, strategy = self.task.wishes.refine, self.task.wishes.strategy
        refine = best.attempt.refine if asked == "auto" else asked
        reasons = self._compared(best.candidate, trials)
        if asked == "auto":
            reasons["refine"] = why_refine(trials)
            if self.sure and refine == "likelihood":
                why = self._looks_like_the_model
                reasons["refine"] = sentence("Polished by likelihood", why, "refine='stress'")
        if is_linear(best):
            strategy, reasons["strategy"] = "linear", why_linear(trials)
            if asked == "auto":
                why = "principal components have no graph to polish on"
                reasons["refine"] = sentence("No polish", why, "strategy='geodesic'")
        ground = Ground(self.table, best.candidate.trusted, reasons)
        attempt = None
        said = self.known[best.candidate.affinity][1]
        # What there is to warn of is said of the fit that is made, and only of that.
        quiet = not best.warned and not said
        whole = self.whole and self.task.n_components == self.seen.n_components
        if quiet and whole and best.attempt.refine == refine:
            closed = best.attempt.closed
            choice = replace(closed.choice, reasons=reasons | closed.choice.reasons, refine=refine)
            attempt = best.attempt._replace(closed=closed._replace(choice=choice))
        core, found = None, best.attempt.polished
        by_core = asked == "auto" and refine == "likelihood" and not self.whole
        if by_core and found is not None and self.task.n_components != "auto":
            core = Core(self.some, found)
        return Verdict(
            best.candidate.affinity,
            strategy,
            refine,
            ground,
            trials,
            attempt,
            core,
            judges_core=by_core,
            own_starts=asked == "auto" and self.own_starts,
        )
