"""``ikd-graph compare``: many methods on one data set, on one page."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
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
from . import common
from .flags import add_method_flags, in_flags, method_parameters, read_kernel
from .outcome import finish
from .reading import split

# Parameters that all methods of ours can share.
_SHARED = {"graph", "affinity", "kernel", "n_landmarks"}
_SHARED |= {"n_neighbors", "fdr", "mutual", "search", "prune", "disconnected"}


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
    common.add_data_arguments(parser)
    # fmt: off
    for flag, default, text, more in (
        ("--methods", None, f"among {names}; peers stands for what is installed of "
         f"{', '.join(PEER_GROUP)}; default: {', '.join(DEFAULT_METHODS)} (umap where installed)",
         {"metavar": "A,B,...", "type": split}),
        ("--components", None,
         "numbers of hidden coordinates; default: 2, or those of a built-in latent",
         {"metavar": "M,...", "type": _whole_numbers}),
        ("--noise", [0.0], "standard deviations of noise to add; default: 0",
         {"metavar": "SD,...", "type": _numbers}),
        ("--seeds", 1, "number of seeds for the noise (or the draw) and the methods; default: 1",
         {"metavar": "N", "type": int}),
        ("--data-kernel", "squared_exponential", "kernel that a built-in latent is seen through; "
         "default: squared_exponential", {"metavar": "NAME[:PARAM=VALUE]", "type": read_kernel}),
        ("--n-features", 200, "columns of a built-in latent; default: 200",
         {"metavar": "N", "type": int}),
        ("--halves", 2, "random halves of the columns that each method is fitted to once more, to "
         "predict the other half (co-smoothing); 0 saves the time; default: 2",
         {"metavar": "N", "type": int}),
        ("--timeout", 600.0, "stop a fit after this time; default: 600",
         {"metavar": "SECONDS", "type": float}),
    ):
        parser.add_argument(flag, default=default, help=text, **more)
    # fmt: on
    add_method_flags(parser, only=_SHARED)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from . import compare_results as results

    if arguments.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {arguments.seeds}")
    source: Any
    measured = False
    if arguments.data in FIXED_LATENTS:
        common.check_output(arguments)

        def sampled(noise: float, seed: int) -> Dataset:
            return datasets.gplvm_data(
                arguments.data,
                arguments.n_features,
                kernel=arguments.data_kernel,
                noise=noise,
                seed=seed,
            )

        source = sampled
    else:
        source = common.read_data(arguments)
        measured = any(label_quantity(one) is not None for one in source.all_labels)
    if arguments.label_period and not measured:
        raise ValueError(
            f"--label-period must go with labels that are measurements, got none in "
            f"{arguments.data}; name their column with --labels"
        )
    methods, parameters = arguments.methods, method_parameters(arguments)
    if parameters:
        methods = with_kernel(methods, parameters.get("kernel", "auto"))
        for name, model in (method for method in methods if not isinstance(method, str)):
            fixed = IKD_METHODS[name]
            model.set_params(**{key: parameters[key] for key in parameters.keys() - fixed})
    with common.named_stage("comparing"):
        comparison = compare(
            source,
            methods,
            n_components=arguments.components or own_components(source),
            noise=arguments.noise,
            seeds=list(range(arguments.seeds)),
            n_halves=arguments.halves,
            timeout=arguments.timeout,
            verbose=0 if arguments.quiet else 1,
        )
    for at, row in enumerate(comparison.rows):
        comparison.rows[at] = replace(
            row,
            failure=in_flags(row.failure),
            notes=tuple(map(in_flags, row.notes)),
            facts={name: in_flags(text) for name, text in row.facts.items()},
        )
    step = results.next_step(comparison, arguments)
    stem = common.file_stem(comparison.name)
    with common.named_stage("drawing"):
        png = common.picture(lambda ax: results.draw(ax, comparison), 7.2, 4.6)
        about: dict[str, Any] = {"warnings": arguments.heard, "picture": png}
        files = {
            f"{stem}_compare.csv": results.comparison_csv(comparison),
            f"{stem}_compare.png": png,
            f"{stem}_local_global.png": results.local_global_picture(comparison),
            f"{stem}_compare.html": common.page(
                arguments, "compare_page", comparison, steps=[step], **about
            ),
        }
    result = {
        "measure": comparison.measure,
        "rows": comparison.to_records(),
        "sentences": results.say_comparison(comparison),
    }
    data = source if isinstance(source, Dataset) else None
    finish(arguments, data, files, lambda: results.summarise(comparison), step, result)


def own_components(source: Dataset | Callable[[float, int], Dataset]) -> int:
    """Number of coordinates of a latent that is known by name, else 2."""
    if isinstance(source, Dataset):
        return 2
    latent = source(0.0, 0).latent
    return 2 if latent is None else int(latent.shape[1])


def _numbers(text: str) -> list[float]:
    """Numbers between commas, at least one."""
    return [float(part) for part in split(text) or [text]]


def _whole_numbers(text: str) -> list[int]:
    """Whole numbers between commas, at least one."""
    return [int(part) for part in split(text) or [text]]
