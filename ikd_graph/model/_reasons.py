"""Why a candidate was taken, in words."""

from __future__ import annotations

from ..evidence import CHANCE, Trial, sentence


def why_affinity(trials: tuple[Trial, ...]) -> str:
    """What the best latent predicts, and how much less the best of another similarity."""
    best = trials[0]
    other = next((one for one in trials if one.affinity != best.affinity), None)
    most = "best" if other is None or other.score <= best.score else "as well as any"
    if other is not None and _ahead(other, best, CHANCE):
        most = "best where columns are left out"
    why = f"neighbours in its embedding predict one another's measurements {most}: {_told(best)}"
    return why if other is None else f"{why}; with {other.affinity!r} {_told(other, best)}"


def why_linear(trials: tuple[Trial, ...]) -> str:
    """Why principal components are enough."""
    best = trials[0]
    other = next((one for one in trials if one.strategy != "linear"), None)
    what = "Principal components (the linear strategy)"
    if other is None:
        return sentence(what, "nothing else could be tried", "strategy='geodesic'")
    why = f"no latent with bends predicts more by a standard error: {other.affinity!r} "
    if _ahead(other, best, 1.0):
        why = f"they predict more where columns are left out, though of all {other.affinity!r} "
    return sentence(what, why + _told(other, best), "strategy='geodesic'")


def why_refine(trials: tuple[Trial, ...]) -> str:
    """What was gained by the polish, or would be lost."""
    best = trials[0]
    what = "No polish" if best.refine is None else f"Polished by {best.refine}"
    other = next((one for one in trials if one.refine != best.refine), None)
    why = f"neighbours then predict one another's measurements best: {_told(best)}"
    if other is None:
        return sentence(what, why, "refine='stress'")
    name = "without a polish" if other.refine is None else f"with {other.refine}"
    change = f"refine={other.refine!r}"
    return sentence(what, f"{why}, {name} {_told(other, best)}", change)


def _ahead(other: Trial, best: Trial, errors: float) -> bool:
    """Whether another scores more by so many standard errors, so that columns left out decided."""
    return other.score - best.score > errors * other.standard_error


def _told(one: Trial, best: Trial | None = None) -> str:
    """A score in words."""
    if best is None:
        return f"a score of {one.score:.2f} (R² summed over principal directions)"
    apart = best.score - one.score
    what = "less" if apart >= 0.0 else "more"
    return f"{abs(apart):.2f} {what} (standard error {one.standard_error:.2f})"
