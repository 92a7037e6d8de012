"""Named stages of a long computation: seconds of each, a line on a terminal, a name for Ctrl-C."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


def progress_bar(verbose: int, **settings: Any) -> Any:
    """Open a ``tqdm`` bar, which the caller closes; silent with ``verbose=0``.

    Without a terminal there is no bar but a line with its ``desc``.
    """
    from tqdm import tqdm

    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    if verbose and not on_terminal and "desc" in settings:
        _write_stage(settings["desc"])
    return tqdm(leave=False, disable=not (verbose and on_terminal), **settings)


def _write_stage(name: str) -> None:
    """Write a line with the name of a stage to standard error, where that is open."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"ikd_graph: {name} ...\n")
        sys.stderr.flush()


@contextmanager
def stage(verbose: int, name: str) -> Iterator[None]:
    """Run something that is no part of a fit under a name, which is shown as a stage is."""
    with Stages(verbose) as stages, stages(name):
        yield


class Stages:
    """Clock of the stages of a fit.

    ``verbose=0`` is silent, 1 shows stage and time on a terminal, else a line for each stage.
    """

    def __init__(self, verbose: int = 0) -> None:
        self.seconds: dict[str, float] = {}
        self._bar = progress_bar(verbose, bar_format="{elapsed} {desc}")
        self._writes_lines = bool(verbose) and self._bar.disable

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Run a stage under a name."""
        self._bar.set_description_str(name)
        if self._writes_lines and name not in self.seconds:
            _write_stage(name)
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
