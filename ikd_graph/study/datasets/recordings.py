"""Recordings (.nwb), read by pynapple: spike times counted in bins, or a series over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._suggest import suggest
from ._reading import Floats, Reading, check_size, listed, package, refuse
from ._table import Table, from_array
from .arrays import count_spikes

_MOST_BESIDE = 10  # columns of a series that may hold labels


def read_recording(path: Path, reading: Reading) -> Table:
    """Read a table from a recording, with the other series at the time of each row as labels."""
    refuse(reading, path, ["transpose"])
    series = package("pynapple", path).NWBFile(str(path))
    try:
        return _table({name: series[name] for name in list(series)}, path, reading)
    finally:
        series.close()


def _table(series: dict[str, Any], path: Path, reading: Reading) -> Table:
    """Table of the series asked for."""
    timed = {name: one for name, one in series.items() if hasattr(one, "d")}
    tables = {name: one for name, one in timed.items() if len(one.shape) == 2}
    spikes = {name: one for name, one in series.items() if type(one).__name__ == "TsGroup"}
    said = listed([*(f"{name} {one.shape}" for name, one in tables.items()), *spikes])
    names = [*spikes] or [*tables]
    if reading.key is not None:
        names = [name for name in (*spikes, *tables) if name == reading.key]
        if not names:
            raise ValueError(
                f"--key must name one series of {path.name}: {said}; got {reading.key!r}"
                f"{suggest(reading.key, (*spikes, *tables))}"
            )
    if len(names) != 1:
        raise ValueError(
            f"{path.name} must hold spike times or one table over time, got the series {said}; "
            "--key NAME chooses one"
        )
    name = names[0]
    if name in spikes:
        units = list(spikes[name].index)
        X, times, features, header = count_spikes(
            path.name, [spikes[name][unit].t for unit in units], reading.bin, units
        )
    else:
        if reading.bin is not None:
            raise ValueError(f"--bin is for spike times, got the series {name}; leave it out")
        check_size(f"{name} of {path.name}", tables[name].shape, "cut it shorter")
        X, times = np.asarray(tables[name].d), np.asarray(tables[name].t)
        features, header = (), f"none (series {name})"
    others = {key: one for key, one in timed.items() if key != name}
    return from_array(
        path.name, X, name, names=features, header=header, row_title="time",
        row_names=tuple(f"{time:.9g}" for time in times), beside=_at_times(others, times),
    )  # fmt: skip


def _at_times(series: dict[str, Any], times: Floats) -> dict[str, Floats]:
    """Each column of a series at the times of the rows: the nearest sample, NaN if none is near."""
    found: dict[str, Floats] = {}
    for name, one in series.items():
        if not len(one) or len(one.shape) > 2 or max(one.shape[1:], default=1) > _MOST_BESIDE:
            continue
        own, data = np.asarray(one.t), np.asarray(one.d, dtype=np.float64).reshape(len(one), -1)
        after = np.clip(np.searchsorted(own, times), 0, len(own) - 1)
        before = np.maximum(after - 1, 0)
        nearest = np.where(np.abs(own[after] - times) < np.abs(own[before] - times), after, before)
        steps = [float(np.median(np.diff(t))) if len(t) > 1 else 0.0 for t in (own, times)]
        data = np.where(np.abs(own[nearest] - times)[:, None] > max(steps), np.nan, data[nearest])
        flat = data.shape[1] == 1
        found |= {name if flat else f"{name}[{k}]": column for k, column in enumerate(data.T)}
    return found
