"""Named stages of a long computation: seconds of each, a line on a terminal, a name for Ctrl-C."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def progress_bar(verbose: int, **settings: Any) -> Any:
    """Open a ``tqdm`` bar, which the caller closes; silent without a terminal or ``verbose=0``."""
    from tqdm import tqdm

    silent = not verbose or sys.stderr is None or not sys.stderr.isatty()
    return tqdm(leave=False, disable=silent, **settings)


class Stages:
    """Clock of the stages of a fit.

    ``verbose=0`` is silent, 1 shows stage and time when standard error is a terminal.
    """

    def __init__(self, verbose: int = 0) -> None:
        self.seconds: dict[str, float] = {}
        self._bar = progress_bar(verbose, bar_format="{elapsed} {desc}")

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Run a stage under a name."""
        self._bar.set_description_str(name)
        start = time.perf_counter()
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped during the stage {name!r}") from None
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def __enter__(self) -> Stages:
        return self

    def __exit__(self, *_: object) -> None:
        # Take the line off the terminal.
        self._bar.close()
