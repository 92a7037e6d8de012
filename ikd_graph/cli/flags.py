"""What the flags of a command stand for in Python, and the inverse."""

import argparse
import inspect
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .. import graph, kernels, missing, refine, strategies
from .._base.validation import check_choice
from ..datasets import Reading
from ..estimator import IKD
from .parser import FLAGS, flag_of


def defaults_of(function: Any) -> dict[str, Any]:
    """Parameters of a function or class with their defaults."""
    parameters = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


_OBJECTS: dict[str, Mapping[str, type]] = {
    "strategy": strategies.STRATEGIES,
    "graph": {"threshold": graph.Threshold, "neighbors": graph.Neighbors},
    "refine": refine.REFINEMENTS,
    "missing": missing.RULES,
}
_KINDS = (IKD, *(kind for kinds in _OBJECTS.values() for kind in kinds.values()))
_PARAMETERS = {name: value for kind in _KINDS for name, value in defaults_of(kind).items()}
_DEFAULTS: dict[str, Any] = _PARAMETERS | {"n_components": "", "graph": None, "refine": ""}


def method_parameters(arguments: argparse.Namespace, **fixed: Any) -> dict[str, Any]:
    """Parameters of `IKD` for the flags that were typed, and for those that a command fixes."""
    options = {name: value for name, value in vars(arguments).items() if name in FLAGS} | fixed
    valid = defaults_of(IKD)
    if isinstance(options.get("kernel"), str):
        options["kernel"] = read_kernel(options["kernel"])
    parameters = {name: options.pop(name) for name in [*options] if name in valid}
    for name, kinds in _OBJECTS.items():
        fields = {field for kind in kinds.values() for field in defaults_of(kind)}
        own = {field: options[field] for field in options if field in fields}
        if name in parameters or own:
            parameters[name] = _parameter(name, parameters.get(name, "auto"), own)
    rule = parameters.get("graph")
    if (
        rule is not None
        and hasattr(rule, "n_removed")
        and getattr(arguments, "remove_mean_row", False)
    ):
        rule.n_removed = 1
    # A wrong word is told before a file is read.
    IKD(**parameters).check_parameters()
    return parameters


def _parameter(name: str, value: Any, options: dict[str, Any]) -> Any:
    """Return a value of ``--strategy``, ``--graph`` or ``--refine`` with its flags."""
    kinds = _OBJECTS[name]
    if value == "auto" and "fdr" in options:
        value = "threshold"
    if name == "graph" and isinstance(value, (int, float)) and options:
        options = {"s0" if isinstance(value, float) else "k": value, **options}
        value = "threshold" if isinstance(value, float) else "neighbors"
    fields = defaults_of(kinds[value]) if value in kinds else {}
    for field in options.keys() - fields:
        owners = [key for key, kind in kinds.items() if field in defaults_of(kind)]
        raise ValueError(
            f"{FLAGS[field]} goes with --{name} {' or '.join(owners)}, got --{name} {value}"
        )
    return kinds[value](**options) if options or value in ("threshold", "neighbors") else value


def settings_flags(settings: Any) -> list[str]:
    """Return flags that spell out parameters of `IKD`, or settings of a fit.

    Examples
    --------
    >>> settings_flags({"graph": graph.Neighbors(7, mutual=True), "refine": None})
    ['--graph', '7', '--mutual', '--refine', 'none']
    """
    words: list[str] = []
    for name, value in plain_settings(settings).items():
        if _DEFAULTS[name] is False:
            words += [FLAGS[name]] if value else []
        elif value != _DEFAULTS[name]:
            text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
            words += [FLAGS[name], text.lower()]
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
        names = {kind: key for key, kind in _OBJECTS.get(name, {}).items()}
        if type(value) in names:
            options = value.get_params()
            number = options.pop("s0", options.pop("k", "auto"))
            plain[name] = names[type(value)] if number == "auto" else number
            plain |= {field: options[field] for field in options if field in FLAGS}
        elif isinstance(value, kernels.StationaryKernel):
            names = {kind: key for key, kind in kernels.KERNELS.items()}
            shape = ",".join(f"{key}={number!r}" for key, number in vars(value).items())
            plain[name] = f"{names[type(value)]}:{shape}"
        elif name in FLAGS and not (isinstance(value, str) and value == "auto"):
            plain[name] = value
    return plain


_ATTRIBUTES = {
    " (standard_errors_)": " (columns se_1, se_2, ... of the embedding)",
    "; str(joints_) lists the joints": "",
}
"""What messages call attributes of a model, and where a command has them."""


