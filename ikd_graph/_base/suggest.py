"""What a misspelt word may stand for."""

import difflib
from collections.abc import Iterable
from typing import Any


def suggest(word: Any, valid: Iterable[Any]) -> str:
    """Suggest the nearest valid word, as the end of a sentence; empty if nothing is near.

    Examples
    --------
    >>> suggest("grup", ["group", "dose"])
    "; did you mean 'group'?"
    """
    allowed = [str(choice) for choice in valid]
    near = difflib.get_close_matches(str(word), allowed, 1)
    return f"; did you mean {near[0]!r}?" if near else ""
