"""Every number of points at which the package changes its way, with the cost that justifies it.

Times are of one core; they grow with the square or the cube of the number of points.
"""

from contextlib import suppress
from pathlib import Path

SOLVED_WHOLE = 2000
"""All pairs have distances: .15 s. Beyond, distances are measured from landmarks."""

LANDMARKS = 300
"""Landmarks, or fifty for each coordinate where these are more: as near to the truth as all pairs
(docs/decisions/020-fast-at-every-size.md)."""

DOUBLE = 10_000
"""Rows that are worked with in double precision; more keep the precision they came in."""

DENSE_ENTRIES = 2**24
"""Entries up to which a sparse table is worked with as a dense one: 134 MB, and twice that on the
way. A larger one stays sparse; its rows are dense some thousands at a time (65 MB for 2000 columns
and 4096 rows)."""

FITTED_OF_DASK = 10_000
"""Rows of a Dask table that are fitted, the others being placed: a fit of 2 s by 50 columns. A
surface of 24 by 16 length-scales has an R² of .68 by 3000, of .99 by 10 000 (docs/large.md)."""

NEIGHBORS_EXACT = 20_000
"""Rows up to which neighbors are searched exactly (6 s for 784 columns); beyond, by faiss
(docs/decisions/005-neighbor-search.md)."""

EUCLIDEAN_ENTRIES = 100_000_000
"""Entries of a table whose Euclidean similarities the default tries: two copies in double precision
are 1.6 GB here."""

LANCZOS_FROM = 200
"""Up to here LAPACK's full spectrum (3 ms) tells the negative mass exactly; beyond, Lanczos finds
the leading eigenpairs (two of 400 points in 4 ms, where the full spectrum takes 15) and a lower
bound of that mass."""

SAMPLED = 2000
"""Rows of a sample: their moments are compared with those of a Gaussian process (13 ms), and the
generative model inverts their covariance (32 MB, 2 s)."""

SAMPLED_SCALE = 500
"""Points that choose its length-scale: a dozen eigendecompositions of 40 ms."""

DIAGNOSED = 1000
"""Points that `diagnose` looks at: a default fit of seconds."""

TESTED = 300
"""Rows and columns whose structure is compared with chance: 200 tables, 5 ms each."""

SIZED = 150
"""Rows that the number of dimensions is estimated from: four folds of .5 s."""

COMPARED = 400
"""Rows that candidates of "auto" are fitted to and halves of the columns are compared on: a fit of
.05 s, where 1000 rows take .5 s."""

COLUMNS_COMPARED = 20_000
"""Columns by which candidates are compared: 400 rows of them are 64 MB. Of 400 000 sparse ones the
comparison would take minutes."""

FEWEST_COLUMNS = 20
"""Columns below which correlations are mostly chance, and several positions of a row as likely."""

NODES = 2**31 - 1
"""Points of a graph, or of cliques: their numbers are kept in 32 bits."""


def free_memory() -> int | None:
    """Bytes to be had without swapping, by machine, container and ulimit -v; None if unknown."""
    free = []
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvail")]
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit, used = ((group / f"memory.{name}").read_text() for name in ("max", "current"))
        free.append(max(int(limit) - int(used), 0))
    # Windows has no such module.
    with suppress(ImportError, OSError, ValueError):
        from resource import RLIMIT_AS, getpagesize, getrlimit

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        # Without a limit it is -1.
        free += [max(n - pages * getpagesize(), 0) for n in getrlimit(RLIMIT_AS)[:1] if n >= 0]
    return min(free, default=None)
