"""Parameters as words of a command: a name, a number, or ``name:key=value,key=value``."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import graph
from .._base.format import Spelling, in_python
from .._base.validation import one_of
from ..estimator import IKD
from ..settings import CLASSES
from .parser import METHOD, read_value, split

_DEFAULTS = {**IKD().get_params(deep=False), "output": Path()}


def read_object(name: str, value: Any) -> Any:
    """Return what a parameter is given: the word itself, or the object that it describes.

    Examples
    --------
    >>> read_object("kernel", "matern:nu=2.5"), read_object("graph", 10)
    (Matern(length_scale=1.0, nu=2.5), 10)
    """
    if not isinstance(value, str) or name not in CLASSES:
        return value
    word, colon, options = value.partition(":")
    kinds = CLASSES[name]
    if colon:
        one_of(kinds)(name, word)
    # The names of rules for graphs are none in Python.
    elif name != "graph" or word not in kinds:
        return value
    pairs = [pair.partition("=") for pair in split(options)]
    for key, _, _ in pairs:
        one_of(kinds[word]().get_params())(f"a parameter of {word}", key)
    return kinds[word](**{key: read_value(text) for key, _, text in pairs})


def method_parameters(typed: Mapping[str, Any], **fixed: Any) -> dict[str, Any]:
    """Return the parameters of `IKD` that were typed, and those that a command fixes."""
    parameters = {name: read_object(name, typed[name]) for name in METHOD if name in typed}
    parameters |= fixed
    rule = parameters.get("graph")
    if isinstance(rule, graph.Threshold) and typed.get("remove_mean_row"):
        rule.n_removed = 1
    # A wrong word is told before a file is read.
    IKD(**parameters).check_parameters()
    return parameters


def value_text(name: str, value: Any) -> str:
    """Return a value of a parameter as it is typed.

    Examples
    --------
    >>> value_text("graph", graph.Neighbors(7, mutual=True))
    'neighbors:k=7,mutual=yes'
    >>> value_text("graph", graph.Threshold(0.3))
    '0.3'
    >>> value_text("refine", None), value_text("drop", ("a", "b,c"))
    ('none', 'a,b?c')
    """
    words = {kind: key for key, kind in CLASSES.get(name, {}).items()}
    if type(value) in words:
        usual = type(value)().get_params()
        changed = {key: v for key, v in value.get_params().items() if v != usual[key]}
        if changed.keys() in ({"s0"}, {"k"}):
            return str(*changed.values())
        pairs = ",".join(f"{key}={value_text(key, v)}" for key, v in changed.items())
        return f"{words[type(value)]}:{pairs}".rstrip(":")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        # A comma within a name is the joker that it needs.
        return ",".join(str(each).replace(",", "?") for each in value)
    return "none" if value is None else str(value)


def settings_flags(flags: Mapping[str, str], settings: Mapping[str, Any]) -> list[str]:
    """Return words of a command that spell out settings, defaults of `IKD` left out.

    Examples
    --------
    >>> settings_flags({"refine": "--refine", "na": "--na"}, {"refine": None, "na": ("-1",)})
    ['--refine', 'none', '--na=-1']
    """
    words: list[str] = []
    for name, value in settings.items():
        if name in _DEFAULTS and value == _DEFAULTS[name]:
            continue
        if value is True:
            words.append(flags[name])
            continue
        text = value_text(name, value)
        # A name may begin with a dash.
        words += [f"{flags[name]}={text}"] if text.startswith("-") else [flags[name], text]
    return words


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as names and numbers, for JSON; what is "auto" is left out.

    Examples
    --------
    >>> plain_settings({"graph": graph.Neighbors(7), "kernel": "auto", "refine": None})
    {'graph': '7', 'refine': None}
    """
    return {
        name: value if value is None or isinstance(value, (int, float)) else value_text(name, value)
        for name, value in settings.items()
        if not (isinstance(value, str) and value == "auto")
    }


def as_flags(flags: Mapping[str, str]) -> Spelling:
    """Return how messages spell a parameter that has a flag (see `ikd_graph._base.format`)."""

    def spelling(name: str, *value: Any) -> str:
        if name not in flags:
            return in_python(name, *value)
        if not value:
            return flags[name]
        # A value that is the default is one, too.
        words = settings_flags(flags, {name: value[0]})
        return shlex.join(words or [flags[name], value_text(name, value[0])])

    return spelling
