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

    ``verbose=0`` is silent, 1 shows a bar when standard error is a terminal. ``total`` is how many
    stages there are, or a guess that `expect` corrects.
    """

    def __init__(self, verbose: int = 0, total: int = 8) -> None:
        self.seconds: dict[str, float] = {}
        shape = "{desc:<24}{bar}| {n_fmt}/{total_fmt} {elapsed}"
        self._bar = progress_bar(verbose, total=total, bar_format=shape)

    def expect(self, remaining: int) -> None:
        """Set how many stages are still to come."""
        if self._bar is not None:
            self._bar.total = self._bar.n + remaining

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
                self._bar.refresh()

    def close(self) -> None:
        """Take the bar off the terminal."""
        if self._bar is not None:
            self._bar.close()
