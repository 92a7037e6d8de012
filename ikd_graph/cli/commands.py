"""What each command does: read its table, run a job, write files and lines about it."""

import argparse
import copy
import itertools
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import scipy.sparse as sp

from .._base.as_table import order_by_name, row_names
from .._base.dataset import Labels, encode_labels
from .._base.format import count, format_number, format_seconds, in_columns
from .._base.progress import stage
from .._base.validation import name_rows, one_of
from .._base.warn import no_warnings, warn
from .._preprocessing import RowSteps
from ..datasets import BUILTIN, Dataset, Reading, load
from ..estimator import IKD
from ..jobs import topology_result
from ..jobs.align import align
from ..jobs.cliques import inspect_cliques
from ..jobs.compare import STRATEGIES, compare
from ..jobs.compare_result import Comparison, sentences
from ..jobs.demo import demo
from ..jobs.diagnose import diagnose
from ..jobs.diagnose_result import FIGURE_SIZE
from ..jobs.label_scores import format_scores, score_labels
from ..jobs.placed import Fit
from ..jobs.topology import topology, topology_of
from ..maps.columns import ColumnRelevance
from ..maps.dubious import DubiousRows, dubious
from ..plotting import colors, plot
from ..plotting.charts import variance_fractions
from ..plotting.colors import INK, SECOND, paint_points
from ..similarity import GIVEN
from ..strategies import Blockwise, Geodesic, Linear
from ..trust import Trust, chance_of
from . import common
from .console import typed_name, write_lines
from .objects import method_parameters, plain_settings
from .parser import flags_of


def run_embed(arguments: argparse.Namespace) -> None:
    """Find the hidden coordinates of a data set, their errors and the columns that make them."""
    parameters = method_parameters(vars(arguments))
    data = common.read_data(arguments)
    model = IKD(**parameters, verbose=arguments.verbose).fit(data.X)
    Z, colors = model.embedding_, paint_points(data)
    files: dict[str, Any] = {"embedding.csv": common.coordinates_csv(model, Z, data)}
    # What took long is stored, whatever happens to errors, scores and pictures.
    (path,) = common.write_outputs(arguments, data, files)
    if arguments.save_model:
        path = path.with_name(f"{common.file_stem(data.name)}_model.ikd")
        arguments.written.append(_save_model(model, data, path))
    with stage(arguments.verbose, "errors and dubious rows"):
        errors, doubts = model.standard_errors_, _dubious_rows(model)
    further = {} if doubts is None else {"dubious_p": doubts.p_values}
    files["embedding.csv"] = common.coordinates_csv(model, Z, data, errors, **further)
    scores = {labels.title: score_labels(Z, labels) for labels in data.labels}
    null = common.typed_values(arguments, "null")
    typed = parameters | {"n_components": model.n_components_}
    others = {"methods": ("geodesic", "pca", "isomap"), "noise": 0}
    given = model.affinity in GIVEN
    with stage(arguments.verbose, "chance"):
        trust = Trust.of(model, None if given else chance_of(data.X, **null))
    with stage(arguments.verbose, "columns"):
        relevance = _relevant_columns(model, data, **null)
    if relevance is not None:
        files["columns.csv"] = relevance.to_pandas().to_csv(index=False)
    # Columns make every map, also one of nothing.
    relevance = None if trust.found_nothing else relevance
    answer = [*trust.sentences(data.name), *common.truth_lines(data, Z)]
    if doubts is not None and doubts.n_dubious:
        answer.append(doubts.sentences()[0])
    with stage(arguments.verbose, "loops"):
        loops = None if trust.found_nothing else topology_of(model)
    if loops is not None and loops.n_loops:
        answer.append(f"{loops.sentence[0].upper()}{loops.sentence[1:]}")
    again = ("To repeat this run, with nothing left to choose:", _embed_again(model, arguments))
    steps = []
    for name, text, own in (
        ("diagnose", "Whether anything would improve it:", {}),
        ("compare", "How other methods do on the same data:", others),
        ("cliques", "What the cliques of the graph are, and where they disagree:", {}),
    ):
        kept = {key: value for key, value in typed.items() if key in flags_of(name)}
        # Not every method takes tables with holes, or values between points.
        if ("missing" in kept) == ("missing" in typed) and (not given or name == "cliques"):
            steps.append((text, common.paste_command(arguments, name, kept | own)))
    fractions = variance_fractions(Z)

    def draw(ax: Any) -> None:
        plot.embedding(
            Z, colors, errors=errors if model.settings_.model_based else None,
            fractions=fractions, ax=ax, points=plot.names_of_points(data.row_names),
        )  # fmt: skip
        if doubts is not None:
            plot.mark_open(ax, Z, doubts.mask, label="dubious")

    files["embedding.png"], files["report.html"] = common.drawings(
        arguments, draw, "embed_page", model, data,
        answer=answer, scores=scores, columns=relevance, doubts=doubts, steps=[again, *steps],
    )  # fmt: skip
    lines = _summary(model, data, scores)
    if relevance is not None:
        along = "; those that vary most along" * bool(relevance.n_significant)
        lines.append(f"  {relevance.summary}{along}")
        lines += [f"    {sentence}" for sentence in relevance.sentences()]
    result = {
        **common.fit_record(model.settings_),
        "trust": trust.numbers,
        "scores": scores,
        "eigenvalues": model.eigenvalues_,
        "explained_variance_ratio": model.explained_variance_ratio_,
        # Root mean square of each column ikd0_se, ikd1_se, ...
        "standard_errors": np.sqrt((errors**2).mean(axis=0)),
        "fingerprint": model.fingerprint_,
        "components_of_the_graph": model.component_labels_.max() + 1,
        "columns": None if relevance is None else relevance.sentences(),
        "candidates": [candidate._asdict() for candidate in model.candidates_],
        "seconds": model.stage_times_,
        "again": again[1],
    }
    lines += [again[0], f"  {again[1]}"]
    common.finish(arguments, data, files, answer, lines, steps[int(not trust.is_weak)], result)


