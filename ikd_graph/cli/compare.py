"""``ikd-graph compare``: many methods on one data set, on one page."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..estimator import IKD
from ..show import plot, report
from ..show.charts import mean_and_spread
from ..show.report.compare_neighbors import GLOBAL, LOCAL, near_and_far
from ..show.report.compare_words import (
    MEASURE_WORDS,
    entries,
    group_of,
    say_comparison,
    scores_by_level,
)
from ..study import baselines, datasets
from ..study.compare import (
    DEFAULT_METHODS,
    IKD_METHODS,
    PEER_GROUP,
    Comparison,
    compare,
    with_kernel,
)
from ..study.datasets import FIXED_LATENTS, Dataset
from ..study.label_scores import label_quantity
from .common import (
    add_data_arguments,
    check_output,
    csv_text,
    file_stem,
    leave_files,
    name_files,
    named_stage,
    page,
    picture,
    read_data,
    typed_command,
)
from .compare_summary import again, again_words, summarise
from .flags import read_kernel
from .outcome import tell_json


def add_command(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse subparsers
        Where commands are added.
    """
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
        "--n-components", metavar="M,...", type=_whole_numbers, default=None,
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
    """Run the command.

    Parameters
    ----------
    arguments : argparse.Namespace
        What was parsed.
    """
    if arguments.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {arguments.seeds}")
    source: Any
    measured = False
    if arguments.data in FIXED_LATENTS:
        check_output(arguments)
        source = drawn(arguments)
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
    say_in_flags(found, arguments.wording)
    with named_stage("looking at spectra"):
        lengthen_spectra(found, arguments.kernel)
    stem = file_stem(found.name)
    with named_stage("drawing"):
        png = picture(lambda ax: draw(ax, found), 7.2, 4.6)
        files = {
            f"{stem}_compare.csv": comparison_csv(found),
            f"{stem}_compare.png": png,
            f"{stem}_local_global.png": near_and_far_picture(found),
            f"{stem}_compare.html": page(
                lambda: report.compare_page(
                    found,
                    typed_command(arguments),
                    warnings=arguments.heard,
                    steps=[(again_words(found), again(found, arguments))],
                    picture=png,
                )
            ),
        }
    with named_stage("writing"):
        written = leave_files(arguments.output, files)
    if not arguments.quiet:
        summarise(found, arguments)
        name_files(written)
    told = {
        "measure": found.measure,
        "rows": found.to_records(),
        "sentences": say_comparison(found),
        "again": again(found, arguments),
    }
    tell_json(arguments, source if isinstance(source, Dataset) else None, written, told)


def say_in_flags(found: Comparison, wording: Callable[[Any], Any]) -> None:
    """Say what methods told in flags of the command line.

    Parameters
    ----------
    found : Comparison
        All rows; replaced in place.
    wording : callable
        Says a text, or texts, in flags.
    """
    for at, row in enumerate(found.rows):
        names = ("facts", "failure", "notes")
        found.rows[at] = replace(row, **{name: wording(getattr(row, name)) for name in names})


def drawn(arguments: argparse.Namespace) -> Callable[[float, int], Dataset]:
    """Built-in latent as a function of noise and seed.

    Parameters
    ----------
    arguments : argparse.Namespace
        With ``data``, ``n_features`` and ``data_kernel``.

    Returns
    -------
    callable
        Draws a data set.
    """
    return partial(_draw_one, arguments)


def own_components(source: Dataset | Callable[[float, int], Dataset]) -> int:
    """Number of coordinates of a latent that is known by name, else 2.

    Parameters
    ----------
    source : Dataset or callable
        Data, or what draws them.

    Returns
    -------
    int
        Number of dimensions to look for.
    """
    if isinstance(source, Dataset):
        return 2
    latent = source(0.0, 0).latent
    return 2 if latent is None else int(latent.shape[1])


def lengthen_spectra(found: Comparison, kernel: Any, count: int = 10) -> None:
    """Give the first row of our strategies more eigenvalues than coordinates, for the eigengap.

    Parameters
    ----------
    found : Comparison
        All rows; its spectra are replaced in place. Blockwise has no spectrum of its own, since
        each clique has one.
    kernel : str, StationaryKernel or None
        Kernel of the IKD methods.
    count : int
        Number of eigenvalues.
    """
    own = {} if kernel is None else {"kernel": kernel}
    done: set[str] = set()
    for at, row in enumerate(found.rows):
        spectrum = found.spectra[at]
        if row.method not in ("eigen", "geodesic") or row.method in done or spectrum is None:
            continue
        if spectrum.size > row.n_components:
            continue
        done.add(row.method)
        X = found.data[at].X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = IKD(min(count, len(X) - 1), strategy=row.method, **own)
            if "refine" in model.get_params():
                model.set_params(refine=None)
            found.spectra[at] = model.fit(X).eigenvalues_


def comparison_csv(found: Comparison) -> str:
    """Every row of a comparison.

    Parameters
    ----------
    found : Comparison
        All rows.

    Returns
    -------
    str
        Comma-separated text.
    """
    records = found.to_records()
    left = ("notes", "facts", "used", "other_labels")
    columns = [name for name in records[0] if name not in left]
    # Further labels have a column for each of their scores.
    for record in records:
        for title, scores in record["other_labels"].items():
            record |= {f"{name} of {title}": value for name, value in scores.items()}
    more = dict.fromkeys(name for record in records for name in record if " of " in name)
    columns += list(more)
    return csv_text(columns, ([record.get(name, "nan") for name in columns] for record in records))


def draw(ax: Any, found: Comparison) -> None:
    """Draw the leading measure: against noise if it varies, else a bar for each method.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes.
    found : Comparison
        All rows.
    """
    gathered = entries(found)
    measure, dim = found.measure, found.rows[0].n_components
    words = MEASURE_WORDS[measure]
    levels, scores = scores_by_level(gathered, dim, measure)
    if len(levels) > 1:
        plot.noise_curves(levels, scores, ylabel=words, ax=ax)
    else:
        means = {title: float(mean_and_spread(runs)[0][0]) for title, runs in scores.items()}
        plot.level_bars(means, "{:.3f}".format, xlabel=words, ax=ax)


def near_and_far_picture(found: Comparison) -> bytes | None:
    """Picture of local against global measures; None where no method has both.

    Parameters
    ----------
    found : Comparison
        All rows.

    Returns
    -------
    bytes or None
        PNG.
    """
    points = near_and_far(entries(found))
    if not points:
        return None
    xlabel, ylabel = (f"{MEASURE_WORDS[m]} ({group_of(m)})" for m in (LOCAL, GLOBAL))
    return picture(
        lambda ax: plot.named_points(points, xlabel=xlabel, ylabel=ylabel, ax=ax), 7.2, 4.6
    )


def _draw_one(arguments: argparse.Namespace, noise: float, seed: int) -> Dataset:
    """Draw a built-in latent seen through random functions of the kernel asked for."""
    return datasets.gplvm_data(
        arguments.data,
        arguments.n_features,
        kernel=arguments.data_kernel,
        noise=noise,
        seed=seed,
    )


def _split(text: str) -> list[str]:
    """Names between commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[float]:
    """Numbers between commas, at least one."""
    return [float(part) for part in _split(text) or [text]]


def _whole_numbers(text: str) -> list[int]:
    """Whole numbers between commas, at least one."""
    return [int(part) for part in _split(text) or [text]]
