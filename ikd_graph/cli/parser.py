"""The grammar of the command line. Nothing that takes long is imported here."""

import argparse
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from .._base.format import suggest
from .._version import __version__
from .console import PROG, print_error, typed_name

STDOUT = "-"
"""What ``--json`` alone writes to."""

_WORDS = {"none": None, "true": True, "yes": True, "false": False, "no": False}


def read_value(text: str) -> Any:
    """Return the value of a flag: none, yes, no, a whole number, a number, or a name.

    Examples
    --------
    >>> read_value("none"), read_value("7"), read_value("0.3"), read_value("auto")
    (None, 7, 0.3, 'auto')
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def split(text: str) -> tuple[str, ...]:
    """Return names between commas.

    Examples
    --------
    >>> split("a, b")
    ('a', 'b')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _numbers(text: str) -> list[float]:
    """Return numbers between commas, at least one."""
    return [float(number) for number in split(text) or [text]]


def _json_file(text: str) -> str:
    """Return the name of a file for JSON: a table after a bare flag is not overwritten."""
    if text != STDOUT and not text.endswith(".json"):
        raise argparse.ArgumentTypeError(f"must end in .json, got {text!r}; or stand last, alone")
    return text


_NAMES: dict[str, Any] = {"type": split, "metavar": "A,B"}

METHOD: dict[str, tuple[str, str]] = {
    "n_components": ("--components", "number of hidden coordinates, or auto; default: 2"),
    "strategy": (
        "--strategy", "auto, geodesic[:path,reference], blockwise[:merge,max_cliques,reference], "
        "eigen[:reference] or linear",
    ),
    "graph": (
        "--graph", "auto, a threshold (0.3), a number of neighbors (10), "
        "threshold[:s0,n_neighbors,prune,disconnected,fdr,strongest] or "
        "neighbors[:k,mutual,search,prune,disconnected]",
    ),
    "kernel": (
        "--kernel", "auto, squared_exponential, rational_quadratic[:alpha], "
        "gamma_exponential[:gamma] or matern[:nu], each with [:length_scale]",
    ),
    "affinity": (
        "--affinity", "auto, correlation, cosine, euclidean, standardized_euclidean, hellinger, "
        "shared_neighbors, precomputed or precomputed_distance",
    ),
    "refine": (
        "--refine", "auto, none, stress[:weights,noise] or "
        "likelihood[:restarts,fit_shape,time_budget,descent,max_iter]",
    ),
    "missing": ("--missing", "error, pairwise[:min_columns] (compare by shared columns) or impute"),
    "n_landmarks": ("--landmarks", "auto, none, a number or a fraction of the points"),
    "n_jobs": ("--jobs", "threads, -1 for all cores; results do not depend on it"),
    "random_state": ("--seed", "seed of landmarks and restarts; default: 0"),
}  # fmt: skip
"""Flag and help of the parameters of `IKD`."""


class Parser(argparse.ArgumentParser):
    """Parser that takes whole flags only and suggests the right spelling of a word.

    A flag that is not typed, and has no default, is no attribute of what is parsed.
    """

    def __init__(self, **options: Any) -> None:
        options["formatter_class"] = partial(
            argparse.HelpFormatter, max_help_position=30, width=100
        )
        super().__init__(**options, allow_abbrev=False, argument_default=argparse.SUPPRESS)

    @property
    def flags(self) -> dict[str, str]:
        """Flag of every parameter."""
        return {a.dest: a.option_strings[0] for a in self._option_string_actions.values()}

    def error(self, message: str) -> NoReturn:
        """End with a line, and the nearest valid choice."""
        if wrong := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            message += suggest(wrong[1], re.findall(r"[\w.-]+", wrong[2]))
        print_error("error", f"{message}; {self.prog} --help lists what there is")
        self.exit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse flags that this command does not have."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            near = [suggest(w.partition("=")[0], self._option_string_actions) for w in unknown]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{''.join(near)}")
        return parsed, unknown


