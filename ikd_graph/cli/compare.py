"""``ikd-graph compare``: many methods on one data set, on one page."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..study import baselines, datasets
from ..study.compare import (
    DEFAULT_METHODS,
    IKD_METHODS,
    PEER_GROUP,
    compare,
    with_kernel,
)
from ..study.datasets import FIXED_LATENTS, Dataset
from ..study.label_scores import label_quantity
from .common import (
    add_data_arguments,
    check_output,
    file_stem,
    leave_files,
    name_files,
    named_stage,
    page,
    picture,
    read_data,
    say_command,
    typed_command,
)
from .flags import in_flags, read_kernel
from .outcome import tell_json


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    names = ", ".join([*IKD_METHODS, *baselines.PEERS, "kernel_pca", "peers"])
    parser = commands.add_parser(
        "compare",
        help="compare methods on a data set",
        description="Compare methods on a data set, each in a process of its own; save a page as "
        ".html, the numbers as .csv and a picture as .png. A built-in latent "
        f"({', '.join(FIXED_LATENTS)}) is sampled anew for every noise level and seed.",
    )
    add_data_arguments(parser)
    parser.add_argument(
        "--methods", metavar="A,B,...", type=_split, default=None,
        help=f"among {names}; peers stands for what is installed of "
        f"{', '.join(PEER_GROUP)}; "
        f"default: {', '.join(DEFAULT_METHODS)} (umap where installed)",
    )  # fmt: skip
    parser.add_argument(
        "--components", dest="n_components", metavar="M,...", type=_whole_numbers, default=None,
        help="numbers of hidden coordinates; default: 2, or those of a built-in latent",
    )  # fmt: skip
    parser.add_argument(
        "--noise", metavar="SD,...", type=_numbers, default=[0.0],
        help="standard deviations of noise to add; default: 0",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", metavar="N", type=int, default=1,
        help="number of seeds for the noise (or the draw) and the methods; default: 1",
    )  # fmt: skip
    parser.add_argument(
        "--kernel", type=read_kernel, default=None, metavar="NAME[:PARAM=VALUE]",
        help="kernel that the IKD methods solve with",
    )  # fmt: skip
    parser.add_argument(
        "--data-kernel", type=read_kernel, default="squared_exponential",
        metavar="NAME[:PARAM=VALUE]",
        help="kernel that a built-in latent is seen through; default: squared_exponential",
    )  # fmt: skip
    parser.add_argument(
        "--n-features", metavar="N", type=int, default=200,
        help="measurements of a built-in latent; default: 200",
    )  # fmt: skip
    parser.add_argument(
        "--halves", metavar="N", type=int, default=2,
        help="random halves of the columns that each method is fitted to once more, to predict the "
        "other half (co-smoothing); 0 saves the time; default: 2",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=600.0,
        help="stop a fit after this time; default: 600",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from . import compare_results as results

    if arguments.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {arguments.seeds}")
    source: Any
    measured = False
    if arguments.data in FIXED_LATENTS:
        check_output(arguments)
        source = partial(
            datasets.gplvm_data,
            arguments.data,
            arguments.n_features,
            kernel=arguments.data_kernel,
        )
    else:
        source = read_data(arguments)
        measured = any(label_quantity(one) is not None for one in source.all_labels)
    if arguments.label_period and not measured:
        raise ValueError(
            f"--label-period must go with labels that are measurements, got none in "
            f"{arguments.data}; name their column with --labels"
        )
    own = arguments.kernel is not None
    methods = with_kernel(arguments.methods, arguments.kernel) if own else arguments.methods
    with named_stage("comparing"):
        found = compare(
            source,
            methods,
            n_components=arguments.n_components or own_components(source),
            noise=arguments.noise,
            seeds=list(range(arguments.seeds)),
            n_halves=arguments.halves,
            timeout=arguments.timeout,
            verbose=0 if arguments.quiet else 1,
        )
    for at, row in enumerate(found.rows):
        found.rows[at] = replace(
            row,
            failure=in_flags(row.failure),
            notes=tuple(map(in_flags, row.notes)),
            facts={name: in_flags(text) for name, text in row.facts.items()},
        )
    purpose, again = results.next_command(found, arguments)
    stem = file_stem(found.name)
    with named_stage("drawing"):
        png = picture(lambda ax: results.draw(ax, found), 7.2, 4.6)
        files = {
            f"{stem}_compare.csv": results.comparison_csv(found),
            f"{stem}_compare.png": png,
            f"{stem}_local_global.png": results.local_global_picture(found),
            f"{stem}_compare.html": page(
                "compare_page",
                found,
                typed_command(arguments),
                warnings=arguments.heard,
                steps=[(purpose, again)],
                picture=png,
            ),
        }
    with named_stage("writing"):
        written = leave_files(arguments.output, files)
    if not arguments.quiet:
        results.summarise(found)
        say_command(purpose.lower(), again)
        name_files(written)
    result = {
        "measure": found.measure,
        "rows": found.to_records(),
        "sentences": results.say_comparison(found),
        "again": again,
    }
    tell_json(arguments, source if isinstance(source, Dataset) else None, written, result)


def own_components(source: Dataset | Callable[[float, int], Dataset]) -> int:
    """Number of coordinates of a latent that is known by name, else 2."""
    if isinstance(source, Dataset):
        return 2
    latent = source(noise=0.0, seed=0).latent
    return 2 if latent is None else int(latent.shape[1])


def _split(text: str) -> list[str]:
    """Names between commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[float]:
    """Numbers between commas, at least one."""
    return [float(part) for part in _split(text) or [text]]


def _whole_numbers(text: str) -> list[int]:
    """Whole numbers between commas, at least one."""
    return [int(part) for part in _split(text) or [text]]
