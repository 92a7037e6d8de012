"""How much memory there is to take."""

from contextlib import suppress
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
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
    return min(limits, default=None)
