"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

Content = str | bytes | Callable[[BinaryIO], object]
"""Text (stored as UTF-8), bytes, or a function that writes to an open binary file."""


def write_whole(path: str | os.PathLike[str], content: Content) -> Path:
    """Write a file under another name in the same folder, then rename it.

    A reader sees the old file or the new one, never half of one, also when the writing process is
    interrupted or the disk is full. ``content`` is text (stored as UTF-8), bytes, or a function
    that writes to an open binary file; the folder must exist.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(folder + "/note.txt", "whole").read_text()
    'whole'
    """
    target = Path(path)
    write_together(target.parent, {target.name: content})
    return target


def write_together(folder: str | os.PathLike[str], files: dict[str, Content]) -> list[Path]:
    """Write files into a folder that exists: all of them appear, or none does.

    All are written under other names first, which is where disks are full and contents fail.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_together(folder, {"a.txt": "a", "b.txt": "b"})]
    ['a.txt', 'b.txt']
    """
    targets = [Path(folder) / name for name in files]
    for target in targets:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder is where a file should be", str(target))
        if target.exists() and not target.is_file():
            # Renaming would put a file in its place, and whoever reads from it would wait for ever.
            raise OSError(errno.EINVAL, "a pipe or a device is where a file should be", str(target))
    mark = secrets.token_hex(4)
    # Short, whatever the name is: names have a largest length.
    parts = [Path(folder) / f".{number}.{mark}.part" for number in range(len(targets))]
    try:
        for part, content in zip(parts, files.values(), strict=True):
            _write(part, content)
        for part, target in zip(parts, targets, strict=True):
            part.replace(target)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    return targets


def _write(path: Path, content: Content) -> None:
    """Write a new file, to the disk itself."""
    with path.open("xb") as file:
        if callable(content):
            content(file)
        else:
            # Names of files may hold bytes that are no text: they are written as they are shown.
            if isinstance(content, str):
                content = content.encode("utf-8", "backslashreplace")
            file.write(content)
        file.flush()
        os.fsync(file.fileno())


def make_folder(folder: str | os.PathLike[str]) -> list[Path]:
    """Make a folder and those above it that are missing; returns those made, the deepest first."""
    path = Path(folder)
    made = []
    for one in (path, *path.parents):
        if one.exists():
            break
        made.append(one)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        remove_folders(made)
        raise
    return made


def remove_folders(folders: list[Path]) -> None:
    """Remove folders that are empty, the deepest first."""
    for one in folders:
        with suppress(OSError):
            one.rmdir()


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Raise OSError if files cannot be written to a folder; leaves nothing there."""
    made = make_folder(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    finally:
        remove_folders(made)
