"""Recordings in NWB files: spike times counted in bins, or a series; other series as labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._reading import ArraySource, Floats, Reading, listed
from .hdf import check_fits, check_inside, is_group, opened, shape_of


class Series(NamedTuple):
    """A quantity over time."""

    path: str
    group: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the data."""
        return shape_of(self.group["data"])

    def data(self) -> NDArray[Any]:
        """Values, in the units of the file."""
        values = np.asarray(self.group["data"])
        factor = float(self.group["data"].attrs.get("conversion", 1.0))
        return values if factor == 1.0 else values * factor

    def times(self) -> Floats:
        """Time of each value in seconds."""
        if "timestamps" in self.group:
            return np.asarray(self.group["timestamps"], dtype=np.float64)
        start = self.group["starting_time"]
        steps = np.arange(self.shape[0]) / float(start.attrs["rate"])
        return float(np.asarray(start)) + steps


class Rows(NamedTuple):
    """The table that was made of a recording."""

    X: NDArray[Any]
    times: Floats
    features: tuple[str, ...]
    words: str
    step: float  # seconds


def read_neurodata(path: Path, reading: Reading) -> ArraySource:
    """Read a table from a recording, with the other series at the time of each row as labels."""
    with opened(path) as file:
        check_inside(file, path, [name for name in file if name != "specifications"])
        series = {one.path: one for one in _find_series(file, "")}
        chosen = _chosen(series, reading, "units/spike_times" in file, path)
        table = _bins(file, reading, path) if chosen is None else _samples(chosen, path)
        others = [one for one in series.values() if one is not chosen]
        about = {name: values for one in others for name, values in _at_times(one, table)}
    return ArraySource(
        path.name,
        table.X,
        features=table.features,
        about_rows=about,
        row_names=tuple(f"{time:.9g}" for time in table.times),
        row_title="time",
        header=table.words,
    )


def _find_series(group: Any, before: str) -> Iterator[Series]:
    """Groups that hold data over time, by their path."""
    for name, item in group.items():
        if not is_group(item):
            continue
        timed = "timestamps" in item or "starting_time" in item
        if timed and "data" in item and not is_group(item["data"]):
            if item["data"].dtype.kind in "biuf" and shape_of(item["data"]):
                yield Series(before + name, item)
        else:
            yield from _find_series(item, f"{before}{name}/")


def _chosen(series: dict[str, Series], reading: Reading, units: bool, path: Path) -> Series | None:
    """The series to read; None for the spike times."""
    tables = {name: one for name, one in series.items() if len(one.shape) == 2}
    said = listed(f"{name} {one.shape}" for name, one in tables.items())
    if reading.key is not None and reading.key != "units":
        fit = [n for n in tables if reading.key in (n, n.rpartition("/")[2])]
        if len(fit) != 1:
            more = " or units" if units else ""
            raise ValueError(
                f"--key must name one series of {path.name}: {said}{more}; got {reading.key!r}"
            )
        if reading.bin is not None:
            raise ValueError(f"--bin is for spike times, got the series {fit[0]}; leave it out")
        return tables[fit[0]]
    if units:
        return None
    if len(tables) == 1:
        return next(iter(tables.values()))
    raise ValueError(
        f"{path.name} must hold spike times or one table over time, got the series {said}; "
        "--key NAME chooses one"
    )


def _bins(file: Any, reading: Reading, path: Path) -> Rows:
    """Spikes of each unit counted in bins of equal length."""
    units = file["units"]
    times = np.asarray(units["spike_times"], dtype=np.float64)
    ends = np.asarray(units["spike_times_index"], dtype=np.int64)
    if times.size == 0:
        raise ValueError(f"{path.name} must hold spikes, got none in {ends.size} units")
    first, last = float(times.min()), float(times.max())
    if reading.bin is None:
        rows = int((last - first) / 0.1) + 1
        raise ValueError(
            f"{path.name} holds spike times of {ends.size} units over {last - first:.4g} s, and "
            f"times are no rows; --bin 0.1 counts them in bins of 0.1 s ({rows} rows); choose bins "
            "in which most units fire"
        )
    n_bins = int(np.floor((last - first) / reading.bin)) + 1
    check_fits(f"the counts of {path.name}", (n_bins, ends.size), "choose a larger --bin")
    counts = np.zeros((n_bins, ends.size), dtype=np.int64)
    for unit, spikes in enumerate(np.split(times, ends[:-1])):
        places = np.minimum(((spikes - first) / reading.bin).astype(np.int64), n_bins - 1)
        counts[:, unit] = np.bincount(places, minlength=n_bins)
    names = np.asarray(units["id"]).tolist() if "id" in units else range(ends.size)
    centres = np.asarray(first + (np.arange(n_bins) + 0.5) * reading.bin, dtype=np.float64)
    words = f"the units, their spikes counted in bins of {reading.bin:g} s"
    return Rows(counts, centres, tuple(f"unit {name}" for name in names), words, reading.bin)


def _samples(series: Series, path: Path) -> Rows:
    """Samples of a series as rows."""
    check_fits(f"{series.path} of {path.name}", series.shape, "cut it shorter")
    X, times = series.data(), series.times()
    if len(times) != len(X):
        raise ValueError(
            f"{series.path} of {path.name} must have a time for each of {len(X)} samples, got "
            f"{len(times)}; check how the file was written"
        )
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    return Rows(X, times, (), f"none (series {series.path})", step)


def _at_times(series: Series, table: Rows) -> Iterator[tuple[str, Floats]]:
    """Each column of a series at the times of the rows: the nearest sample, NaN if none is near."""
    shape = series.shape
    if len(shape) > 2 or (len(shape) == 2 and shape[1] > 10) or not shape[0]:
        return
    times, data = series.times(), series.data().astype(np.float64)
    if len(times) != len(data):
        return
    after = np.clip(np.searchsorted(times, table.times), 1, max(len(times) - 1, 1))
    before = np.maximum(after - 1, 0)
    after = np.minimum(after, len(times) - 1)
    nearer = np.abs(times[after] - table.times) < np.abs(times[before] - table.times)
    nearest = np.where(nearer, after, before)
    own = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    far = np.abs(times[nearest] - table.times) > max(table.step, own)
    name = series.path.rpartition("/")[2]
    flat = data.ndim == 1 or data.shape[1] == 1
    for k, column in enumerate(data.reshape(len(data), -1).T):
        values = np.where(far, np.nan, column[nearest])
        yield name if flat else f"{name}[{k}]", values
