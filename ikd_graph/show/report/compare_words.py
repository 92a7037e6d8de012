"""What a comparison found, gathered over seeds and said in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...study.compare import GROUPS, IKD_METHODS, MEASURES, Comparison, Row
from ..words import say_seconds

MEASURE_WORDS = {
    "r2_affine": "R² after affine alignment",
    "r2_rigid": "R² after rigid alignment",
    "knn": "5-NN accuracy",
    "svm": "SVM accuracy",
    "decoding": "decoding R²",
    "decoding_blocks": "decoding R², blocks of rows",
    "silhouette": "silhouette",
    "trustworthiness": "trustworthiness",
    "trustworthiness_15": "trustworthiness, 15 nearest",
    "trustworthiness_50": "trustworthiness, 50 nearest",
    "continuity": "continuity",
    "continuity_15": "continuity, 15 nearest",
    "continuity_50": "continuity, 50 nearest",
    "r_nx_auc": "area under R_NX",
    "local_distances": "local distances kept",
    "density": "density kept",
    "global_distances": "global distances kept",
    "random_triplets": "random triplets kept",
    "centroid_triplets": "centroid triplets kept",
    "centroid_distances": "centroid distances kept",
    "co_smoothing": "held-out R²",
}
"""Names of measures for readers."""

GROUP_WORDS = {
    "latent": "truth",
    "local": "local",
    "global": "global",
    "prediction": "prediction",
    "labels": "labels",
}
"""Names of groups of measures for readers, in the order of tables."""

HEADLINES = {
    "r2_affine": "R²",
    "trustworthiness": "trust",
    "r_nx_auc": "R_NX",
    "global_distances": "Spearman",
    "co_smoothing": "held-out",
    "knn": "5-NN",
    "decoding": "decoding",
    "decoding_blocks": "blocks",
}
"""The few measures that are shown first, with names short enough for a terminal."""

HEADLINE_NOTES = {
    "trustworthiness": "trust: neighbours that were neighbours in the data",
    "r_nx_auc": "R_NX: neighbours in common above chance, over all sizes",
    "global_distances": "Spearman: rank correlation of all distances",
    "decoding_blocks": "blocks: decoding of runs of rows, harder where rows follow in time",
    "co_smoothing": "held-out: R² of the other half of the columns",
}
"""What the short names mean that do not say it themselves."""

_TIE = 0.01
_CHEAP = 0.05


class Entry(NamedTuple):
    """One method in one dimension at one noise level, over all seeds."""

    title: str
    method: str
    n_components: int
    noise: float
    rows: list[Row]

    def values(self, name: str) -> NDArray[np.float64]:
        """Values of a measure over seeds, NaN where a run failed."""
        return np.array([getattr(row, name) for row in self.rows], dtype=np.float64)

    def mean(self, name: str) -> float:
        """Mean of a measure over the seeds that worked, NaN if none did."""
        values = self.values(name)
        good = values[np.isfinite(values)]
        return float(good.mean()) if good.size else float("nan")

    def spread(self, name: str) -> float:
        """Standard deviation of a measure over the seeds that worked."""
        values = self.values(name)
        good = values[np.isfinite(values)]
        return float(good.std()) if good.size else float("nan")

    def error(self) -> float:
        """Standard error of the mean of held-out R² over seeds, from those of the halves."""
        errors = self.values("co_smoothing_error")
        known = errors[np.isfinite(errors)]
        return float(np.sqrt(np.sum(known**2)) / known.size) if known.size else float("nan")

    @property
    def failure(self) -> str:
        """Why runs failed; empty if none did."""
        reasons = [row.failure for row in self.rows if row.failure]
        if not reasons:
            return ""
        few = "" if len(reasons) == len(self.rows) else f"{len(reasons)} of {len(self.rows)} runs: "
        return few + reasons[0]


def entries(found: Comparison) -> list[Entry]:
    """Gather the rows of a comparison over seeds."""
    cells: dict[tuple[str, str, int, float], list[Row]] = {}
    for row in found.rows:
        cells.setdefault((row.title, row.method, row.n_components, row.noise), []).append(row)
    return [Entry(*key, rows) for key, rows in cells.items()]


def shown_measures(found: Comparison) -> list[str]:
    """Measures that at least one row has, the one that tells most first."""
    return [name for name in MEASURES if any(np.isfinite(getattr(row, name)) for row in found.rows)]


def headline_measures(found: Comparison) -> list[str]:
    """The few measures to show first, the leading one before all, others by group."""
    shown = shown_measures(found)
    few = [name for name in HEADLINES if name in shown and name != found.measure]
    if "r_nx_auc" in few and "trustworthiness" in few:
        # One for near things and one for far things is enough to begin with.
        few.remove("trustworthiness")
    return [found.measure, *few] if found.measure in shown else few


def group_of(measure: str) -> str:
    """What a measure asks, in words."""
    return next(GROUP_WORDS[group] for group, names in GROUPS.items() if measure in names)


def say_comparison(found: Comparison) -> list[str]:
    """Which method is best, which of our strategies, where, at what price: most important first."""
    measure = found.measure
    gathered = entries(found)
    able = [entry for entry in gathered if np.isfinite(entry.mean(measure))]
    if not able:
        return ["No method gave an embedding.", *_say_failures(gathered)]
    dims, levels = _settings(able)
    said = []
    for dim in dims:
        overall = _over_levels(able, measure, dim)
        where = f" in {dim} dimensions" if len(dims) > 1 else ""
        said.append(_say_best(overall, measure, where, len(levels)))
        said += _say_strategy(overall, able, where)
        if len(levels) > 1:
            said += _say_levels([e for e in able if e.n_components == dim], measure, levels, where)
    said += _say_near_and_far(able, measure)
    return [*said, *_say_flattery(able, measure), *_say_failures(gathered)]


def _settings(able: list[Entry]) -> tuple[list[int], list[float]]:
    """Dimensions and noise levels, ascending."""
    return sorted({e.n_components for e in able}), sorted({e.noise for e in able})


def _over_levels(able: list[Entry], measure: str, dim: int) -> dict[str, tuple[float, float]]:
    """Mean of a measure and median seconds of each method over all noise levels, best first."""
    titles = dict.fromkeys(e.title for e in able if e.n_components == dim)
    out = {}
    for title in titles:
        mine = [e for e in able if e.title == title and e.n_components == dim]
        seconds = [row.seconds for e in mine for row in e.rows if np.isfinite(row.seconds)]
        value = float(np.mean([e.mean(measure) for e in mine]))
        out[title] = (value, float(np.median(seconds)) if seconds else float("nan"))
    return dict(sorted(out.items(), key=lambda item: -item[1][0]))


def _say_best(
    overall: dict[str, tuple[float, float]], measure: str, where: str, n_levels: int
) -> str:
    """Which method is best, and by how much."""
    (best, (value, seconds)), *others = overall.items()
    what = MEASURE_WORDS[measure]
    mean = " on average over the noise levels" if n_levels > 1 else ""
    text = f"Best{where}{mean}: {best} with {what} {value:.3f} in {say_seconds(seconds)}"
    if not others:
        return text + "."
    second, (close, cost) = others[0]
    near = "as good within 0.01" if value - close < _TIE else "next"
    return f"{text}; {near} is {second} ({close:.3f} in {say_seconds(cost)})."


def _say_strategy(
    overall: dict[str, tuple[float, float]], able: list[Entry], where: str
) -> list[str]:
    """Which of our strategies to use on these data, and why."""
    ours = {e.title: e.method for e in able if e.method in IKD_METHODS}
    ranked = [title for title in overall if title in ours]
    if not ranked:
        return []
    first = ranked[0]
    if len(ranked) == 1:
        return []
    value = overall[first][0]
    rivals = ", ".join(f"{title} {overall[title][0]:.3f}" for title in ranked[1:])
    fast = min(ranked, key=lambda title: overall[title][1])
    if ours[first] == "ikd":
        text = f"Run ikd-graph embed as it is{where}: {value:.3f} against {rivals}"
    else:
        text = f"Use {_parameters(ours[first])}{where}: {value:.3f} against {rivals}"
    gap = value - overall[fast][0]
    if fast == first:
        text += ", and it is the quickest of them"
    elif gap < _CHEAP and overall[fast][1] < 0.5 * overall[first][1]:
        price = f"{say_seconds(overall[fast][1])} instead of {say_seconds(overall[first][1])}"
        loss = "nothing" if gap < 0.0005 else f"{gap:.3f}"
        text += f". {fast} takes {price} and gives up {loss}"
    return [text + "."]


def _parameters(method: str) -> str:
    """One of our methods as parameters of `IKD`."""
    return "IKD(" + ", ".join(f"{k}={v!r}" for k, v in IKD_METHODS[method].items()) + ")"


def _say_near_and_far(able: list[Entry], measure: str) -> list[str]:
    """Which method keeps neighbours best, which the layout at large, which predicts best."""
    if len({entry.title for entry in able}) < 2:
        return []
    first = able[0]
    mine = [e for e in able if (e.n_components, e.noise) == (first.n_components, first.noise)]
    asked = {
        "r_nx_auc": "keeps neighbours",
        "global_distances": "keeps the layout at large",
        "co_smoothing": "predicts held-out columns",
    }
    parts = []
    for name, verb in asked.items():
        known = [entry for entry in mine if np.isfinite(entry.mean(name)) and name != measure]
        if known:
            best = max(known, key=lambda entry: entry.mean(name))
            parts.append(f"{best.title} {verb} best ({MEASURE_WORDS[name]} {best.mean(name):.3f})")
    several = len({(e.n_components, e.noise) for e in able}) > 1
    where = f"At M={first.n_components} and noise {first.noise:g} " if several else ""
    return [f"{where}{_joined(parts)}."] if parts else []


def own_row(found: Comparison) -> Row | None:
    """First row of the default call, or else of the best of our methods; None without a measure."""
    measure = found.measure
    ours = [row for row in found.rows if row.method in IKD_METHODS and row.facts]
    able = [row for row in ours if np.isfinite(getattr(row, measure))]
    default = [row for row in able if row.method == "ikd"]
    if default or not able:
        return default[0] if default else None
    mean: dict[str, list[float]] = {}
    for row in able:
        mean.setdefault(row.title, []).append(getattr(row, measure))
    first = max(mean, key=lambda title: float(np.mean(mean[title])))
    return next(row for row in able if row.title == first)


def own_choices(found: Comparison) -> tuple[str, dict[str, str]]:
    """What the default call, or the best of our methods, chose by itself, and why.

    The title is empty where none of ours has a measure or something to tell.
    """
    row = own_row(found)
    if row is None:
        return "", {}
    return row.title, {name.replace("_", " "): text for name, text in row.facts.items()}


def _say_levels(able: list[Entry], measure: str, levels: list[float], where: str) -> list[str]:
    """At which noise each of the two graph strategies is better."""
    of = {(e.method, e.noise): e for e in able}
    told: dict[str, list[float]] = {"blockwise": [], "geodesic": [], "": []}
    gaps: dict[str, list[float]] = {side: [] for side in told}
    for level in levels:
        pair = [of.get((name, level)) for name in ("blockwise", "geodesic")]
        if pair[0] is None or pair[1] is None:
            continue
        gap, error = _paired_gap(pair[0].values(measure), pair[1].values(measure))
        sure = abs(gap) > max(error, 0.005)
        side = "" if not sure else "blockwise" if gap > 0 else "geodesic"
        told[side].append(level)
        gaps[side].append(abs(gap))
    parts: list[str] = []
    for name in ("blockwise", "geodesic"):
        if told[name]:
            low, high = f"{min(gaps[name]):.2g}", f"{max(gaps[name]):.2g}"
            by = low if low == high else f"{low} to {high}"
            parts.append(f"{name} is better at noise {_list(told[name])}, by {by}")
    if told[""]:
        parts.append(f"they do not differ beyond chance at noise {_list(told[''])}")
    if not parts:
        return []
    few = "" if max(len(e.rows) for e in able) > 1 else " (one seed: chance is not ruled out)"
    return [f"Blockwise against geodesic{where}{few}: {'; '.join(parts)}."]


def _paired_gap(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    """Mean difference of two methods over the seeds both worked on, and its 95 % half width."""
    if first.shape != second.shape:
        return float(np.nanmean(first) - np.nanmean(second)), np.inf
    gaps = (first - second)[np.isfinite(first - second)]
    if gaps.size < 2:
        return float(gaps.sum()), 0.0
    from scipy.stats import t

    half = t.ppf(0.975, gaps.size - 1) * gaps.std(ddof=1) / np.sqrt(gaps.size)
    return float(gaps.mean()), float(half)


def _say_flattery(able: list[Entry], measure: str) -> list[str]:
    """How much the affine alignment flatters."""
    if measure != "r2_affine":
        return []
    pairs = [(e.mean("r2_affine") - e.mean("r2_rigid"), e) for e in able]
    known = [(gap, e) for gap, e in pairs if np.isfinite(gap)]
    if not known:
        return []
    gap, worst = max(known, key=lambda item: item[0])
    if gap < 0.02:
        return ["R² after a rigid alignment, which may not stretch, says the same within 0.02."]
    return [
        f"An affine alignment may stretch, and flatters: after a rigid one {worst.title} at noise "
        f"{worst.noise:g} falls from {worst.mean('r2_affine'):.3f} to {worst.mean('r2_rigid'):.3f}."
    ]


def _say_failures(gathered: list[Entry]) -> list[str]:
    """What did not run, and why."""
    reasons: dict[str, str] = {}
    for entry in gathered:
        if entry.failure:
            reasons.setdefault(entry.title, entry.failure)
    return [f"{title} did not run: {reason.rstrip('.')}." for title, reason in reasons.items()]


def _list(levels: list[float]) -> str:
    """Numbers with commas and an and."""
    return _joined([f"{level:g}" for level in levels])


def _joined(texts: list[str]) -> str:
    """Texts with commas and an and."""
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def scores_by_level(
    gathered: list[Entry], dim: int, name: str
) -> tuple[list[float], dict[str, NDArray[np.float64]]]:
    """Noise levels, ascending, and for each title a measure at each: (levels, seeds).

    NaN stands where there is no run.
    """
    mine = [entry for entry in gathered if entry.n_components == dim]
    levels = sorted({entry.noise for entry in mine})
    most = max(len(entry.rows) for entry in mine)
    curves: dict[str, NDArray[np.float64]] = {}
    for entry in mine:
        curve = curves.setdefault(entry.title, np.full((len(levels), most), np.nan))
        curve[levels.index(entry.noise), : len(entry.rows)] = entry.values(name)
    return levels, curves
