"""What the command says, and how it ends."""

from __future__ import annotations

import json
import logging
import os
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

PROG = "ikd-graph"
_CONTROL = ("Cc", "Cf", "Cs", "Zl", "Zp")  # categories of letters that steer a terminal


def say(text: str = "") -> None:
    """Write a line to standard output, in what letters it has."""
    # Spaces inside numbers are for pages; a terminal's reader may want to copy or search them.
    if sys.stdout is None:
        # Closed before the command began.
        return
    line = printable(text.replace("\u202f", "")) + "\n"
    coding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(line.encode(coding, "replace").decode(coding))


def printable(text: str) -> str:
    """Text whose control characters are spelt out: names from files may hold any.

    Examples
    --------
    >>> len(printable(chr(27) + "[31m")), len(printable("[31m"))
    (10, 4)
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter == "\n" or unicodedata.category(letter) not in _CONTROL
        else json.dumps(letter)[1:-1]
        for letter in text
    )


def flush() -> None:
    """Let what was said be seen."""
    if sys.stdout is not None:
        sys.stdout.flush()


def complain(kind: str, text: str, more: Sequence[str] = ()) -> None:
    """Write a line about what is wrong, and of what kind that is, to standard error.

    Each of ``more`` gets a line of its own below it.
    """
    if sys.stderr is None:
        return
    lines = [f"{PROG}: {kind}: {' '.join(text.split())}", *(f"  {line}" for line in more)]
    lines = [printable(line) for line in lines]
    # Where nobody can hear it, the exit code says it.
    with suppress(OSError):
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()


@contextmanager
def plain_warnings(wording: Callable[[str], str]) -> Iterator[list[str]]:
    """Show warnings as one plain line each, without the place in the code; gives those shown.

    ``wording`` says what was worded for Python in the words of the command.
    """
    heard: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)

        def show(message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
            text = wording(" ".join(str(message).split()))
            heard.append(text)
            complain("warning", text)

        warnings.showwarning = show
        yield heard


@contextmanager
def told_of_waits(loud: bool) -> Iterator[None]:
    """Show on standard error, if ``loud``, what takes long only once: compiling."""
    log = logging.getLogger(__name__.partition(".")[0])
    handler, level = logging.StreamHandler(), log.level
    handler.setFormatter(logging.Formatter(f"{PROG}: note: %(message)s"))
    if loud:
        log.addHandler(handler)
        log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def close_pipe() -> None:
    """End quietly after the reader of standard output has gone away."""
    # The interpreter flushes standard output when it ends and would complain then.
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def facts(rows: list[tuple[str, str]]) -> None:
    """Write names and values in two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        say(f"  {name:<{width}}  {value}")
