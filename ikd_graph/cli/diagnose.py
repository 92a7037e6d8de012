"""``ikd-graph diagnose``: what an embedding of a data set can be worth."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace

from . import common
from .console import facts, say
from .flags import in_flags, plain_settings, settings_flags
from .outcome import finish, plain


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "diagnose",
        help="predict how accurate an embedding of a data set can be",
        description="Count the correlations that can be trusted, predict the accuracy of an "
        "embedding and suggest its settings; save the numbers as .json and a page as .html.",
    )
    common.add_data_arguments(parser)
    for flag, name, default, text in (
        ("--components", "n_components", 2, "number of hidden coordinates"),
        ("--n-draws", "n_draws", 5, "number of data sets simulated for the expected accuracy"),
        ("--seed", "random_state", 0, "seed of the samples"),
    ):
        parser.add_argument(
            flag, dest=name, metavar="N", type=int, default=default,
            help=f"{text}; default: {default}",
        )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from ..study.diagnosis import diagnose

    data = common.read_data(arguments)
    with common.named_stage("diagnosing"):
        diagnosis = diagnose(
            data.X,
            arguments.n_components,
            n_draws=arguments.n_draws,
            random_state=arguments.random_state,
            verbose=0 if arguments.quiet else 1,
        )
    diagnosis = replace(
        diagnosis,
        suggestions=tuple(map(in_flags, diagnosis.suggestions)),
        warnings=tuple(map(in_flags, (*data.remarks, *diagnosis.warnings))),
    )
    used = settings_flags({"n_components": diagnosis.n_components, **diagnosis.parameters})
    step = ("To embed with these settings:", common.paste_command(arguments, "embed", used))
    numbers = asdict(diagnosis) | {"parameters": plain_settings(diagnosis.parameters)}
    stem = common.file_stem(data.name)
    files = {
        f"{stem}_diagnosis.json": json.dumps(plain(numbers), indent=1) + "\n",
        f"{stem}_diagnosis.html": common.page(
            arguments, "diagnosis_page", diagnosis, data.name, steps=[step]
        ),
    }

    def summarise() -> None:
        say(f"{data.name}: diagnosis")
        facts(list(diagnosis.findings().items()))
        for sentence in diagnosis.suggestions:
            say(f"- {sentence}")

    finish(arguments, data, files, summarise, step, {"diagnosis": numbers})
