"""How much memory there is to take."""

import sys
from contextlib import suppress
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_STATM = Path("/proc/self/statm")
_CGROUP = Path("/sys/fs/cgroup")


def available() -> int | None:
    """Bytes to be had without swapping, by the machine and its container; None if unknown."""
    limits = []
    with suppress(OSError, ValueError, IndexError):
        lines = _MEMINFO.read_text().splitlines()
        limits += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvail")]
    with suppress(OSError, ValueError):
        limit, used = ((_CGROUP / f"memory.{name}").read_text() for name in ("max", "current"))
        limits.append(max(int(limit) - int(used), 0))
    with suppress(ImportError, OSError, ValueError, IndexError):
        limits += _left_of_address_space()
    return min(limits, default=None)


def _left_of_address_space() -> list[int]:
    """Bytes below the limit that ``ulimit -v`` sets; empty without one."""
    if sys.platform == "win32":
        return []
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return []
    used = int(_STATM.read_text().split()[0]) * resource.getpagesize()
    return [max(limit - used, 0)]
