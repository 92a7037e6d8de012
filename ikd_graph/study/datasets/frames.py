"""Tables with typed columns and sheets: .parquet by pandas, .xlsx by openpyxl."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ._reading import Reading, choose_table, listed, package
from ._record import plain_texts
from ._table import Table, from_cells

_MOST_CELLS = 10_000_000
"""Cells that a sheet may have: more take minutes, and come of a cell far away from the table."""


def read_parquet(path: Path, reading: Reading) -> Table:
    """Read a .parquet table; its index names the rows."""
    package("pyarrow", path.name)
    frame = package("pandas", path.name).read_parquet(path)
    if not frame.size:
        raise ValueError(
            f"{path.name} must hold at least one row of numbers, got shape {frame.shape}"
        )
    counted = type(frame.index).__name__ == "RangeIndex"
    if reading.transpose:
        frame = frame if counted else frame.reset_index()
        cells = np.vstack([list(map(str, frame.columns)), frame.astype(object).to_numpy()])
        return from_cells(path.name, [plain_texts(row) for row in cells], reading)
    return Table(
        path.name,
        [_cells(frame.iloc[:, at]) for at in range(frame.shape[1])],
        names=tuple(map(str, frame.columns)),
        row_names=() if counted else tuple(map(str, frame.index)),
        row_title="" if counted else str(frame.index.name or ""),
        header="the names of the columns",
    )


def read_sheet(path: Path, reading: Reading) -> Table:
    """Read the first sheet of an .xlsx file, or the key."""
    with warnings.catch_warnings():
        # Of styles and extensions, which hold no values.
        warnings.simplefilter("ignore")
        book = package("openpyxl", path.name).load_workbook(path, read_only=True, data_only=True)
        names = book.sheetnames
        key = choose_table(path.name, dict.fromkeys(names, ""), reading.key, names[:1])
        sheet = book[key]
        # What a file declares of its size may be missing or wrong.
        sheet.reset_dimensions()
        rows: list[list[str]] = []
        n_cells = 0
        for row in sheet.iter_rows(values_only=True):
            n_cells += max(len(row), 1)
            if n_cells > _MOST_CELLS:
                raise ValueError(
                    f"sheet {key!r} of {path.name} must have at most {_MOST_CELLS} cells, got more "
                    f"in its first {len(rows)} rows; delete cells far from the table"
                )
            rows.append([_text(cell) for cell in row])
        book.close()
    width = max((len(row) for row in rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows if any(row)]
    if not rows:
        raise ValueError(
            f"sheet {key!r} of {path.name} must hold a table, got no cells; the file has "
            f"{listed(names)}: --key names another"
        )
    table = from_cells(path.name, rows, reading)
    if len(names) > 1:
        table.header += f" of sheet {key!r} (of {len(names)}: {listed(names, 4)})"
    return table


def _cells(column: Any) -> Any:
    """A column as numbers if its type says so, else as cells, None where missing."""
    if column.dtype.kind in "biuf" and type(column.array).__name__ != "Categorical":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.astype(object).where(column.notna(), None).to_numpy(object)


def _text(cell: Any) -> str:
    """A cell of a sheet as text: whole numbers without decimals, an error is no value."""
    if cell is None or str(cell).startswith("#"):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()
