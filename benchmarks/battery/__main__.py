"""Measure a half of the battery: `python benchmarks/battery --half develop --out results`.

Rules are chosen on the develop half. The confirm half is looked at once, when nothing will be
changed any more, and both are reported. No rule may name or recognize a set.

Fits that are in the file already are not made again: give another folder for other code. Set
OMP_NUM_THREADS=1 for CPU seconds that can be compared. Sets whose packages are not installed are
left out with a reason (requirements.txt lists them); some need $IKD_GRAPH_DATA.
"""

import argparse
import sys
from pathlib import Path

# `python benchmarks/battery` runs this file without its package.
sys.path.insert(0, str(Path(__file__).parent.parent))

from battery.run import run
from battery.table import write


def parse(argv=None):
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python benchmarks/battery", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--half", choices=("develop", "confirm"), required=True)
    add("--methods", type=words, default=["default", "named", "peers"], metavar="A,B",
        help="default, named, peers, or names such as cosine+stress,pca")  # fmt: skip
    add("--dims", type=numbers, default=[2, 5, 3, 10], metavar="M,M")
    add("--seeds", type=numbers, default=[0], metavar="S,S", help="seeds of the simulators")
    add("--likelihood", type=int, nargs="?", const=300, default=0, metavar="ROWS",
        help="named settings with the likelihood polish too, up to so many rows (300)")  # fmt: skip
    add("--only", metavar="REGEX", help="sets whose names match")
    add("--out", type=Path, default=Path("results"), help="folder of HALF.jsonl, .md and .csv")
    add("--table", action="store_true", help="write the table of what there is, and fit nothing")
    return parser.parse_args(argv)


def words(text):
    """Words between commas."""
    return text.split(",")


def numbers(text):
    """Integers between commas."""
    return [int(word) for word in words(text)]


def main(argv=None):
    """Fit what is missing, then write the table."""
    given = parse(argv)
    path = given.out / f"{given.half}.jsonl"
    if not given.table:
        run(given.half, given.methods, given.dims, given.out,
            likelihood_rows=given.likelihood, seeds=given.seeds, only=given.only)  # fmt: skip
    print(write(path))


if __name__ == "__main__":
    main()
