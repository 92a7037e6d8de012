"""Flags of a fit, what they stand for in Python, and settings of a fit as flags."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Container, Mapping
from typing import Any

from .. import graph, kernels, refine, similarity, strategies
from ..estimator import IKD

# fmt: off
FLAGS = {
    "n_components": ("--components", "M|auto", "number of hidden coordinates; default: 2"),
    "strategy": ("--strategy", "auto|geodesic|blockwise|eigen|linear", "geodesic fills gaps of the "
        "graph with shortest paths, blockwise embeds cliques and merges them, eigen inverts all "
        "covariances, linear takes principal components"),
    "graph": ("--graph", "auto|S0|K|threshold|neighbors", "which similarities are trusted: those "
        "above a threshold (0.3), those of nearest neighbours (10), or either, its number chosen"),
    "affinity": ("--affinity", "NAME", "how rows are compared: auto, "
        f"{', '.join((*similarity.AFFINITIES, *similarity.GIVEN))}"),
    "kernel": ("--kernel", "NAME[:PARAM=VALUE]", f"auto, {', '.join(kernels.KERNELS)}"),
    "refine": ("--refine", "auto|stress|likelihood|none", "optional second step"),
    "missing": ("--missing", "error|pairwise", "what to do about missing cells"),
    "n_landmarks": ("--landmarks", "auto|N|none", "number (or fraction) of points that distances "
        "are measured from; none measures all"),
    "n_jobs": ("--jobs", "N", "number of threads, -1 for all cores"),
    "random_state": ("--seed", "N", "seed of landmarks and restarts"),
    "path": ("--path", "distance|covariance", "geodesic: what paths add up"),
    "merge": ("--merge", "global|greedy", "blockwise: how cliques are merged"),
    "max_cliques": ("--max-cliques", "N", "blockwise: at most so many cliques are solved"),
    "reference": ("--reference", "NAME", "origin of inner products: center, min_max, min_mean"),
    "n_neighbors": ("--neighbors", "K", "threshold: also join points to K nearest neighbours"),
    "fdr": ("--fdr", "RATE", "threshold: significantly correlated pairs are edges, with this false "
        "discovery rate, such as 0.01"),
    "mutual": ("--mutual", "", "neighbors: keep edges only between neighbours of each other"),
    "search": ("--search", "auto|exact|approximate", "neighbors: how they are searched"),
    "prune": ("--prune", "auto|yes|no", "graph: remove edges that are short cuts"),
    "disconnected": ("--disconnected", "join|raise", "graph: join components or refuse them"),
    "restarts": ("--restarts", "N", "likelihood: number of further starts"),
    "fit_shape": ("--fit-shape", "", "likelihood: fit the shape of the kernel too"),
    "time_budget": ("--time-budget", "SECONDS", "likelihood: begin no start after this time"),
}
# fmt: on
"""Flag, values and help of every parameter of `IKD` and of the objects that it takes."""
_OBJECTS: dict[str, dict[str, type]] = {
    "strategy": dict(strategies.STRATEGIES),
    "graph": {"threshold": graph.Threshold, "neighbors": graph.Neighbors},
    "refine": dict(refine.REFINEMENTS),
}
_DEFAULTS: dict[str, Any] = {"random_state": None, "graph": None} | {
    name: parameter.default
    for kinds in _OBJECTS.values()
    for kind in kinds.values()
    for name, parameter in inspect.signature(kind).parameters.items()
}
_WORDS = {"none": None, "true": True, "yes": True, "false": False, "no": False}


def add_method_flags(parser: argparse.ArgumentParser, only: Container[str] = FLAGS) -> None:
    """Give a parser flags of a fit, none of which has a default of its own."""
    group = parser.add_argument_group("method", "as in ikd_graph.IKD, which chooses what is auto")
    for name, (flag, values, text) in FLAGS.items():
        if name not in only:
            continue
        more: dict[str, Any] = {"action": "store_true"}
        if values:
            kind = read_kernel if name == "kernel" else read_value
            more = {"type": kind, "metavar": values}
        group.add_argument(flag, dest=name, default=argparse.SUPPRESS, help=text, **more)


def method_parameters(arguments: argparse.Namespace, **fixed: Any) -> dict[str, Any]:
    """Parameters of `IKD` for the flags that were given, and for those that a command fixes."""
    typed = {name: value for name, value in vars(arguments).items() if name in FLAGS} | fixed
    known = inspect.signature(IKD).parameters
    parameters = {name: value for name, value in typed.items() if name in known}
    options = {name: value for name, value in typed.items() if name not in known}
    for name, kinds in _OBJECTS.items():
        fields = {field for kind in kinds.values() for field in inspect.signature(kind).parameters}
        own = {field: options[field] for field in fields & options.keys()}
        if name in parameters or own:
            parameters[name] = _parameter(name, parameters.get(name, "auto"), own)
    rule = parameters.get("graph")
    if isinstance(rule, graph.Threshold) and getattr(arguments, "remove_mean_row", False):
        rule.n_removed = 1
    return parameters


def _parameter(name: str, value: Any, options: dict[str, Any]) -> Any:
    """A value of ``--strategy``, ``--graph`` or ``--refine`` with the flags that belong to it."""
    kinds = _OBJECTS[name]
    if value == "auto" and "fdr" in options:
        value = "threshold"
    if name == "graph" and isinstance(value, (int, float)) and options:
        options = {"s0" if isinstance(value, float) else "k": value, **options}
        value = "threshold" if isinstance(value, float) else "neighbors"
    fields = inspect.signature(kinds[value]).parameters if value in kinds else {}
    for field in options.keys() - fields:
        owners = [key for key, kind in kinds.items() if field in inspect.signature(kind).parameters]
        raise ValueError(
            f"{FLAGS[field][0]} goes with --{name} {' or '.join(owners)}, got --{name} {value}"
        )
    return kinds[value](**options) if options or value in ("threshold", "neighbors") else value


def used_flags(arguments: argparse.Namespace, settings: Any) -> list[str]:
    """Flags that repeat a fit: of its settings, and of what else was given.

    A kernel that the likelihood chose is chosen again, since the closed form had another.
    """
    used = {name: value for name, value in plain_settings(settings).items() if name != "kernel"}
    return settings_flags({**method_parameters(arguments), **used})


def settings_flags(settings: Any) -> list[str]:
    """Flags that spell out parameters of `IKD`, or settings of a fit.

    Examples
    --------
    >>> settings_flags({"graph": graph.Neighbors(7, mutual=True), "refine": None})
    ['--graph', '7', '--mutual', '--refine', 'none']
    """
    words: list[str] = []
    for name, value in plain_settings(settings).items():
        flag, values, _ = FLAGS[name]
        if not values:
            words += [flag] if value else []
        elif name not in _DEFAULTS or value != _DEFAULTS[name]:
            text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
            words += [flag, text.lower()]
    return words


def plain_settings(settings: Any) -> dict[str, Any]:
    """Parameters of `IKD`, or settings of a fit, as names and numbers; what is "auto" is left out.

    Examples
    --------
    >>> plain_settings({"strategy": strategies.Geodesic(), "kernel": kernels.Matern(nu=2.5)})
    {'strategy': 'geodesic', 'path': 'distance', 'reference': 'center', 'kernel': \
'matern:length_scale=1.0,nu=2.5'}
    """
    plain: dict[str, Any] = {}
    for name, value in (settings if isinstance(settings, Mapping) else vars(settings)).items():
        kind = next(
            (key for key, made in _OBJECTS.get(name, {}).items() if type(value) is made), ""
        )
        if kind:
            options = value.get_params()
            number = options.pop("s0", options.pop("k", "auto"))
            plain[name] = kind if number == "auto" else number
            plain |= {field: options[field] for field in options if field in FLAGS}
        elif isinstance(value, kernels.StationaryKernel):
            kind = next(key for key, made in kernels.KERNELS.items() if type(value) is made)
            shape = ",".join(f"{key}={part!r}" for key, part in vars(value).items())
            plain[name] = f"{kind}:{shape}"
        elif name in FLAGS and not (isinstance(value, str) and value == "auto"):
            plain[name] = value
    return plain


def in_flags(text: str) -> str:
    """A message that names parameters as they are passed in Python, in flags.

    Examples
    --------
    >>> in_flags("n_components must be an integer; refine=None or graph=0.3 would do")
    '--components must be an integer; --refine None or --graph 0.3 would do'
    """
    more = {"n_draws": ("--n-draws",), "n_splits": ("--splits",), "max_rows": ("--max-rows",)}
    for name, (flag, *_) in {**FLAGS, **more}.items():
        # What a user named stands in quotes.
        word = rf"(?<![\w'\"-]){name}"
        text = re.sub(rf"{word}=(?:'([\w.]+)'|([\w.]*\w))", rf"{flag} \1\2", text)
        # A name that is a plain word is a parameter only where a message is about it.
        text = re.sub(rf"{word}\b(?![('\"=])" if "_" in name else rf"^{word}(?= must )", flag, text)
    return text


def read_value(text: str) -> Any:
    """Value of a flag: none, yes, no, a whole number, a number, or a name.

    Examples
    --------
    >>> read_value("none"), read_value("7"), read_value("0.3"), read_value("auto")
    (None, 7, 0.3, 'auto')
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_kernel(text: str) -> Any:
    """Kernel from its name alone, or from a name, a colon and parameters, as ``matern:nu=2.5``.

    Examples
    --------
    >>> read_kernel("matern:nu=2.5")
    Matern(length_scale=1.0, nu=2.5)
    """
    name, colon, rest = text.partition(":")
    if not colon:
        return name
    pairs = [part.partition("=") for part in rest.split(",")]
    try:
        return type(kernels.get(name))(**{key.strip(): float(value) for key, _, value in pairs})
    except (TypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(
            f"kernel must read like matern:nu=2.5, got {text!r} ({error})"
        ) from None