def _embed_again(model: IKD, arguments: argparse.Namespace) -> str:
    """Return the embedding as a command with nothing left to choose."""
    typed = method_parameters(vars(arguments))
    # "auto" is one kernel of the closed form.
    used = {**model.settings_.parameters(), "kernel": typed.get("kernel", "auto")}
    return common.paste_command(arguments, "embed", typed | used)


def _summary(model: IKD, data: Dataset, scores: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return lines on a fit."""
    size = f"{count(data.n_samples, 'point')} of {count(data.n_features, 'column')}"
    rows = []
    told = repr(model.kernel_) == repr(model.settings_.kernel)
    if not told and not isinstance(model.settings_.strategy, Linear):
        rows.append(("kernel", repr(model.kernel_)))
    if model.cliques_ is not None:
        sizes = model.cliques_.sizes
        text = f"{format_number(sizes.size)}, the largest of {sizes.max()} points"
        rows.append(("cliques", text))
    if model.negative_mass_ is not None:
        fraction = f"{model.explained_variance_ratio_.sum():.1%} of the spectrum"
        rows.append(("closed form", f"{fraction}; {model.negative_mass_:.1%} is negative"))
    if model.n_iter_:
        rows.append(("refinement", count(model.n_iter_, "step")))
    rows += [(title or "labels", format_scores(values)) for title, values in scores.items()]
    rows.append(("fingerprint", model.fingerprint_))
    rows.append(("time", format_seconds(sum(model.stage_times_.values()))))
    return [f"  {line}" for line in (size, *str(model.settings_).splitlines(), *in_columns(rows))]


def _relevant_columns(model: IKD, data: Dataset, **null: str) -> ColumnRelevance | None:
    """Find the columns that make an embedding; None of values between points or with holes."""
    if model.affinity in GIVEN or data.n_samples < 4:
        return None
    with no_warnings(".* columns of X are constant|columns that were shifted"):
        # The result tells of ordered rows.
        try:
            return model.columns(names=data.feature_names or None, **null)
        except ValueError as error:
            warn(f"the columns that make the map are not listed: {error}")
    return None


def _dubious_rows(model: IKD, **new: Any) -> DubiousRows | None:
    """Find dubious rows of an embedding; None of values between points, or of a small table."""
    if model.affinity in GIVEN:
        return None
    with suppress(ValueError):
        return model.dubious(**new)
    return None


def _save_model(model: IKD, data: Dataset, path: Path) -> Path:
    """Save a model with the names of its columns and what was done to its rows."""
    saved = copy.copy(model)
    saved.preprocessor_ = data.steps or RowSteps()
    if data.feature_names:
        saved.feature_names_in_ = np.array(data.feature_names, dtype=object)
    saved.save(path)
    return path


def run_place(arguments: argparse.Namespace) -> None:
    """Place new rows in the embedding of a saved model, which does to them what it did to its own.

    Columns are matched by name.
    """
    model = IKD.load(arguments.model)
    columns = tuple(getattr(model, "feature_names_in_", ()))
    # Nobody typed the columns that may be missing: the model asks for them.
    arguments.flags["columns"] = f"the model {arguments.model}"
    data = common.read_data(arguments, columns=columns, keep_missing=True)
    X = data.frame.filter(columns) if columns else data.X
    with no_warnings("the standard errors of all rows"):
        # The details say why a model has none.
        Z, residuals, errors = model._place(X, errors=True)
    fit = Fit.of(model, residuals)
    answer = [f"{data.name}: {count(len(Z), 'row')} placed in {arguments.model}."]
    answer += [] if fit is None else fit.sentences
    codes = np.zeros(len(Z), dtype=np.int64) if fit is None else fit.misfit.astype(np.int64)

    def draw(ax: Any) -> None:
        old = model.embedding_
        gray = ("#c3c8ce",)
        plot.embedding(old, [0] * len(old), names=("model",), ax=ax, palette=gray, legend=False)
        plot.embedding(
            Z, codes, names=(data.name, "fit worse than 95 % of the model"),
            label_title="new rows (the model is gray)", palette=(SECOND, INK),
            points=plot.names_of_points(data.row_names), ax=ax,
        )  # fmt: skip

    known = np.isfinite(Z).all(axis=1)
    doubts = _dubious_rows(model, new=(Z[known], X[known])) if known.any() else None
    further = {}
    if doubts is not None:
        further["dubious_p"] = np.full(len(Z), np.nan)
        further["dubious_p"][known] = doubts.p_values
    table = common.coordinates_csv(model, Z, data, errors, residual=residuals, **further)
    files = {"placed.csv": table, "placed.png": common.drawings(arguments, draw)[0]}
    done = "; ".join(getattr(model, "preprocessor_", RowSteps()).steps())
    lines = [f"  as in the model  {done}"] if done else []
    lines += [f"  {why}" for why in model.settings_.reasons.values() if "no standard errors" in why]
    step = ("To place them again:", common.typed_command(arguments))
    record = {"model": str(arguments.model)} | ({} if fit is None else fit._asdict())
    common.finish(arguments, data, files, answer, lines, step, record)


def run_align(arguments: argparse.Namespace) -> None:
    """Bring sessions that share columns, or rows, into one frame; every file is a session.

    Columns and rows are recognized by their names; unknown cells stay unknown.
    """
    given = method_parameters(vars(arguments)) | common.typed_values(arguments, "min_columns")
    sessions = _read_sessions(arguments)
    frames, names = [each.frame for each in sessions], [each.name for each in sessions]
    found = align(frames, names=names, **given)
    labels = _labels_of(sessions)
    paint = None if labels is None else colors.paint(labels)
    png, _ = common.drawings(arguments, lambda ax: found.plot(color=paint, ax=ax))
    data = replace(sessions[0], name="aligned")
    step = ("To align them again:", common.typed_command(arguments))
    table, lines = found.to_pandas(), found.details()
    if labels is not None:
        title = labels.title or "label"
        table[title] = labels.texts
        # A row that sessions share would be its own neighbor.
        points = table.filter(like="ikd").drop_duplicates()
        scores = score_labels(points.to_numpy(), replace(labels, y=labels.y[points.index]))
        lines.append(f"{title}: {format_scores(scores)}")
    files = {"sessions.csv": table.to_csv(index=False), "sessions.png": png}
    record = {
        "sessions": found.names,
        "agreements": found.agreements,
        "mixing": found.mixing.to_dict("list"),
        "groups": found.groups,
        "fixed": [int((kinds == "fixed").sum()) for kinds in found.fixed],
        "joints": [] if found.joints is None else found.joints.kinds.tolist(),
    }
    lines = [f"  {line}" for line in lines]
    common.finish(arguments, data, files, found.answer, lines, step, record)


def _labels_of(sessions: Sequence[Dataset]) -> Labels | None:
    """First labels of the rows of all sessions; None where one has none."""
    if not all(each.labels for each in sessions):
        return None
    texts = np.concatenate([np.array(each.labels[0].texts, dtype=object) for each in sessions])
    return Labels(sessions[0].labels[0].title, *encode_labels(texts))


def _read_sessions(arguments: argparse.Namespace) -> list[Dataset]:
    """Read every file, unknown cells as NaN."""
    paths, keep = arguments.data, not hasattr(arguments, "impute")
    if len(paths) < 2:
        raise ValueError(f"DATA must be two files or more, got {len(paths)}; embed takes one")
    sessions = [common.read_data(arguments, path, keep_missing=keep) for path in paths]
    # Messages are about rows of all sessions.
    name_rows(())
    if len({data.name for data in sessions}) < len(sessions):
        names = [f"{path} ({number})" for number, path in enumerate(paths, 1)]
        sessions = [replace(data, name=name) for data, name in zip(sessions, names, strict=True)]
    return sessions


def run_compare(arguments: argparse.Namespace) -> None:
    """Compare strategies and other methods on one similarity and one graph."""
    parameters = method_parameters(vars(arguments))
    data = common.read_data(arguments)
    own = ("noise", "n_draws", "max_rows", "time_limit", "methods", "null")
    parameters |= common.typed_values(arguments, *own)
    stopped: Any = None
    try:
        result = compare(data, verbose=arguments.verbose, **parameters)
    except KeyboardInterrupt as interrupt:
        stopped = getattr(interrupt, "finished", None)
        if stopped is None:
            raise
        result = stopped
    step = _after_comparison(result, arguments)
    rows, points = result.to_pandas(), result.points()
    files: dict[str, Any] = {
        "compare.csv": rows.to_csv(index=False),
        "compare_points.csv": points.to_csv(index=False),
    }
    # What took long is stored, whatever happens to the pictures.
    common.write_outputs(arguments, data, files)
    files["compare.png"], files["compare.html"] = common.drawings(
        arguments, lambda ax: result.plot(ax), "compare_page", result,
        size=result.figure_size, steps=[step],
    )  # fmt: skip
    record = {
        "measure": result.measure,
        "shared": result.head,
        "settings": plain_settings(result.used),
        "rows": rows.to_dict("records"),
        "tests": [{**test._asdict(), "better": test.better} for test in result.tests],
        "sentences": sentences(result),
        "trust": {} if result.trust is None else result.trust.numbers,
        "points": points.to_dict("list"),
    }
    common.finish(arguments, data, files, result.answer, result.details(), step, record)
    if stopped is not None:
        raise KeyboardInterrupt("stopped while comparing; the methods that were finished are kept")


def _after_comparison(result: Comparison, arguments: argparse.Namespace) -> tuple[str, str]:
    """Say what to do next, and the command: the better strategy, or the usual one."""
    ran = {
        row.title: row for row in result.rows_at(result.levels[0])
        if row.method in STRATEGIES and row.method[:6] != "paper_"
    }  # fmt: skip
    if not ran:
        return "To compare again:", common.typed_command(arguments)
    methods = [row.method for row in ran.values()]
    better = ran.get(result.tests[0].better or "") if result.tests else None
    name = better.method if better else "geodesic" if "geodesic" in methods else methods[0]
    plain, *refined = (row for row in ran.values() if row.method == name)
    # As embed does it, unless that is worse by more than its error.
    test = result.difference(plain.title, refined[0].title, plain.noise) if refined else None
    best = refined[0] if test and test.better != plain.title else plain
    size = getattr(arguments, "n_components", 2)
    used = {**result.used, "strategy": STRATEGIES[name], "n_components": size}
    if best.refine is None:
        used["refine"] = None
    if not STRATEGIES[name].uses_graph:
        del used["graph"]
    step = f"To embed with these settings ({best.title}):"
    return step, common.paste_command(arguments, "embed", used)


def run_cliques(arguments: argparse.Namespace) -> None:
    """Count the cliques of the graph of a data set, list them and show how they overlap."""
    own = method_parameters(vars(arguments))
    own |= common.typed_values(arguments, "limit", "stability", "signed", "verbose")
    data = common.read_data(arguments, edges=getattr(arguments, "edges", None))
    if sp.issparse(data.X):
        # Edges are taken as they are.
        one_of(("precomputed",))("affinity", own.pop("affinity", "precomputed"))
    view = inspect_cliques(data, **own)
    answer, lines, result = [*view.answer], [], {}
    step = ("To look again:", common.typed_command(arguments))
    if view.model is not None and view.settings is not None:
        lines, result = str(view.settings).splitlines(), common.fit_record(view.settings)
        answer += common.truth_lines(data, view.model.embedding_)
        if "signed" not in own:
            step = ("To embed with this graph:", _embed_again(view.model, arguments))
    counts, advice = view.to_record(), view.advice()
    files: dict[str, Any] = {
        "cliques.csv": view.members().to_csv(index=False),
        "cliques.json": common.json_text(counts) + "\n",
    }
    files["cliques.png"], files["cliques.html"] = common.drawings(
        arguments, lambda ax: view.plot(ax), "cliques_page", view, steps=[step]
    )
    if arguments.export:
        files[f"graph.{arguments.export}"] = view.exported(f".{arguments.export}")
    lines = [f"  {line}" for line in [*lines, *in_columns(view.facts().items())]]
    lines += [f"- {sentence}" for sentence in advice]
    result |= {"cliques": counts, "advice": advice}
    common.finish(arguments, data, files, answer, lines, step, result)


def run_diagnose(arguments: argparse.Namespace) -> None:
    """Tell what an embedding of a data set can be worth, and list what would help."""
    parameters = method_parameters(vars(arguments))
    data = common.read_data(arguments)
    parameters |= common.typed_values(arguments, "fdr", "null")
    if hasattr(arguments, "remove_mean_row"):
        parameters["n_removed"] = 1
    diagnosis = diagnose(data.X, verbose=arguments.verbose, **parameters)
    steps = [
        (step.words, common.paste_command(arguments, step.command, step.settings))
        for step in diagnosis.steps
    ]
    names = ["n_points", "n_observed", "n_components", "n_used", "n_trusted", "p_value"]
    # What two diagnoses are compared by is no table.
    names += ["agreement", "reliability", *(f.name for f in fields(diagnosis) if f.compare)]
    numbers = {name: getattr(diagnosis, name) for name in names}
    numbers |= {name: getattr(diagnosis, name)._asdict() for name in ("chance", "moments")}
    numbers["parameters"] = plain_settings(diagnosis.parameters)
    numbers["tried"] = [gain._asdict() for gain, _ in diagnosis.tried]
    files: dict[str, Any] = {
        "diagnosis.json": common.json_text(numbers) + "\n",
        "pairs.csv": diagnosis.to_pandas(data.row_names or None).to_csv(index=False),
    }
    files["diagnosis.png"], files["diagnosis.html"] = common.drawings(
        arguments, lambda ax: diagnosis.plot(ax, data.row_names, paint_points(data)),
        "diagnosis_page", diagnosis, data.name, size=FIGURE_SIZE, data=data, steps=steps,
    )  # fmt: skip
    lines = in_columns(diagnosis.findings().items(), "  ")
    lines += [line for words, command in steps[1:] for line in (f"{words}:", f"  {command}")]
    first, record = (f"{steps[0][0]}:", steps[0][1]), {"diagnosis": numbers, "steps": steps}
    answer = diagnosis.trust.sentences(data.name)
    answer += common.truth_lines(data, diagnosis.embedding, diagnosis.rows)
    common.finish(arguments, data, files, answer, lines, first, record)


def run_dubious(arguments: argparse.Namespace) -> None:
    """Find rows of a map, of any method, whose neighbors there the columns contradict.

    Rows of map and table are recognized by their names.
    """
    data = common.read_data(arguments, keep_missing=True)
    Z = _read_map(arguments.map, data)
    found = dubious(Z, data.frame, **common.typed_values(arguments, "null"))
    files: dict[str, Any] = {"dubious.csv": found.to_pandas().to_csv(index_label="row")}
    files["dubious.png"], _ = common.drawings(
        arguments, lambda ax: found.plot(paint_points(data), ax=ax)
    )
    holes = {"missing": "pairwise"} if np.isnan(data.X).any() else {}
    step = ("To map the table by ikd_graph:", common.paste_command(arguments, "embed", holes))
    record = {"map": str(arguments.map), "dubious": np.flatnonzero(found.mask)}
    lines = [f"  coordinates of {arguments.map}: {', '.join(map(str, Z.columns))}"]
    common.finish(arguments, data, files, found.sentences(), lines, step, record)


def _read_map(path: str, data: Dataset) -> Any:
    """Return coordinates of a file by the rows of a table; of one that embed wrote those alone."""
    read = load(path)
    if np.array_equal(read.X[0], np.arange(read.n_features)) and read.n_samples > data.n_samples:
        # Numbers of columns, as pandas writes them, look like a row.
        with suppress(ValueError):
            read = load(path, reading=Reading(header="1"))
    coordinates = read.frame
    for labels in read.labels:
        # Of a table y are labels, of a map the height.
        if labels.title.lower() == "y" and labels.numbers is not None:
            coordinates[labels.title] = labels.numbers
    own = coordinates.filter(regex=r"^ikd\d+$")
    coordinates = own if own.shape[1] else coordinates
    cure = "name them alike, or take the names out of one file to go by position"
    names = row_names(coordinates)
    order = order_by_name(f"the map {path}", names, data.row_names, "the rows of DATA", cure)
    return coordinates if order is None else coordinates.iloc[order]


def run_topology(arguments: argparse.Namespace) -> None:
    """Count components, loops and voids of a data set, and say where each row lies on each loop."""
    given = method_parameters(vars(arguments))
    data = common.read_data(arguments)
    found = topology(data, verbose=arguments.verbose, **given)
    files: dict[str, Any] = {"topology.csv": found.features.to_csv(index=False)}
    if found.n_loops:
        angles = {f"angle{k}": found.circular_coordinate(k) for k in range(found.n_loops)}
        named = pandas.DataFrame(angles, data.names)
        files["angles.csv"] = named.to_csv(index_label=data.row_title or "row")
    files["topology.png"], _ = common.drawings(
        arguments, lambda ax: found.plot(ax=ax), size=topology_result.FIGURE_SIZE
    )
    step = ("To look at the map:", common.paste_command(arguments, "embed", given))
    record = {"betti_numbers": found.betti_numbers, "features": found.features.to_dict("records")}
    common.finish(arguments, data, files, found.sentences(), [], step, record)


def run_demo(arguments: argparse.Namespace) -> None:
    """Compare methods where the truth is known, show cliques, and look at noise alone."""
    common.check_outputs(arguments)
    result = demo(bool(arguments.verbose))
    arguments.data, words = "digits", "A real table, of digits; your own file goes in its place:"
    step = (words, common.paste_command(arguments, "embed", {}))
    rows = result.to_pandas()
    files: dict[str, Any] = {"scores.csv": rows.to_csv(index=False)}
    files["picture.png"], files["report.html"] = common.drawings(
        arguments, lambda ax: result.plot(ax), "demo_page", result, steps=[step],
        size=(9.0, 6.4),
    )  # fmt: skip
    record = {
        "scores": rows.to_dict("records"),
        "coverage": result.coverage,
        "p value": result.chance.p_value,
    }
    data = replace(result.data, name="demo")
    common.finish(arguments, data, files, result.answer, [], step, record)


def run_datasets(arguments: argparse.Namespace) -> None:
    """List the built-in data sets, none of which needs a download."""
    usual = "A latent of the paper seen through random functions, with noise."
    rows = [(name, (load.__doc__ or usual).split("\n")[0]) for name, load in BUILTIN.items()]
    write_lines([*in_columns(rows, "  "), f"  {typed_name()} embed digits"])


# Few points compile the same as many: enough here for pieces, short-circuit edges and landmarks,
# of which frames of cliques have some beyond 400 points.
_COMPILED: dict[int, tuple[dict[str, Any], ...]] = {
    450: (
        {},
        {"strategy": Geodesic(path="covariance"), "affinity": "cosine", "graph": 0.5},
        {"strategy": "blockwise"},
        {"strategy": Blockwise.paper(), "refine": None},
        {"strategy": "geodesic", "n_landmarks": 0.5},
    ),
    60: (
        {"strategy": "eigen", "affinity": "euclidean", "refine": "likelihood"},
        {"strategy": "geodesic", "kernel": "rational_quadratic", "refine": "likelihood"},
    ),
}
"""Fits by their number of points."""


def run_warm(arguments: argparse.Namespace) -> None:
    """Compile ahead, so that no first fit has to wait, as in images of containers.

    What fits use is kept where later processes find it: next to the package, or in the folder that
    NUMBA_CACHE_DIR names.
    """
    from .. import _jit
    from .._base import jit

    _ = _jit.graph
    if os.environ.get(jit.CACHE_SWITCH) == "0" or not jit.cache_folders:
        raise OSError(
            "nothing compiled would be kept: no folder for it can be written, or "
            f"{jit.CACHE_SWITCH} is 0; unset it, or name a folder in NUMBA_CACHE_DIR"
        )
    start, rows = time.perf_counter(), BUILTIN["digits"]().X
    with no_warnings():
        # Of so few points some fits are poor, and say so.
        for n_points, fits in _COMPILED.items():
            # On one thread, and on several.
            for parameters, n_jobs in itertools.product(fits, (1, -1)):
                model = IKD(n_jobs=n_jobs, **parameters).fit(rows[:n_points])
                model.inverse_transform(model.transform(rows[-2:]))
        # Some cliques, and a cover where there are more than the limit.
        view = inspect_cliques(rows[:n_points], affinity="correlation", graph=0.5, limit=1)
        view.facts()
        view.chart()
    if not arguments.quiet:
        write_lines([f"What fits use is compiled ({time.perf_counter() - start:.0f} s)."])
