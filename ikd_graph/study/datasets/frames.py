"""Tables that pandas reads: .parquet, and sheets of .xlsx."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._suggest import suggest
from ._reading import Reading, listed, package, refuse
from ._record import plain_texts
from ._table import Table, from_cells

_MOST_CELLS = 10_000_000
"""Cells that a sheet may have: more take minutes, and come of a cell far away from the table."""


def read_parquet(path: Path, reading: Reading) -> Table:
    """Read a .parquet table; its index names the rows."""
    refuse(reading, path, ["key", "bin"])
    package("pyarrow", path)
    frame = package("pandas", path).read_parquet(path)
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
    """Read the first sheet of an .xlsx file, or the one that is the key."""
    refuse(reading, path, ["bin"])
    package("openpyxl", path)
    with package("pandas", path).ExcelFile(path) as book:
        names = book.sheet_names
        sheet = names[0] if reading.key is None else reading.key
        if sheet not in names:
            raise ValueError(
                f"--key must name a sheet of {path.name}: {listed(names)}; got {sheet!r}"
                f"{suggest(sheet, names)}"
            )
        size = book.book[sheet].max_row or 0, book.book[sheet].max_column or 0
        if size[0] * size[1] > _MOST_CELLS:
            raise ValueError(
                f"sheet {sheet!r} of {path.name} must have at most {_MOST_CELLS} cells, got "
                f"{size[0]} rows x {size[1]} columns; delete cells far from the table"
            )
        frame = package("pandas", path).read_excel(
            book, sheet_name=sheet, header=None, dtype=object, keep_default_na=False
        )
    rows = [[_text(cell) for cell in row] for row in frame.to_numpy(object).tolist()]
    rows = [row for row in rows if any(row)]
    if not rows:
        raise ValueError(
            f"sheet {sheet!r} of {path.name} must hold a table, got no cells; the file has "
            f"{listed(names)}: --key names another"
        )
    table = from_cells(path.name, rows, reading)
    if len(names) > 1:
        table.header += f" of sheet {sheet!r} (of {len(names)}: {listed(names, 4)})"
    return table


def _cells(column: Any) -> Any:
    """A column as numbers if its type says so, else as cells, None where missing."""
    if column.dtype.kind in "biuf" and type(column.array).__name__ != "Categorical":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.astype(object).where(column.notna(), None).to_numpy(object)


def _text(cell: Any) -> str:
    """A cell of a sheet as text: whole numbers without decimals, an error is no value."""
    if cell is None or cell != cell or str(cell).startswith("#"):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()
