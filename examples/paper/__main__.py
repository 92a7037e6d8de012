"""Run experiments of the paper again: `python examples/paper fig4`."""

import argparse
import ast
import inspect
import sys
from pathlib import Path

# `python examples/paper` runs this file without its package.
sys.path.insert(0, str(Path(__file__).parent.parent))

from paper import NAMES, _gallery, load


def parse(argv=None):
    """Read the command line."""
    told = "\n".join(f"  {name:22}{load(name).__doc__.splitlines()[0]}" for name in NAMES)
    parser = argparse.ArgumentParser(
        prog="python examples/paper",
        description="Run experiments of the paper again; leave each table as .md and every trial "
        "as .csv, and what has pictures as .png.",
        epilog=f"experiments:\n{told}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("experiments", nargs="+", choices=NAMES, metavar="EXPERIMENT")
    parser.add_argument("--output", "-o", type=Path, default=Path(), help="folder for the results")
    parser.add_argument("--trials", type=int, help="number of data sets drawn for each cell")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first")
    parser.add_argument("--n-jobs", type=int, help="number of processes; default: 1")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", type=_setting,
        help="other arguments of `run`, such as n_features=100,200 or methods=ikd,isomap",
    )  # fmt: skip
    parser.add_argument("--quiet", "-q", action="store_true", help="print no table")
    return parser.parse_args(argv)


def _setting(text):
    """Name and value of an argument; what is no Python literal is words between commas."""
    name, _, value = text.partition("=")
    try:
        read = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        read = tuple(value.split(",")) if "," in value else value
    return name, read


def main(argv=None):
    """Run what was asked for."""
    given = parse(argv)
    how = {"seed": given.seed, "n_jobs": given.n_jobs, "verbose": 0 if given.quiet else 1}
    if given.trials is not None:
        how["n_trials"] = given.trials
    for name in given.experiments:
        run = load(name).run
        known = inspect.signature(run).parameters
        own = dict(given.set)
        for key, value in own.items():
            if key not in known:
                raise SystemExit(f"{name} takes {', '.join(known)}; got {key}")
            if isinstance(known[key].default, tuple) and not isinstance(value, tuple):
                own[key] = (value,)
        table = run(**how, **own)
        paths = table.write(given.output)
        if isinstance(table, _gallery.Gallery):
            paths.append(table.draw(given.output / f"{table.name}.png"))
        if not given.quiet:
            print(table.to_markdown())
        print("wrote", *paths)


if __name__ == "__main__":
    main()
