"""The grammar of the command line. Nothing that takes long is imported here."""

import argparse
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from .._base.files import missing_file
from .._base.suggest import suggest
from .._version import __version__
from .console import PROG, print_error

METHOD = {
    "n_components": "number of hidden coordinates, or auto; default: 2",
    "strategy": "auto, geodesic, blockwise, eigen or linear",
    "graph": "auto, a threshold (0.3) or a number of neighbors (10)",
    "kernel": "auto, squared_exponential, rational_quadratic, gamma_exponential or matern; "
    "with parameters, as matern:nu=2.5",
    "affinity": "auto, correlation, cosine, euclidean, standardized_euclidean, hellinger, "
    "shared_neighbors, precomputed or precomputed_distance",
    "refine": "auto, none, stress or likelihood",
    "missing": "error, pairwise (compare rows by shared columns) or impute",
    "n_landmarks": "auto, none, a number or a fraction of the points",
    "n_jobs": "threads, -1 for all cores; results do not depend on it",
    "random_state": "seed of landmarks and restarts; default: 0",
    "path": "of geodesic: distance or covariance (the paper)",
    "reference": "center, min_max or a row: reference point of the Gram matrix",
    "merge": "of blockwise: global or greedy (the paper)",
    "max_cliques": "of blockwise: budget of the cover; none lets the points decide",
    "n_neighbors": "of a threshold: also join each point to so many neighbors",
    "prune": "auto, yes or no: remove short-circuit edges",
    "disconnected": "join or raise, where the graph has several components",
    "fdr": "false discovery rate of significant edges, in place of a threshold",
    "mutual": "of neighbors: keep an edge only where both ends agree",
    "search": "how neighbors are searched: auto, exact or approximate",
    "weights": "of stress: auto or uniform",
    "noise": "of stress: standard error of the distances, in their unit",
    "restarts": "of likelihood: descents from random graphs; default: 4",
    "fit_shape": "of likelihood: also fit the kernel's alpha or gamma",
    "time_budget": "of likelihood: seconds after which the best is taken",
    "descent": "of likelihood: auto, annealed or local",
    "max_iter": "of likelihood: most steps of a local descent; default: 25",
    "min_columns": "of missing pairwise: least columns that a pair must share; default: 20",
}
"""What is said of parameters of `IKD` and of the objects that it takes."""

_SWITCHES = ("mutual", "fit_shape")
_SHORT = {"random_state": "seed", "n_draws": "n-draws"}


def flag_of(name: str) -> str:
    """Flag of a parameter.

    Examples
    --------
    >>> flag_of("n_components"), flag_of("max_cliques"), flag_of("random_state")
    ('--components', '--max-cliques', '--seed')
    """
    return "--" + _SHORT.get(name, name.removeprefix("n_").replace("_", "-"))


FLAGS = {name: flag_of(name) for name in METHOD}
"""Flag of every parameter of `IKD` and of the objects that it takes."""

STDOUT = "-"
"""What ``--json`` alone writes to."""

_BARE = {"--scale": ("standard", "standard|robust"), "--json": (STDOUT, r".*\.json|-")}
"""Flags that may stand alone: what they then mean, and which words after them are their value."""

_WORDS = {"none": None, "true": True, "yes": True, "false": False, "no": False}


def read_value(text: str) -> Any:
    """Value of a flag: none, yes, no, a whole number, a number, or a name.

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
    """Names between commas.

    Examples
    --------
    >>> split("a, b")
    ('a', 'b')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _numbers(text: str) -> list[float]:
    """Numbers between commas, at least one."""
    return [float(number) for number in split(text) or [text]]


def join_bare(words: Sequence[str]) -> list[str]:
    """Words of a command, each bare flag with its value: no file is taken for one.

    Examples
    --------
    >>> join_bare(["--scale", "robust"]), join_bare(["--scale", "t.csv"])
    (['--scale=robust'], ['--scale=standard', 't.csv'])
    """
    joined: list[str] = []
    for word, before in zip(words, ["", *words], strict=False):
        if before in _BARE and re.fullmatch(_BARE[before][1], word):
            joined[-1] = f"{before}={word}"
        else:
            joined.append(f"{word}={_BARE[word][0]}" if word in _BARE else word)
    return joined


