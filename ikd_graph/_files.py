"""Files are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_whole(
    path: str | os.PathLike[str], content: str | bytes | Callable[[BinaryIO], object]
) -> Path:
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
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target
