"""Flags made from the estimator itself, so that neither can have what the other lacks."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Mapping
from typing import Any

from .. import kernels
from ..estimator import IKD
from ..show.words import settings_flags
from .parser import Parser

# Set by the command, not by its reader.
HIDDEN = ("verbose",)
ESSENTIAL = {
    "n_components": "number of hidden coordinates; auto goes by the spectrum",
    "strategy": "what is done about small covariances: geodesic replaces them by paths of large "
    "ones, blockwise solves cliques without any, eigen takes them as they are, linear takes "
    "principal components instead",
    "kernel": "how covariance falls with distance: squared_exponential, rational_quadratic, "
    "gamma_exponential or matern",
    "affinity": "how rows are compared; auto tries several",
    "n_neighbors": "neighbours of each point in the graph",
    "refine": "polish of the coordinates; none keeps the closed form",
    "n_jobs": "number of threads, -1 for all cores",
    "random_state": "seed of the landmarks with which large tables are solved",
}
"""Parameters that the short help speaks of, in a few words."""
_SHORT = {"random_state": "--seed"}


def add_method_flags(parser: Parser, leave_out: tuple[str, ...] = ()) -> None:
    """Give a parser one flag for each parameter of `IKD`, with the help of its docstring."""
    group = parser.add_argument_group(
        "method", "parameters of ikd_graph.IKD, None written as none; --help-all lists all of them"
    )
    told = parameter_help(IKD)
    for name, parameter in inspect.signature(IKD).parameters.items():
        if name in HIDDEN or name in leave_out:
            continue
        kind, text = told.get(name, ("", ""))
        flags = ["--" + name.replace("_", "-"), *([_SHORT[name]] if name in _SHORT else [])]
        added = group.add_argument(
            *flags,
            dest=name,
            metavar=_metavar(name, kind),
            type=read_kernel if name == "kernel" else read_value,
            default=argparse.SUPPRESS,
            help=f"{ESSENTIAL[name]}; default: {str(parameter.default).lower()}"
            if name in ESSENTIAL
            else argparse.SUPPRESS,
        )
        parser.told[added] = f"{text} Default: {parameter.default}".replace("%", "%%").strip()


def method_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """Parameters of `IKD` that were given on the command line."""
    known = inspect.signature(IKD).parameters
    return {name: value for name, value in vars(arguments).items() if name in known}


def used_flags(arguments: argparse.Namespace, settings: Mapping[str, Any]) -> list[str]:
    """Flags of what was chosen, and of what else was given: kernel, merger, seed and the like."""
    return settings_flags({**method_parameters(arguments), **settings})


def read_value(text: str) -> Any:
    """Value of a flag: none, true, false, a whole number, a number, or a name.

    Examples
    --------
    >>> read_value("none"), read_value("7"), read_value("0.3"), read_value("auto")
    (None, 7, 0.3, 'auto')
    """
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
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


def parameter_help(owner: type) -> dict[str, tuple[str, str]]:
    """Type and first sentences of each parameter in a numpydoc docstring, if there is one."""
    text = inspect.getdoc(owner) or ""
    found = re.search(r"Parameters\n-+\n(.*?)(?:\n\n\w+\n-+\n|\Z)", text, re.DOTALL)
    if not found:
        return {}
    entries = re.findall(r"^(\w[\w, ]*) : (.*)\n((?:(?: +.*)?(?:\n|\Z))*)", found[1] + "\n", re.M)
    return {
        name.strip(): (kind, " ".join(body.split()))
        for names, kind, body in entries
        for name in names.split(",")
    }


def _metavar(name: str, kind: str) -> str:
    """Placeholder of a flag: its choices where they are few names, else what sort of value."""
    choices = re.search(r"\{(.*?)\}", kind)
    if name == "kernel":
        return "NAME[:PARAM=VALUE]"
    if choices:
        names = choices[1].replace('"', "").replace(" ", "").lower()
        return "{" + names + (",N" if kind.endswith("or int") else "") + "}"
    return "N" if "int" in kind.split() or kind.startswith("int") else "VALUE"
