"""Named stages of a long computation: seconds of each, a bar on a terminal, a name for Ctrl-C."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def progress_bar(verbose: int, **settings: Any) -> Any:
    """Open a ``tqdm`` bar, which the caller closes; None without a terminal or ``verbose=0``."""
    if not verbose or sys.stderr is None or not sys.stderr.isatty():
        return None
    from tqdm import tqdm

    return tqdm(leave=False, **settings)


class Stages:
    """Clock and progress bar over the stages of a fit.

    ``verbose=0`` is silent, 1 shows a bar when standard error is a terminal.
    """

    def __init__(self, verbose: int = 0, total: int = 5) -> None:
        self.seconds: dict[str, float] = {}
        self._bar = progress_bar(verbose, total=total, bar_format="{desc:<24}{bar}| {elapsed}")

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Run a stage under a name."""
        if self._bar is not None:
            self._bar.set_description_str(name)
        start = time.perf_counter()
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped during the stage {name!r}") from None
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
            if self._bar is not None:
                self._bar.update(1)

    def close(self) -> None:
        """Take the bar off the terminal."""
        if self._bar is not None:
            self._bar.close()