class _Help(argparse.HelpFormatter):
    """Help of a line for most flags."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=100)


class Parser(argparse.ArgumentParser):
    """Parser that takes whole flags only and suggests the right spelling of a word."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False, formatter_class=_Help)

    def error(self, message: str) -> NoReturn:
        """End with a line, and the nearest valid choice."""
        if wrong := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            message += suggest(wrong[1], re.findall(r"[\w.-]+", wrong[2]))
        print_error("error", f"{message}; {self.prog} --help lists what there is")
        self.exit(2)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse flags that this command does not have."""
        parsed, unknown = super().parse_known_args(join_bare(args), namespace)
        if unknown:
            near = [suggest(w.partition("=")[0], self._option_string_actions) for w in unknown]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{''.join(near)}")
        return parsed, unknown


def _add_method(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Give a parser flags of a fit, none of which has a default of its own."""
    group = parser.add_argument_group("method (as in ikd_graph.IKD, which chooses what is auto)")
    for name in names:
        form: Any = {"type": read_value, "metavar": "X"}
        if name in _SWITCHES:
            form = {"action": "store_true"}
        group.add_argument(
            flag_of(name), dest=name, default=argparse.SUPPRESS, help=METHOD[name], **form
        )


def _add_reading(parser: argparse.ArgumentParser) -> None:
    """Give a parser the flags of `datasets.Reading`."""
    group = parser.add_argument_group("reading (a table that cannot be read names the flag)")
    names: Any = {"type": split, "metavar": "A,B", "default": ()}
    add = group.add_argument
    add("--labels", help="columns or arrays of labels; the first colors the points", **names)
    add("--index", metavar="NAME", help="column with the names of the rows")
    add("--columns", help="columns to keep; * and ? stand for any letters", **names)
    add("--drop", help="columns to leave out", **names)
    add("--transpose", action="store_true", help="exchange rows and columns of the file")
    add("--header", metavar="LINE", help="line of the names of the columns (1, 2, ...), or none")
    add("--sep", metavar="SIGN", help="separator of the cells, also tab or space; default: found")
    add("--decimal", choices=(".", ","), default=".", help="sign before decimals; default: .")
    add("--na", help="further cells that stand for missing ones, as --na=-999", **names)
    add("--sheet", metavar="NAME", help="sheet of an .xlsx file; default: the first")
    add("--key", metavar="NAME", help="array of an archive, layer of an .h5ad file")
    add("--impute", choices=("mean", "median"), help="what fills missing cells of a column")
    add("--transform", choices=("sqrt", "log1p"), help="function of every value, as for counts")
    add("--scale", choices=("standard", "robust"), help="scale columns; default: standard")
    add("--standardize-rows", action="store_true", help="then scale rows")
    add("--remove-mean-row", action="store_true", help="take off what the mean row explains")


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Give a parser flags on what it leaves."""
    parser.add_argument(
        "--output", "-o", metavar="DIR", type=Path, default=Path(),
        help="folder for the results, made if it is missing; default: this one",
    )  # fmt: skip
    parser.add_argument(
        "--json", metavar="FILE.json", help="one JSON object in place of the text, or into a file"
    )
    parser.add_argument(
        "--plotly", choices=("inside", "shared"), default="inside",
        help="library of pages: inside (5 MB each), or one file next to them; default: inside",
    )  # fmt: skip


_OF_COMPARE = {"strategy", "n_components", "missing", "path", "merge", "max_cliques", "reference"}
_OF_BLOCKS = {
    "strategy", "refine", "n_landmarks", "path", "weights", "restarts", "fit_shape", "time_budget",
    "descent", "max_iter",
}  # fmt: skip
_COMMANDS: dict[str, tuple[str, str, list[str]]] = {
    "embed": ("find the hidden coordinates of a data set", "data", [*METHOD]),
    "place": ("place new rows in the embedding of a saved model", "model data", []),
    "align": (
        "bring sessions that share columns, or rows, into one frame", "data...",
        ["min_columns", "affinity", "kernel", "refine", "strategy", "graph"],
    ),
    "compare": (
        "compare strategies and other methods on one similarity and graph", "data",
        [name for name in METHOD if name not in {*_OF_COMPARE, "noise"}],
    ),
    "cliques": (
        "count the cliques of the graph and show how they overlap", "data",
        [name for name in METHOD if name not in {*_OF_BLOCKS, "noise"}],
    ),
    "diagnose": (
        "tell what an embedding can be worth, and what would help", "data",
        ["fdr", "missing", "random_state"],
    ),
    "datasets": ("list the built-in data sets, none of which needs a download", "", []),
    "warm": ("compile ahead, so that no first fit has to wait", "", []),
}  # fmt: skip
"""What each command does, the files it takes, and its flags of a method."""


def build_parser() -> argparse.ArgumentParser:
    """Parser of the whole command line."""
    parser = Parser(
        prog=PROG,
        description="Finds the few hidden coordinates behind many noisy measurements.",
        epilog=f"Begin with: {PROG} embed digits",
    )
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (purpose, files, method) in _COMMANDS.items():
        text = f"{purpose[0].upper()}{purpose[1:]}."
        words = " ".join([PROG, name, "[flags]", files.upper()]).rstrip()
        command = commands.add_parser(name, usage=words, help=purpose, description=text)
        command.set_defaults(json=None)
        command.add_argument("--quiet", "-q", action="store_true", help="write no text but errors")
        if "model" in files:
            command.add_argument("model", metavar="MODEL", type=Path, help="file of a saved model")
        if "data" in files:
            command.add_argument(
                "data", metavar="DATA", nargs="+" if files == "data..." else None,
                help="name of a built-in data set, or a file: .csv, .tsv, .txt, .npy, .npz, .mat, "
                ".h5ad, .parquet, .xlsx",
            )  # fmt: skip
            _add_output(command)
            _add_own(name, command)
            if method:
                _add_method(command, method)
            _add_reading(command)
    return parser


def _add_own(name: str, parser: argparse.ArgumentParser) -> None:
    """Give the parser of a command the flags that no other command has."""
    add = parser.add_argument
    if name in ("align", "compare", "diagnose"):
        add("--components", dest="n_components", metavar="M", type=int, default=2,
            help="number of hidden coordinates; default: 2")  # fmt: skip
    if name == "embed":
        add("--save-model", action="store_true", help=f"keep the model for `{PROG} place`")
    elif name == "compare":
        own: Any = {"default": argparse.SUPPRESS}
        add("--methods", type=split, metavar="A,B", help="strategies, paper_blockwise, "
            "paper_geodesic, pca, isomap, umap ...; peers: those installed", **own)  # fmt: skip
        add("--noise", type=_numbers, metavar="A,B", help="added noise in standard deviations of "
            "columns; default: 0,0.5,1", **own)  # fmt: skip
        add("--n-draws", type=int, metavar="N", help="draws of noise; default: 4", **own)
        add("--max-rows", type=int, metavar="N", help="rows compared; default: 2000", **own)
        add("--time-limit", type=float, metavar="S", help="seconds of a peer's fit", **own)
    elif name == "cliques":
        add("--limit", type=int, metavar="N", default=100_000,
            help="list at most so many maximal cliques; default: 100000")  # fmt: skip
        add("--stability", type=int, metavar="N", nargs="?", const=200, default=0,
            help="how often each clique would be there on fresh columns, from N resamples (200)",
            )  # fmt: skip
        add("--export", choices=("graphml", "gexf", "csv", "tsv"),
            help="also write the graph for Gephi, Cytoscape, or as a list of edges")  # fmt: skip


def missing_files(arguments: argparse.Namespace) -> str | None:
    """Say which file of a command is not there; None if all are, or are names of data sets."""
    model, data = getattr(arguments, "model", None), getattr(arguments, "data", [])
    files = [("model", str(model))] if model is not None else []
    files += [("data", path) for path in ([data] if isinstance(data, str) else data)]
    for kind, path in files:
        if Path(path).suffix and not Path(path).exists():
            return missing_file(kind, Path(path))
    return None
