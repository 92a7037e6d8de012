"""What can be told of a command before anything that takes long is imported."""

from collections.abc import Sequence
from pathlib import Path

from .._files import missing_file
from .._suggest import suggest
from .console import PROG

_FILES = {
    "embed": ("data",),
    "compare": ("data",),
    "cliques": ("data",),
    "diagnose": ("data",),
    "place": ("model", "data"),
    "verify": ("model", "data"),
}
"""What the first words after a command are; names of built-in data have no dot."""

_FIRST = "--help --quiet"
_DATA = (
    "--output --json --plotly --labels --labels-file --key --transpose --header --no-header "
    "--index --columns --drop --impute --scale --transform --standardize-rows --remove-mean-row "
    "--bin --unfold --na --decimal --thousands --measured --label-period"
)
_FIT = "--graph --kernel --affinity"
_GRAPH = "--neighbors --prune --disconnected --fdr --mutual --search --min-columns --jobs --seed"
_REFINE = "--refine --weights --noise --restarts --fit-shape --time-budget --descent --max-iter"
_BLOCKS = "--reference --merge --max-cliques --missing"
_OWN = {
    "embed": f"--save-model --components --strategy --landmarks --path {_FIT} {_GRAPH} {_REFINE} "
    f"{_BLOCKS}",
    "place": "",
    "align": f"--components --min-columns --strategy --refine {_FIT}",
    "verify": "",
    "compare": "--methods --components --n-draws --max-rows --time-limit --landmarks "
    f"{_FIT} {_GRAPH} {_REFINE}",
    "cliques": f"--limit --stability --export --components {_FIT} {_GRAPH} {_BLOCKS}",
    "diagnose": "--components --fdr --missing --seed",
}
FLAGS = {
    **{command: f"{_FIRST} {_DATA} {own}".split() for command, own in _OWN.items()},
    "datasets": _FIRST.split(),
    "warm": _FIRST.split(),
}
"""Flags of every command: the parser, which takes a second to import, has the same."""


def complaint(words: Sequence[str]) -> str | None:
    """Say which flag or file is not there; None if all are, or it cannot be told yet.

    Examples
    --------
    >>> complaint(["embed", "nowhere.csv"])
    "the data file must exist, got 'nowhere.csv'; check the spelling"
    >>> complaint(["embed", "digits", "--componets", "2"])[:66]
    "unrecognized arguments: --componets; did you mean '--components'?;"
    >>> complaint(["embed", "digits"]) is None
    True
    """
    if not words or words[0] not in FLAGS:
        return None
    if wrong := _wrong_flags(words):
        return wrong
    for kind, word in zip(_FILES.get(words[0], ()), words[1:], strict=False):
        if word.startswith("-"):
            return None
        if "." in word and not Path(word).exists():
            return missing_file(kind, Path(word))
    return None


def _wrong_flags(words: Sequence[str]) -> str | None:
    """Name flags that a command does not have."""
    known = FLAGS[words[0]]
    typed = [word for word in words[1:] if word.startswith("--") and word != "--"]
    unknown = [word for word in typed if word.partition("=")[0] not in known]
    if not unknown or "--" in words:
        return None
    near = "".join(suggest(word.partition("=")[0], known) for word in unknown)
    told = f"unrecognized arguments: {' '.join(unknown)}{near}"
    return f"{told}; {PROG} {words[0]} --help lists what there is"