def _add_method(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Give a parser flags of a fit, none of which has a default of its own."""
    about = "as in ikd_graph.IKD; with parameters as matern:nu=2.5 or neighbors:k=10,mutual=yes"
    group = parser.add_argument_group(f"method ({about})")
    for name in names:
        flag, text = METHOD[name]
        group.add_argument(flag, dest=name, help=text, type=read_value, metavar="X")


def _add_reading(parser: argparse.ArgumentParser, changing: bool) -> None:
    """Give a parser the flags of `datasets.Reading`, with those that change the numbers or not."""
    group = parser.add_argument_group("reading (a table that cannot be read names the flag)")
    add = group.add_argument
    add("--labels", help="columns or arrays of labels; the first colors the points", **_NAMES)
    add("--index", metavar="NAME", help="column with the names of the rows")
    add("--drop", help="columns to leave out", **_NAMES)
    add("--transpose", action="store_true", help="exchange rows and columns of the file")
    add("--header", metavar="LINE", help="line of the names of the columns (1, 2, ...), or none")
    add("--sep", metavar="SIGN", help="separator of the cells, also tab or space; default: found")
    add("--decimal", choices=(".", ","), help="sign before decimals; default: .")
    add("--na", help="further cells that stand for missing ones, as --na=-999", **_NAMES)
    add("--sheet", metavar="NAME", help="sheet of an .xlsx file; default: the first")
    add("--key", metavar="NAME", help="array of an archive, layer of an .h5ad file")
    if not changing:
        return
    add("--columns", help="columns of numbers to keep; * and ? stand for any letters", **_NAMES)
    add("--impute", choices=("mean", "median"), help="what fills missing cells of a column")
    add("--transform", choices=("sqrt", "log1p"), help="function of every value, as for counts")
    add("--scale", nargs="?", choices=("standard", "robust"), const="standard", metavar="HOW",
        help="scale columns: standard (if alone) or robust")  # fmt: skip
    add("--standardize-rows", action="store_true", help="then scale rows")
    add("--remove-mean-row", action="store_true", help="take off what the mean row explains")


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Give a parser flags on what it leaves."""
    parser.add_argument(
        "--output", "-o", metavar="DIR", type=Path, default=Path(),
        help="folder for the results, made if it is missing; default: this one",
    )  # fmt: skip
    parser.add_argument(
        "--json", metavar="FILE.json", nargs="?", const=STDOUT, type=_json_file,
        help="one JSON object in place of the text, or into a file",
    )  # fmt: skip
    parser.add_argument("--format", choices=("png", "svg", "pdf"), default="png",
        help="format of the picture; default: png")  # fmt: skip
    parser.add_argument(
        "--plotly", choices=("inside", "shared"), default="inside",
        help="library of pages: inside (5 MB each), or a file next to them",
    )  # fmt: skip


_OF_GRAPHS = ["graph", "kernel", "affinity"]
_COMMANDS: dict[str, tuple[str, str, list[str]]] = {
    "demo": ("show what this does, on a simulated table and on noise; it needs no file", "", []),
    "embed": ("find the hidden coordinates of a data set", "data", [*METHOD]),
    "place": ("place new rows in the embedding of a saved model", "model data", []),
    "align": (
        "bring sessions that share columns, or rows, into one frame", "data...",
        ["n_components", "strategy", *_OF_GRAPHS, "refine"],
    ),
    "compare": (
        "compare strategies and other methods on one similarity and graph", "data",
        ["n_components", *_OF_GRAPHS, "refine", "n_landmarks", "n_jobs", "random_state"],
    ),
    "cliques": (
        "count the cliques of the graph and show how they overlap", "data",
        ["n_components", *_OF_GRAPHS, "missing", "n_jobs", "random_state"],
    ),
    "diagnose": (
        "tell whether it is real, what can be read, and what would help", "data", [*METHOD],
    ),
    "dubious": ("find rows of a map whose neighbors there the columns contradict", "map data", []),
    "topology": (
        "count connected components, loops and voids of a table, with p values", "data",
        ["n_components", *_OF_GRAPHS, "missing", "n_jobs", "random_state"],
    ),
    "datasets": ("list the built-in data sets, none of which needs a download", "", []),
    "warm": ("compile ahead, so that no first fit has to wait", "", []),
}  # fmt: skip
"""What each command does, the files it takes, and its flags of a method."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    about = "Finds the few hidden coordinates behind many noisy measurements."
    parser = Parser(prog=typed_name(), description=about, epilog=f"Begin with: {typed_name()} demo")
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (purpose, files, method) in _COMMANDS.items():
        text = f"{purpose[0].upper()}{purpose[1:]}."
        words = " ".join([typed_name(), name, "[flags]", files.upper()]).rstrip()
        command = commands.add_parser(name, usage=words, help=purpose, description=text)
        command.set_defaults(json=None, quiet=False)
        command.add_argument("--quiet", "-q", action="store_true", help="write no text but errors")
        if "model" in files:
            command.add_argument("model", metavar="MODEL", type=Path, help="file of a saved model")
        if "map" in files:
            command.add_argument(
                "map", metavar="MAP", help="file of a map of any method: coordinates in columns, "
                "a row for each row of DATA; of one that embed wrote ikd0, ikd1, ...",
            )  # fmt: skip
        if "data" in files:
            command.add_argument(
                "data", metavar="DATA", nargs="+" if files == "data..." else None,
                help="built-in name, or .csv .tsv .txt .npy .npz .mat .h5ad .parquet .xlsx",
            )  # fmt: skip
        if "data" in files or name == "demo":
            _add_output(command)
        if "data" in files:
            _add_own(name, command)
            if method:
                _add_method(command, method)
            # A saved model does to new rows what was done to its own.
            _add_reading(command, changing="model" not in files)
        command.set_defaults(flags=command.flags)
    return parser


def flags_of(command: str) -> dict[str, str]:
    """Return the flag of every parameter of a command that takes data."""
    return dict(build_parser().parse_args([command, "data"]).flags)


def _add_own(name: str, parser: argparse.ArgumentParser) -> None:
    """Give the parser of a command the flags that no other command has."""
    add = parser.add_argument
    if name in ("embed", "diagnose", "compare", "dubious"):
        add("--null", choices=("shift", "permute", "permute_all"), metavar="HOW", help="tables of "
            "nothing: shift (default), permute (rows have no order), permute_all")  # fmt: skip
    if name == "embed":
        add("--save-model", action="store_true", default=False,
            help=f"keep the model for `{PROG} place`")  # fmt: skip
    elif name == "align":
        add("--min-columns", type=int, metavar="N", help="least columns that a pair of rows must "
            "share; default: 20")  # fmt: skip
    elif name == "diagnose":
        add("--fdr", type=float, metavar="X", help="false discovery rate of significant "
            "correlations; default: 0.01")  # fmt: skip
    elif name == "compare":
        add("--methods", type=split, metavar="A,B", help="strategies, paper_blockwise, "
            "paper_geodesic, pca, isomap, umap ...; peers: those installed")  # fmt: skip
        add("--noise", type=_numbers, metavar="A,B", help="added noise in standard deviations of "
            "columns; default: 0,0.5,1")  # fmt: skip
        add("--n-draws", type=int, metavar="N", help="draws of noise; default: 4")
        add("--max-rows", type=int, metavar="N", help="rows compared; default: 2000")
        add("--time-limit", type=float, metavar="S", help="seconds of a peer's fit")
    elif name == "cliques":
        add("--limit", type=int, metavar="N",
            help="list at most so many maximal cliques; default: 20000")  # fmt: skip
        add("--stability", type=int, metavar="N", nargs="?", const=200,
            help="how often each clique would be there on fresh columns, from N resamples (200)",
            )  # fmt: skip
        add("--signed", action="store_true",
            help="negate rows that oppose others, so that their cliques are found")  # fmt: skip
        add("--export", choices=("graphml", "gexf", "csv", "tsv"), default=None, metavar="FORMAT",
            help="also write the graph: graphml, gexf, csv or tsv")  # fmt: skip
        add("--edges", action="store_true",
            help="DATA is a list of edges: two names, and a correlation if known")  # fmt: skip
