"""The settings of a fit: what was asked for, what is done, and why."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from . import graph, kernels, missing, refine, strategies
from ._base.format import setting
from ._base.threads import jobs
from ._base.types import Floats
from ._base.validation import auto_or, fraction, one_of, seed, whole
from .graph import CsrGraph, Rule
from .kernels import StationaryKernel
from .refine import Likelihood, Stress
from .similarity import AFFINITIES, GIVEN
from .stress import MAX_ITER

__all__ = ["Candidate", "Settings"]

CLASSES: Mapping[str, Mapping[str, Any]] = {
    "strategy": strategies.STRATEGIES,
    "graph": {"threshold": graph.Threshold, "neighbors": graph.Neighbors},
    "kernel": kernels.KERNELS,
    "refine": refine.REFINEMENTS,
    "missing": missing.RULES,
}
"""Classes of the objects that a parameter of `IKD` takes, by their short names."""

_PARAMETERS = (
    "n_components", "strategy", "graph", "kernel", "affinity", "refine", "n_landmarks",
    "random_state",
)  # fmt: skip
"""Parameters of `IKD` that make a fit with nothing left to choose."""


def compares_distances(affinity: str) -> bool:
    """Whether an affinity is one of distances, of rows or as they were given."""
    known = AFFINITIES.get(affinity)
    return affinity == "precomputed_distance" or (known is not None and known.euclidean)


class Candidate(NamedTuple):
    """Settings that "auto" tried, and how well they predict columns that were held out."""

    affinity: str
    strategy: str
    refine: str | None
    score: float  # mean R² over principal directions of the held-out columns, which ranks
    score_error: float  # its standard error
    difference: float  # score less that of the chosen candidate
    difference_error: float  # standard error of that, paired over points
    r2: float  # of the held-out columns, each by its variance
    r2_error: float  # its standard error
    chosen: bool


@dataclass(frozen=True)
class Settings:
    """What was asked for, what is done, and why.

    Fields have the types of a fit, in which nothing is left to choose; until then those that it
    has to choose are "auto" (`is_auto`).
    """

    n_components: int
    strategy: strategies.Strategy
    graph: Rule | CsrGraph | None
    kernel: StationaryKernel  # of the coordinates; of a likelihood "auto" compares the four
    affinity: str
    refine: Stress | Likelihood | None
    missing: missing.Rule | None = None
    n_landmarks: int | None = None
    random_state: int | None = None
    closed_form_kernel: StationaryKernel = field(
        default_factory=kernels.SquaredExponential, repr=False, compare=False
    )
    model_based: bool = False  # whether similarities estimate the kernel of the model
    candidates: tuple[Candidate, ...] = ()  # that were tried, the chosen one first
    # R² of two halves of the columns, by split, as far as a choice needed those of this map.
    agreements: tuple[float, ...] = field(default=(), repr=False, compare=False)
    # Of stress, which also precedes a likelihood; None where a fit has none.
    stress_weights: str | None = field(default=None, repr=False, compare=False)
    stress_steps: int = field(default=MAX_ITER, repr=False, compare=False)  # at most
    # Whether the likelihood is that of the known entries: no hole is filled in.
    of_entries: bool = field(default=False, repr=False, compare=False)
    warnings: tuple[str, ...] = ()  # what the user has to be told
    spectrum: Floats | None = field(default=None, repr=False, compare=False)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, estimator: Any) -> Settings:
        """Return what the parameters of an estimator ask for.

        Parameters
        ----------
        estimator : IKD
            Its parameters are checked, but for what needs data to be known.

        Returns
        -------
        Settings
            "auto" where a fit has to choose.

        Raises
        ------
        ValueError
            The message names the parameter, the rule and the cure.
        """
        size = auto_or(whole(1, cure="'auto' chooses"))("n_components", estimator.n_components)
        strategies.check_landmarks(estimator.n_landmarks, 1 if size == "auto" else size)
        if not isinstance(estimator.verbose, bool):
            whole(0)("verbose", estimator.verbose)
        jobs("n_jobs", estimator.n_jobs)
        state = estimator.random_state
        drawn = isinstance(state, np.random.RandomState)  # it is drawn from in the fit
        asked = cls(
            n_components=size,
            strategy=_object("strategy", estimator.strategy, strategies.Strategy),
            graph=_graph(estimator.graph),
            kernel=auto_or(kernels.as_kernel)("kernel", estimator.kernel),
            affinity=one_of(("auto", *AFFINITIES, *GIVEN))("affinity", estimator.affinity),
            refine=None if estimator.refine is None else _object("refine", estimator.refine),
            missing=copy(missing.get(estimator.missing)),
            n_landmarks=estimator.n_landmarks,
            random_state=None if drawn else seed("random_state", state),
        )
        return asked._together()

    def _together(self) -> Settings:
        """Return the same, or raise where parameters do not go together."""
        if isinstance(self.refine, Likelihood):
            self.require_rows(setting("refine", "likelihood"))
        if self.missing is not None:
            self.require_rows(setting("missing", type(self.missing).__name__.lower()))
        rule, strategy = self.graph, self.strategy
        if isinstance(rule, graph.Threshold) and rule.fdr is not None:
            one_of(("auto", "correlation", "covariance"))("affinity", self.affinity)
            affinity = "correlation" if self.is_auto("affinity") else self.affinity
            return replace(self, affinity=affinity)
        on_pairs = not self.is_auto("strategy") and not strategy.uses_graph
        if self.affinity == "shared_neighbors" and (on_pairs or isinstance(rule, graph.Threshold)):
            raise ValueError(
                "strategy must be 'geodesic' or 'blockwise' for "
                f"{setting('affinity', self.affinity)}, and {setting('graph')} must be a "
                f"number of neighbors, got {strategy!r} and {rule!r}; only edges to neighbors are "
                "weighted"
            )
        return self

    def is_auto(self, name: str) -> bool:
        """Whether a setting is left to choose."""
        value = getattr(self, name)
        return isinstance(value, str) and value == "auto"

    def filled(self, **settings: Any) -> Settings:
        """Return settings with values in place of those that are "auto"."""
        return replace(self, **{name: v for name, v in settings.items() if self.is_auto(name)})

    def take(self, why: str, **settings: Any) -> Settings:
        """Return the same, with the reason of what was "auto"; what was asked for stays."""
        return self.filled(**settings).explain({n: why for n in settings if self.is_auto(n)})

    @property
    def agreement(self) -> float:
        """Mean R² between maps of two halves of the columns; NaN without any."""
        return float(np.mean(self.agreements)) if self.agreements else np.nan

    @property
    def has_rows(self) -> bool:
        """Whether X is a table of rows, and not values between points."""
        return self.affinity not in GIVEN

    def require_rows(self, what: str) -> None:
        """Raise where values between points were given."""
        if not self.has_rows:
            raise ValueError(
                f"{what} must know the observations, got {setting('affinity', self.affinity)}; fit "
                f"the table itself, with {setting('affinity', 'correlation')} or 'cosine'"
            )

    def __str__(self) -> str:
        settings = ["strategy", "affinity", "refine", "n_components"]
        settings += [name for name in ("graph", "n_landmarks") if getattr(self, name) is not None]
        settings += ["kernel"] if self.bends_distances else []
        values = {name: setting(name, getattr(self, name)) for name in settings}
        lines = [value for name, value in values.items() if name not in self.reasons]
        for reason, names in self._names_by_reason().items():
            chosen = ", ".join(values[name] for name in names if name in values)
            lines.append(f"{chosen}: {reason}" if chosen else reason)
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show settings and reasons in a notebook as `print` does."""
        printer.text(str(self))

    @property
    def bends_distances(self) -> bool:
        """Whether a kernel turns covariances into distances, or has a likelihood."""
        inverted = self.strategy.uses_kernel and not compares_distances(self.affinity)
        return inverted or isinstance(self.refine, Likelihood)

    def explain(self, reasons: Mapping[str, str]) -> Settings:
        """Return the same with more reasons."""
        return replace(self, reasons={**self.reasons, **reasons})

    def parameters(self) -> dict[str, Any]:
        """Return parameters of `IKD` with which a fit has nothing left to choose."""
        needed = {
            # A kernel that the likelihood chose is chosen again: the closed form had another.
            "kernel": self.bends_distances and not isinstance(self.refine, Likelihood),
            # None was used, or one of the points of this table alone.
            "graph": isinstance(self.graph, graph.Rule),
        }
        return {name: getattr(self, name) for name in _PARAMETERS if needed.get(name, True)}

    def describe_graph(self) -> str:
        """Say what joins two points."""
        if self.graph is None:
            return "none: all pairs of points are used"
        return (isinstance(self.graph, graph.Rule) and self.graph.describe()) or "as given"

    def reasons_in_words(self) -> dict[str, str]:
        """Why each setting that was "auto" is what it is; settings with one reason together."""
        return {", ".join(n).replace("_", " "): r for r, n in self._names_by_reason().items()}

    def _names_by_reason(self) -> dict[str, list[str]]:
        """Return the settings that each reason is for."""
        names: dict[str, list[str]] = {}
        for name, reason in self.reasons.items():
            names.setdefault(reason, []).append(name)
        return names


def _object(name: str, value: Any, *classes: type) -> Any:
    """Object that a name stands for, "auto", or the checked object itself."""
    kinds = CLASSES[name]
    if isinstance(value, (*kinds.values(), *classes)):
        value.check()  # type: ignore[attr-defined]
        # The parameters of an object that was given may be set to others.
        return copy(value)
    module = "strategies" if name == "strategy" else name
    one_of(("auto", *kinds), f", or an object from ikd_graph.{module}")(name, value)
    return value if value == "auto" else kinds[value]()


def _graph(value: Any) -> Any:
    """Rule that was asked for, "auto", or a graph of the rows as it was given."""
    if value is None or isinstance(value, str | bool | np.bool_):
        if value != "auto":
            raise ValueError(
                "graph must be 'auto', a threshold in (0, 1), a number of neighbors, an object "
                f"from ikd_graph.graph, or a graph of the rows; got {value!r}"
            )
    elif isinstance(value, int | np.integer):
        cure = "a whole number is one of neighbors"
        return graph.Neighbors(whole(1, cure=cure)("graph", value))
    elif isinstance(value, float | np.floating):
        return graph.Threshold(fraction("graph", float(value)))
    elif isinstance(value, Rule):
        value.check()
        return copy(value)
    return value
