"""Recordings (.nwb), read by pynapple: spike times counted in bins, or a series over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ._reading import Floats, Reading, check_size, choose_table, package
from ._table import Table, asked_columns, from_array
from .arrays import count_spikes


def read_recording(path: Path, reading: Reading) -> Table:
    """Read a table from a recording, with the other series at the time of each row as labels."""
    file = package("pynapple", path.name).NWBFile(str(path))
    try:
        return _table({name: file[name] for name in list(file)}, path, reading)
    finally:
        file.close()


def _table(stored: Mapping[str, Any], path: Path, reading: Reading) -> Table:
    """Table of spike times, or of the key."""
    series = {name: item for name, item in stored.items() if hasattr(item, "d")}
    tables = {name: item.shape for name, item in series.items() if len(item.shape) == 2}
    spikes = {name: "" for name, item in stored.items() if type(item).__name__ == "TsGroup"}
    name = choose_table(path.name, {**spikes, **tables}, reading.key, [*spikes] or [*tables])
    features: tuple[str, ...] = ()
    if name in spikes:
        units = list(stored[name].index)
        vectors = [stored[name][unit].t for unit in units]
        X, times, features, header = count_spikes(path.name, vectors, reading.bin, units)
    else:
        if reading.bin is not None:
            raise ValueError(f"--bin is for spike times, got the series {name}; leave it out")
        check_size(f"{name} of {path.name}", tables[name])
        X, times = np.asarray(series[name].d), np.asarray(series[name].t)
        header = f"none (series {name})"
    beside: dict[str, Floats] = {}
    for label in series.keys() - {name}:
        item = series[label]
        if len(item) and len(item.shape) <= 2:
            values = _at_times(item, times)
            beside |= asked_columns(label, values, reading)
    return from_array(
        path.name, X, name, names=features, header=header, row_title="time",
        row_names=tuple(f"{time:.9g}" for time in times), beside=beside,
    )  # fmt: skip


def _at_times(series: Any, times: Floats) -> Floats:
    """A series at the times of the rows: the nearest sample, NaN if none is near."""
    own, values = np.asarray(series.t), np.asarray(series.d, dtype=np.float64)
    after = np.clip(np.searchsorted(own, times), 0, len(own) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(own[after] - times) < np.abs(own[before] - times), after, before)
    step = max(float(np.median(np.diff(t))) if len(t) > 1 else 0.0 for t in (own, times))
    values = values[nearest]
    values[np.abs(own[nearest] - times) > step] = np.nan
    return values
