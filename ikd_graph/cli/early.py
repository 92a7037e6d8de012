"""What can be told of a command before anything that takes long is imported."""

from collections.abc import Sequence
from pathlib import Path

from .._files import missing_file

_FILES = {
    "embed": ("data",),
    "compare": ("data",),
    "cliques": ("data",),
    "diagnose": ("data",),
    "place": ("model", "data"),
    "verify": ("model", "data"),
}
"""What the first words after a command are; names of built-in data have no dot."""


def complaint(words: Sequence[str]) -> str | None:
    """Say which file is not there; None if all are, or it cannot be told yet.

    Examples
    --------
    >>> complaint(["embed", "nowhere.csv"])
    "the data file must exist, got 'nowhere.csv'; check the spelling"
    >>> complaint(["embed", "digits"]) is None
    True
    """
    kinds = _FILES.get(words[0], ()) if words else ()
    for kind, word in zip(kinds, words[1:], strict=False):
        if word.startswith("-"):
            return None
        if "." in word and not Path(word).exists():
            return missing_file(kind, Path(word))
    return None
