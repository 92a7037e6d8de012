"""Run experiments of the paper again: `python -m examples.paper fig4`."""

import argparse
from itertools import product
from pathlib import Path

from . import NAMES, _answers, load
from ._lab import Table, run

RESULTS = Path(__file__).parent / "results"


def parse(argv=None):
    """Read the command line."""
    experiments = {name: load(name) for name in NAMES}
    lines = [f"  {name:11} {e.minutes:5.1f} min  {e.title}" for name, e in experiments.items()]
    parser = argparse.ArgumentParser(
        prog="python -m examples.paper",
        description="Run experiments of the paper again. Each writes every trial as .csv, means "
        "with the published values as .md, and a picture as .png.",
        epilog="experiments, with processor minutes of a full run:\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="+", choices=(*NAMES, "all"), metavar="EXPERIMENT")
    parser.add_argument("--quick", action="store_true", help="small sizes, in seconds")
    parser.add_argument("--trials", type=int, help="data sets drawn for each cell")
    parser.add_argument(
        "--methods", default="", help="names with commas: only these, the others are kept as stored"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--redraw", action="store_true", help="from the .csv, without new trials")
    parser.add_argument("--output", "-o", type=Path, help=f"folder; default: {RESULTS.name}")
    return parser.parse_args(argv)


def chosen(names, methods, quick):
    """Names of the experiments to run; a method that they do not have ends the program."""
    known = {name: set(load(name).methods(quick)) for name in NAMES}
    if "all" in names and methods:
        names = [name for name in NAMES if known[name].intersection(methods)] or NAMES
        known = dict.fromkeys(names, set.union(*map(known.get, names)))
    elif "all" in names:
        names = NAMES
    for name, method in product(names, methods):
        if method not in known[name]:
            has = ", ".join(sorted(known[name]))
            raise SystemExit(f"{name} has no method {method!r}; it has {has}")
    return names


def main(argv=None):
    """Run what was requested; a data set that is missing costs one line."""
    args = parse(argv)
    methods = tuple(filter(None, args.methods.split(",")))
    names = chosen(args.names, methods, args.quick)
    folder = args.output or (Path("quick") if args.quick else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        experiment = load(name)
        if args.redraw:
            table = Table.read(name, experiment, folder)
        else:
            options = {"trials": args.trials, "jobs": args.jobs, "methods": methods}
            table = run(name, experiment, quick=args.quick, **options)
            if methods and table.trials and (folder / f"{name}.csv").exists():
                table = Table.read(name, experiment, folder).merged(table)
        if table.trials:
            print("wrote", *table.write(folder), flush=True)
    if folder == RESULTS:
        print("wrote", _answers.write())


if __name__ == "__main__":
    main()
