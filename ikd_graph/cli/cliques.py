"""``ikd-graph cliques``: what the cliques of a data set are, and what a threshold does to them."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from typing import Any

import numpy as np

from .. import cliques
from .._records import Blocks
from .._validation import check_integer
from ..estimator import IKD
from ..show import plot, report
from ..show.report.cliques import MOST_DISCS, clique_advice, clique_facts, clique_groups
from ..show.report.cliques import clique_places as places
from ..show.report.paint import paint_points
from ..show.words import say_number
from ..study.levels import Levels, threshold_levels
from .common import (
    add_data_arguments,
    file_stem,
    leave_files,
    named_stage,
    picture,
    read_data,
    typed_command,
)
from .console import facts, say
from .flags import add_method_flags, method_parameters

_LIMIT = 100_000


def add_command(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse subparsers
        Where commands are added.
    """
    parser = commands.add_parser(
        "cliques",
        help="look at the cliques of a data set",
        description="Count the cliques of the graph of a data set and show how they hang "
        "together; leave the counts as .json, a picture as .png and a page as .html.",
    )
    add_data_arguments(parser)
    parser.add_argument(
        "--limit", metavar="N", type=int, default=_LIMIT,
        help=f"list at most this many maximal cliques; default: {_LIMIT}",
    )  # fmt: skip
    add_method_flags(parser, leave_out=("strategy",))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Parameters
    ----------
    arguments : argparse.Namespace
        What was parsed.
    """
    limit = check_integer("--limit", arguments.limit, 1)
    data = read_data(arguments)
    loud = 0 if arguments.quiet else 1
    parameters = {**method_parameters(arguments), "strategy": "blockwise"}
    model = IKD(**parameters, verbose=loud)
    with named_stage("solving the cliques"):
        model.fit(data.X)
    with named_stage("listing the cliques"):
        found = list(itertools.islice(cliques.iter_cliques(model.graph_), limit + 1))
    with named_stage("looking at thresholds"):
        levels = look_at_levels(model, data.X, bool(loud))
    view = report.CliqueView(
        model, data, found[:limit], len(found) <= limit, largest_graph(model.cliques_), levels
    )
    stem = file_stem(data.name)
    with named_stage("drawing"):
        files = {
            f"{stem}_cliques.json": json.dumps(statistics(view), indent=1) + "\n",
            f"{stem}_cliques.png": picture(lambda ax: draw(ax, view), 7.2, 5.6),
            f"{stem}_cliques.html": report.cliques_page(view, typed_command(arguments)),
        }
    if not arguments.quiet:
        summarise(view, limit)
    with named_stage("writing"):
        leave_files(arguments.output, files, arguments.quiet)


def look_at_levels(model: IKD, X: Any, loud: bool) -> Levels:
    """Count edges, components and cliques at many thresholds, with a bar on a terminal.

    Parameters
    ----------
    model : IKD
        Fitted; gives the affinity and the number of dimensions.
    X : (n, n_features) array
        What it was fitted on.
    loud : bool
        Whether to show a bar.

    Returns
    -------
    Levels
        The counts.
    """
    bar = None
    if loud and sys.stderr.isatty():
        from functools import partial

        from tqdm import tqdm

        bar = partial(tqdm, desc="thresholds", leave=False)
    return threshold_levels(
        X, affinity=model.affinity, n_components=model.embedding_.shape[1], progress=bar
    )


def largest_graph(blocks: Blocks) -> Any:
    """Graph of the largest cliques of a list, as many as a picture holds.

    Parameters
    ----------
    blocks : Blocks
        The cliques.

    Returns
    -------
    networkx.Graph
        Cliques under their numbers in the list, with ``size``; edges with ``weight``, the number
        of shared points.
    """
    kept = np.sort(np.argsort(-blocks.sizes, kind="stable")[:MOST_DISCS])
    chosen = [blocks.members[blocks.indptr[k] : blocks.indptr[k + 1]] for k in kept]
    import networkx as nx

    return nx.relabel_nodes(cliques.clique_graph(chosen), dict(enumerate(kept.tolist())))


def draw(ax: Any, view: report.CliqueView) -> None:
    """Draw the graph of cliques into an Axes, main labels as colours.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes.
    view : CliqueView
        What was found.
    """
    groups = clique_groups(view, paint_points(view.data))
    plot.clique_graph(
        view.graph,
        None if groups is None else groups.codes,
        names=None if groups is None else groups.names,
        positions=places(view),
        ax=ax,
    )


def statistics(view: report.CliqueView) -> dict[str, Any]:
    """Counts of a look at cliques, ready for JSON.

    Parameters
    ----------
    view : CliqueView
        What was found.

    Returns
    -------
    dict
        Plain numbers and lists.
    """
    model, g, levels = view.model, view.model.graph_, view.levels
    sizes = [int(clique.size) for clique in view.maximal]
    solved = model.cliques_
    shared = [int(weight) for *_, weight in view.graph.edges.data("weight", default=0)]
    components = np.bincount(model.component_labels_)
    largest = sorted(view.maximal, key=lambda clique: -clique.size)[:20]
    covered = np.zeros(g.n_nodes, dtype=bool)
    least = model.embedding_.shape[1] + 2
    covered[solved.members[np.repeat(solved.sizes >= least, solved.sizes)]] = True
    return {
        "data": view.data.name,
        "n_points": int(g.n_nodes),
        "threshold": model.threshold_,
        "n_neighbors": model.n_neighbors_,
        "n_edges": int(g.n_edges),
        "components": {"count": int(components.size), "sizes": sorted(components.tolist())[::-1]},
        "degree_distribution": histogram(np.diff(g.indptr)),
        "maximal_cliques": {
            "count": len(sizes),
            "complete": view.complete,
            "size_distribution": histogram(sizes),
            "largest": [clique.tolist() for clique in largest],
        },
        "solved_cliques": {
            "count": int(solved.n_blocks),
            "size_distribution": histogram(solved.sizes),
            "overlap_distribution": histogram(shared),
            "overlaps_among_largest": len(view.graph),
            "coverage": float(covered.mean()),
            "smallest_that_places": least,
        },
        "thresholds": {
            name: [None if value != value else value for value in getattr(levels, name).tolist()]
            for name in ("threshold", "edges", "components", "cliques", "coverage")
        },
        "advice": clique_advice(view),
    }


def histogram(values: Any) -> dict[str, int]:
    """How often each whole number occurs.

    Parameters
    ----------
    values : sequence of int
        The numbers.

    Returns
    -------
    dict of str to int
        Number (as text, for JSON) and how often, ascending.

    Examples
    --------
    >>> histogram([3, 2, 3])
    {'2': 1, '3': 2}
    """
    numbers, counts = np.unique(np.asarray(values, dtype=np.int64), return_counts=True)
    return {str(n): int(c) for n, c in zip(numbers.tolist(), counts.tolist(), strict=True)}


def summarise(view: report.CliqueView, limit: int) -> None:
    """Say what was found.

    Parameters
    ----------
    view : CliqueView
        What was found.
    limit : int
        Number of cliques listed at most.
    """
    say(f"{view.data.name}: cliques")
    facts(
        [
            (name, say_number(value))
            for name, value in clique_facts(view).items()
            if value is not None
        ]
    )
    if not view.complete:
        say(f"  only the first {limit} maximal cliques were listed; --limit raises that")
    for sentence in clique_advice(view):
        say(f"- {sentence}")