def in_flags(text: str) -> str:
    """Return a message that names parameters as they are passed in Python, in flags.

    Examples
    --------
    >>> in_flags("n_components must be an integer; refine=None or graph=0.3 would do")
    '--components must be an integer; --refine None or --graph 0.3 would do'
    """
    for name in (*FLAGS, "n_draws", "max_rows", "header", "impute"):
        flag = flag_of(name)
        # What a user named stands in quotes.
        word = rf"(?<![\w'\"-]){name}"
        text = re.sub(rf"{word}=(?:'([\w.]+)'|([\w.]*\w))", rf"{flag} \1\2", text)
        # A name that is a plain word is a parameter only where a message is about it.
        text = re.sub(rf"{word}\b(?![('\"=])" if "_" in name else rf"^{word}(?= must )", flag, text)
    for python, words in _ATTRIBUTES.items():
        text = text.replace(python, words)
    return text


def read_kernel(text: str) -> Any:
    """Kernel from its name alone, or from a name, a colon and parameters, as ``matern:nu=2.5``.

    Examples
    --------
    >>> read_kernel("matern:nu=2.5")
    Matern(length_scale=1.0, nu=2.5)
    """
    name, colon, shape = text.partition(":")
    if not colon:
        return name
    pairs = [pair.partition("=") for pair in shape.split(",")]
    try:
        kind = type(kernels.get(name))
        for key, _, _ in pairs:
            check_choice(f"a parameter of {name}", key.strip(), inspect.signature(kind).parameters)
        return kind(**{key.strip(): float(value) for key, _, value in pairs})
    except ValueError as error:
        raise ValueError(f"kernel must read like matern:nu=2.5, got {text!r} ({error})") from None


_INTERNAL = ("keep_missing", "model_columns", "steps")
"""Fields of `Reading` that are no flags."""


def reading(arguments: argparse.Namespace) -> Reading:
    """How the file is to be read."""
    names = [name for name in vars(Reading()) if name not in _INTERNAL]
    given = {name: getattr(arguments, name) for name in names}
    rule = getattr(arguments, "missing", None)
    takes = rule not in (None, "error")
    if takes and given["impute"] is not None:
        raise ValueError(
            f"--missing {rule} and --impute {given['impute']} must not be given together: "
            "--impute fills every missing cell before the method sees one; leave one of them out"
        )
    # Missing cells are the method's where it takes them.
    return Reading(**given, keep_missing=takes)


def reading_for_model(asked: Reading, model: IKD) -> Reading:
    """How the file of new rows is to be read: as that of the model, and its rows treated alike.

    Raises
    ------
    ValueError
        If a flag asks for what was not done to the rows of the model.
    """
    own = getattr(model, "preprocessor_", None)
    columns = getattr(model, "feature_names_in_", ())
    asked = replace(asked, model_columns=tuple(columns), keep_missing=model.missing != "error")
    steps = {
        "impute": "impute", "transform": "function", "scale": "scale",
        "standardize_rows": "standardize_rows", "remove_mean_row": "remove_mean_row",
    }  # fmt: skip
    done = {} if own is None else {name: getattr(own, kept) for name, kept in steps.items()}
    for name in steps:
        value = getattr(asked, name)
        if own is None and value and name in ("impute", "scale", "remove_mean_row"):
            raise ValueError(
                f"{flag_of(name)} must not be given for this model, got {value!r}: what it does "
                "to a row depends on the other rows of a file; save a model with "
                "embed --save-model, which keeps what was learnt from its rows"
            )
        if own is not None and value and value != done[name]:
            what = f"with {flag_of(name)} {done[name]}" if done[name] else "without it"
            raise ValueError(
                f"{flag_of(name)} must be that of the model, which was fitted {what}, got "
                f"{value!r}; leave it out: place does to new rows what was done to those of the "
                "model"
            )
    if own is None:
        return asked
    codes = tuple(f"{code:.17g}" for code in own.na)
    return replace(asked, **done, steps=own, na=(*asked.na, *codes))


def reading_flags(arguments: argparse.Namespace) -> list[str]:
    """Return the flags that were given, as words of a command."""
    words: list[str] = []
    for name, default in vars(Reading()).items():
        value: Any = getattr(arguments, name, default)
        flag = flag_of(name)
        if value is True:
            words.append(flag)
        elif value != default:
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            # A name may begin with a dash.
            words += [f"{flag}={text}"] if text.startswith("-") else [flag, text]
    return words
