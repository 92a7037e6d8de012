"""Run experiments of the paper again: `python -m examples.paper fig4`."""

import argparse
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
        "beside the published values as .md, and a picture as .png.",
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


def main(argv=None):
    """Run what was requested; a data set that is missing costs one line."""
    args = parse(argv)
    folder = args.output or (Path("quick") if args.quick else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES if "all" in args.names else args.names:
        experiment = load(name)
        if args.redraw:
            table = Table.read(name, experiment, folder)
        else:
            methods = tuple(filter(None, args.methods.split(",")))
            options = {"trials": args.trials, "jobs": args.jobs, "methods": methods}
            table = run(name, experiment, quick=args.quick, **options)
            if methods and (folder / f"{name}.csv").exists():
                table = Table.read(name, experiment, folder).merged(table)
        if table.trials:
            print("wrote", *table.write(folder), flush=True)
    if folder == RESULTS:
        print("wrote", _answers.write())


if __name__ == "__main__":
    main()
