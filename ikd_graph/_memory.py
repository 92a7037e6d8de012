"""How much memory there is to take."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def available() -> int | None:
    """Bytes to be had without swapping, by the machine and its container.

    Where the machine tells nothing else it is all physical memory; None where nothing is known.
    """
    known = [one for one in (_of_machine(), _of_container()) if one is not None]
    return min(known) if known else None


def _of_container() -> int | None:
    """What a control group leaves, None without a limit."""
    for limit, used in _CGROUPS:
        try:
            return max(int(limit.read_text()) - int(used.read_text()), 0)
        except (OSError, ValueError):
            continue
    return None


def _of_machine() -> int | None:
    """Bytes to be had without swapping, else all physical memory."""
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
