"""``ikd-graph diagnose``: what an embedding of a data set can be worth."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace

from ..show import report
from ..show.words import settings_flags
from ..study.diagnosis import Diagnosis, diagnose
from .common import (
    add_data_arguments,
    file_stem,
    leave_files,
    name_files,
    named_stage,
    page,
    paste_command,
    read_data,
    typed_command,
)
from .console import facts, say
from .outcome import tell_json


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "diagnose",
        help="predict how accurate an embedding of a data set can be",
        description="Count the correlations that can be trusted, predict the accuracy of an "
        "embedding and suggest its settings; save the numbers as .json and a page as .html.",
    )
    add_data_arguments(parser)
    for flag, default, text in (
        ("--n-components", 2, "number of hidden coordinates"),
        ("--n-draws", 5, "number of data sets simulated for the expected accuracy"),
    ):
        parser.add_argument(
            flag, metavar="N", type=int, default=default, help=f"{text}; default: {default}"
        )
    parser.add_argument(
        "--random-state", "--seed", metavar="N", type=int, default=0,
        help="seed of the samples; default: 0",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    data = read_data(arguments)
    with named_stage("diagnosing"):
        found = diagnose(
            data.X,
            arguments.n_components,
            n_draws=arguments.n_draws,
            random_state=arguments.random_state,
            verbose=0 if arguments.quiet else 1,
        )
    say_in_flags = arguments.wording
    found = replace(
        found,
        suggestions=say_in_flags(found.suggestions),
        warnings=say_in_flags((*data.remarks, *found.warnings)),
    )
    stem = file_stem(data.name)
    files: dict[str, str | bytes | None] = {
        f"{stem}_diagnosis.json": json.dumps(asdict(found), indent=1) + "\n",
        f"{stem}_diagnosis.html": page(
            lambda: report.diagnosis_page(
                found,
                data.name,
                typed_command(arguments),
                [("To embed with these settings:", embed_command(arguments, found))],
            )
        ),
    }
    with named_stage("writing"):
        written = leave_files(arguments.output, files)
    if not arguments.quiet:
        say(f"{data.name}: diagnosis")
        facts(list(found.findings().items()))
        for sentence in found.suggestions:
            say(f"- {sentence}")
        say("to embed with these settings:")
        say(f"  {embed_command(arguments, found)}")
        name_files(written)
    told = {"diagnosis": asdict(found), "again": embed_command(arguments, found)}
    tell_json(arguments, data, written, told)


def embed_command(arguments: argparse.Namespace, found: Diagnosis) -> str:
    """The embedding that was diagnosed, as a command with nothing left to choose."""
    return paste_command(
        arguments, "embed", settings_flags({"n_components": found.n_components, **found.parameters})
    )
