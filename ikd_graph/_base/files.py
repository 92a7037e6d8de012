"""Files are written whole or not at all."""

import errno
import os
import secrets
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

Content = str | bytes | Callable[[BinaryIO], object]
"""Text (stored as UTF-8), bytes, or a function that writes to an open binary file."""


def write_whole(path: str | os.PathLike[str], content: Content) -> Path:
    """Write a file under another name in the same folder, then rename it.

    A reader sees the old file or the new one, never half of one, also when the writing process is
    interrupted or the disk is full. ``content`` is text (stored as UTF-8), bytes, or a function
    that writes to an open binary file; the folder must exist. A link stays one: what it leads to
    is written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(folder + "/note.txt", "whole").read_text()
    'whole'
    """
    target = Path(path)
    return write_together(target.parent, {target.name: content})[0]


def write_together(folder: str | os.PathLike[str], files: Mapping[str, Content]) -> list[Path]:
    """Write files into a folder that exists: all of them appear, or none does.

    All are written under other names first, which is where disks are full and contents fail.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_together(folder, {"a.txt": "a", "b.txt": "b"})]
    ['a.txt', 'b.txt']
    """
    if not Path(folder).is_dir():
        raise FileNotFoundError(errno.ENOENT, "the folder to write to must exist", str(folder))
    paths = [Path(folder) / name for name in files]
    targets = [_target_of(path) for path in paths]
    mark = secrets.token_hex(4)
    # Short, whatever the name is: names have a largest length.
    drafts = [path.with_name(f".{number}.{mark}.part") for number, path in enumerate(targets)]
    try:
        for draft, target, content in zip(drafts, targets, files.values(), strict=True):
            try:
                _write(draft, content)
            except OSError as error:
                # A full disk does not say for which file it was.
                raise OSError(error.errno, error.strerror, str(target)) from error
            if target.exists():
                draft.chmod(target.stat().st_mode)
        for draft, target in zip(drafts, targets, strict=True):
            draft.replace(target)
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)
    return paths


def _target_of(path: Path) -> Path:
    """Return the file that a path leads to, over links; raise OSError where none can be written."""
    target = Path(os.path.realpath(path))
    there, is_file = os.path.lexists(target), target.is_file()
    for is_wrong, number, rule in (
        (target.is_dir(), errno.EISDIR, "a folder is where a file should be"),
        # Renaming would put a file in its place, and whoever reads from it would wait for ever.
        (there and not is_file, errno.EINVAL, "a pipe or a device is where a file should be"),
        (is_file and not os.access(target, os.W_OK), errno.EACCES, "a file must be writable"),
    ):
        if is_wrong:
            raise OSError(number, rule, str(path))
    return target


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


def check_writable(folder: str | os.PathLike[str], name: str = "") -> None:
    """Raise OSError if a folder, which may have to be made, cannot take a file of a name."""
    path = Path(folder).absolute()
    ancestor = next(parent for parent in (path, *path.parents) if parent.exists())
    if not ancestor.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "a file is where a folder should be", str(ancestor))
    # A file that has a name, since names have a largest length.
    with tempfile.NamedTemporaryFile(dir=ancestor, prefix=name or None):
        pass
