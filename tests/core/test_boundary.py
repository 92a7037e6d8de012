"""Whole numbers that cannot be: what every public function answers, in forked children.

Run as ``python test_boundary.py 5 [function ...]``: counts of what came of the calls with the first
5 of the bad numbers, as JSON.
"""

import collections
import dataclasses
import importlib
import inspect
import itertools
import json
import operator
import os
import pkgutil
import re
import resource
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np

sys.path += [str(Path(__file__).parents[1] / "_support")] * (__name__ == "__main__")
import isolated
import pytest

import ikd_graph
from ikd_graph import (
    IKD,
    blockwise,
    chance,
    cliques,
    covariance,
    datasets,
    dimension,
    eigen,
    geodesics,
    gplvm,
    graph,
    kernels,
    metrics,
    missing,
    model_selection,
    paper,
    refine,
    similarity,
    strategies,
)
from ikd_graph.jobs import baselines, threshold_scan
from ikd_graph.plotting import plot

N = 14
BAD = [-1, 0, N, 2**31, 2.5, 1, N - 1, N + 1]
SECONDS, BYTES = 30, 6 * 2**30
RIGHT = {"ok", "refused", "memory"}

LINE = np.linspace(0.0, 3.0, N)[:, None]
PLANE = np.column_stack([LINE, np.cos(LINE)])
SQ_DIST = (LINE - LINE.T) ** 2
KERNEL = kernels.SquaredExponential()
CORR = KERNEL.covariance(SQ_DIST)
RNG = np.random.default_rng(0)
X = np.cos(LINE @ np.ones((1, 30)) + RNG.uniform(0, 6, 30)) + 0.1 * RNG.normal(size=(N, 30))
Y = np.arange(N) % 2
G = graph.threshold(CORR, 0.3)
LOW, HIGH, WEIGHTS = graph.edges(G)
COVER = cliques.cover(G, 3)
SOLVED = blockwise.solve(G, COVER, "matern", 1)
PLACES = blockwise.merge(SOLVED).coordinates
FLAT = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1.0]])
MIRRORED = blockwise.solved_blocks([[0, 1, 2, 3], [2, 3, 4, 5]], [FLAT[:4], FLAT[2:]])
MEMBERS, OWN = [[0, 1, 2, 3], [2, 3, 4, 5]], [PLANE[:4], PLANE[2:6]]
QUICK = {"strategy": "geodesic", "refine": None, "affinity": "euclidean", "graph": 4}
ROWS = similarity.compare(X, "correlation")
PROCESS = gplvm.GaussianProcess(PLANE, X, KERNEL, 1.0, 0.1)


def _fit(**parameters):
    return IKD(**{**QUICK, **parameters}).fit(X).embedding_


def _rule(kind, **parameters):
    return kind(**parameters).build(ROWS), _fit(graph=kind(**parameters))


def _sets(indptr, members):
    return blockwise.solve(G, cliques.Blocks(indptr, members), "matern", 1)


def _spoilt(indptr, members):
    solved = SOLVED._replace(blocks=cliques.Blocks(indptr, members))
    return (
        blockwise.merge(solved),
        blockwise.merge_greedy(solved),
        blockwise.residuals(solved, PLACES),
    )


def _placed(points):
    return plot.embedding(PLANE, points=points)


def _columns_joined(seed):
    return dimension.estimate(X, max_components=2, random_state=seed)


SETS = {"indptr": COVER.blocks.indptr, "members": COVER.blocks.members}
CALLS = {
    "IKD": (
        _fit,
        {"n_components": 2, "n_landmarks": 8, "n_jobs": 1, "verbose": 0, "random_state": 0},
    ),
    "align": (
        ikd_graph.align,
        {"sessions": [X, X], "columns": "same", "n_components": 2, "min_columns": 20, **QUICK},
    ),
    **{
        f"paper.{function.__name__}": (function, {"X": X, "M": 1})
        for function in (paper.algorithm_1, paper.blockwise, paper.geodesic)
    },
    "blockwise.merge": (blockwise.merge, {"solved": SOLVED, "n_points": N, "max_rounds": 20}),
    "blockwise.merge_greedy": (blockwise.merge_greedy, {"solved": SOLVED, "n_points": N}),
    "blockwise.mirror": (
        blockwise.mirror,
        {"solved": MIRRORED, "coordinates": FLAT, "joint": 0},
    ),
    "blockwise.place_groups": (
        blockwise.place_groups,
        {"points": PLANE, "labels": Y.astype(np.int64), "frame": PLANE},
    ),
    "blockwise.solved_blocks": (
        lambda members: blockwise.merge(blockwise.solved_blocks(members, OWN)),
        {"members": MEMBERS},
    ),
    "blockwise.SolvedBlocks": (_spoilt, SETS),
    "blockwise.solve": (
        blockwise.solve,
        {
            "graph": G,
            "cliques": [[0, 1, 2], [1, 2, 3]],
            "kernel": "matern",
            "n_components": 1,
            "n_observed": 30,
        },
    ),
    "cliques.Cliques": (
        lambda cliques_, n_points: cliques.Cliques(cliques_, n_points=n_points).of_point(1),
        {"cliques_": MEMBERS, "n_points": N},
    ),
    "cliques.clique_graph": (cliques.clique_graph, {"cliques": MEMBERS, "min_overlap": 1}),
    "cliques.communities": (cliques.communities, {"cliques": MEMBERS, "k": 3, "n_points": N}),
    "cliques.cover": (cliques.cover, {"g": G, "min_size": 3, "max_cliques": 5}),
    "cliques.covering_cliques": (cliques.covering_cliques, {"g": G}),
    "cliques.iter_cliques": (
        lambda **given: list(cliques.iter_cliques(**given)),
        {"g": G, "min_size": 1, "chunk": 8},
    ),
    "cliques.maximal_cliques": (cliques.maximal_cliques, {"g": G, "min_size": 1, "limit": 50}),
    "cliques.overlaps": (cliques.overlaps, {"cliques": MEMBERS, "min_overlap": 1}),
    "cliques.stability": (
        cliques.stability,
        {
            "X": X,
            "graph": G,
            "n_resamples": 4,
            "n_shifted": 2,
            "random_state": 0,
            "cliques": [[0, 1, 2], [1, 2, 3]],
        },
    ),
    "cliques.summary": (
        cliques.summary,
        {"g": G, "cliques": [[0, 1, 2], [1, 2, 3]], "n_components": 2},
    ),
    "columns": (ikd_graph.columns, {"Z": PLANE, "X": X, "random_state": 0}),
    "loadings": (ikd_graph.loadings, {"Z": PLANE, "X": X, "columns": np.array([0, 1])}),
    "loadings.top": (lambda n: ikd_graph.loadings(PLANE, X).top(n), {"n": 3}),
    "compare": (
        ikd_graph.compare,
        {
            "X": X,
            "methods": ["geodesic"],
            "noise": [0.0],
            "n_components": 2,
            "n_draws": 2,
            "max_rows": 14,
            "random_state": 0,
            "n_jobs": 1,
            "verbose": 0,
            "graph": 4,
            "refine": None,
            "affinity": "euclidean",
        },
    ),
    "jobs.baselines.embed": (
        baselines.embed,
        {"name": "pca", "X": X, "n_components": 2, "seed": 0},
    ),
    "covariance.PairwiseMoments": (
        lambda counts: refine.distance_precision(WEIGHTS, KERNEL, counts),
        {"counts": np.full(len(WEIGHTS), 30)},
    ),
    "covariance.effective_columns": (covariance.effective_columns, {"X": X, "n_removed": 0}),
    "datasets.fixed_latent": (
        datasets.fixed_latent,
        {"name": "hard", "n_samples": N, "seed": 0},
    ),
    "datasets.gp_mapping": (
        datasets.gp_mapping,
        {"latent": PLANE, "n_features": 5, "seed": 0},
    ),
    "datasets.gplvm_data": (
        datasets.gplvm_data,
        {"latent": PLANE, "n_features": 5, "seed": 0},
    ),
    "datasets.figure_eight": (
        datasets.figure_eight,
        {"n_samples": N, "n_features": 5, "seed": 0},
    ),
    "datasets.half_moons": (datasets.half_moons, {"n_samples": N, "seed": 0}),
    "datasets.ou_latent": (
        datasets.ou_latent,
        {"n_samples": N, "n_components": 2, "seed": 0},
    ),
    "datasets.spike_counts": (
        datasets.spike_counts,
        {"n_samples": N, "n_features": 5, "seed": 0},
    ),
    "datasets.surface": (datasets.surface, {"n_samples": N, "n_features": 5, "seed": 0}),
    "datasets.swiss_roll": (datasets.swiss_roll, {"n_samples": N, "seed": 0}),
    "diagnose": (
        ikd_graph.diagnose,
        {"X": X, "n_components": 2, "n_removed": 0, "random_state": 0, "verbose": 0},
    ),
    "inspect_cliques": (
        ikd_graph.inspect_cliques,
        {"X": X, "graph": 0.5, "affinity": "correlation", "limit": 50, "stability": 4},
    ),
    "topology": (ikd_graph.topology, {"X": X, "n_components": 2}),
    "chance.chance_test": (chance.chance_test, {"X": X, "random_state": 0}),
    "dimension.estimate": (
        dimension.estimate,
        {"X": X, "max_components": 2, "random_state": 0},
    ),
    "eigen.coordinates": (
        eigen.coordinates,
        {"sq_dist": SQ_DIST, "n_components": 1, "reference": 0},
    ),
    "eigen.eigengap": (eigen.eigengap, {"eigenvalues": np.arange(9.0)[::-1], "largest": 3}),
    "eigen.gram_matrix": (eigen.gram_matrix, {"sq_dist": SQ_DIST, "reference": 0}),
    "eigen.reference_index": (eigen.reference_index, {"sq_dist": SQ_DIST, "reference": 0}),
    "geodesics.farthest_nodes": (geodesics.farthest_nodes, {"g": G, "count": 3}),
    "geodesics.shortest_distances": (
        geodesics.shortest_distances,
        {"g": G, "sources": np.array([0, 1])},
    ),
    "gplvm.fit_variances": (
        gplvm.fit_variances,
        {"latent": LINE, "sample_cov": CORR, "n_observed": 30, "kernel": KERNEL},
    ),
    "gplvm.log_likelihood": (
        gplvm.log_likelihood,
        {"latent": LINE, "sample_cov": CORR, "n_observed": 30, "kernel": KERNEL, "noise": 0.1},
    ),
    "graph.CsrGraph": (
        graph.CsrGraph,
        {"indptr": G.indptr, "indices": G.indices, "weights": G.weights},
    ),
    "graph.Neighbors": (lambda **given: _rule(graph.Neighbors, **given), {"k": 4}),
    "graph.Threshold": (
        lambda **given: _rule(graph.Threshold, **given),
        {"s0": 0.5, "n_neighbors": 3, "n_removed": 0},
    ),
    "graph.as_graph": (graph.as_graph, {"obj": G, "n": N}),
    "graph.from_edges": (
        graph.from_edges,
        {"n": N, "low": LOW, "high": HIGH, "weights": WEIGHTS},
    ),
    "graph.neighbors": (graph.neighbors, {"corr": CORR, "k": 4}),
    "graph.row_neighbors": (graph.row_neighbors, {"rows": X, "k": 4}),
    "graph.significant_graph": (graph.significant_graph, {"X": X, "n_removed": 0}),
    "graph.strongest": (graph.strongest, {"g": G, "k": 3}),
    "graph.subgraph": (graph.subgraph, {"g": G, "nodes": np.array([0, 1, 2])}),
    "metrics.decoding_r2": (
        metrics.decoding_r2,
        {"Z": PLANE, "y": LINE[:, 0], "k": 3, "n_splits": 3, "seed": 0},
    ),
    "metrics.held_out_r2": (metrics.held_out_r2, {"Z": PLANE, "held_out": X, "k": 3}),
    "metrics.knn_accuracy": (metrics.knn_accuracy, {"Z": PLANE, "y": Y, "k": 3}),
    "metrics.knn_scores": (
        metrics.knn_scores,
        {"Z": PLANE, "y": Y, "k": 3, "n_splits": 3, "seed": 0},
    ),
    "missing.Pairwise": (
        lambda min_columns: _fit(missing=missing.Pairwise(min_columns)),
        {"min_columns": 20},
    ),
    "model_selection.describe_effective_columns": (
        model_selection.describe_effective_columns,
        {"n_observed": 30, "free": 20.0},
    ),
    "model_selection.held_out_r2": (
        model_selection.held_out_r2,
        {"points": PLANE, "columns": X, "k": 3},
    ),
    "model_selection.sampled": (model_selection.sampled, {"n": N}),
    "plotting.plot.embedding": (_placed, {"points": [0, 1]}),
    "plotting.plot.gradients": (
        lambda n: plot.gradients(PLANE[:2], np.ones((2, 2, 2)), np.zeros((2, 2, 2)), "ab", n=n),
        {"n": 1},
    ),
    "plotting.plot.image": (
        lambda dpi: plot.image(plot.embedding(PLANE), dpi),
        {"dpi": 20},
    ),
    "plotting.plot.save": (
        lambda dpi: plot.save(plot.embedding(PLANE), Path(tempfile.mkdtemp()) / "a.png", dpi),
        {"dpi": 20},
    ),
    "plotting.plot.small_multiples": (
        lambda n_columns: plot.small_multiples({"a": PLANE, "b": PLANE}, n_columns=n_columns),
        {"n_columns": 2},
    ),
    "refine.Likelihood": (
        lambda **given: _fit(refine=refine.Likelihood(**given), affinity="correlation"),
        {"restarts": 1, "max_iter": 5},
    ),
    "refine.distance_precision": (
        refine.distance_precision,
        {"corr": WEIGHTS, "kernel": KERNEL, "n_observed": 30},
    ),
    "refine.likelihood": (
        refine.likelihood,
        {
            "sample_cov": CORR + 0.1 * np.eye(N),
            "n_observed": 30,
            "init": LINE,
            "restarts": 1,
            "random_state": 0,
        },
    ),
    "refine.local_likelihood": (
        refine.local_likelihood,
        {"rows": X, "init": PLANE, "max_iter": 5},
    ),
    "refine.random_closed_form": (
        lambda n_components: refine.random_closed_form(
            CORR, n_components, KERNEL, np.random.default_rng(0)
        ),
        {"n_components": 1},
    ),
    "refine.stress": (
        refine.stress,
        {"latent": LINE, "g": G, "kernel": KERNEL, "n_observed": 30, "max_iter": 5},
    ),
    "similarity.PairwiseSimilarity": (
        lambda min_columns: _fit(missing=missing.Pairwise(min_columns)),
        {"min_columns": 20},
    ),
    "strategies.Blockwise": (
        lambda **given: _fit(
            strategy=strategies.Blockwise(**given), graph=0.3, affinity="correlation"
        ),
        {"max_cliques": 5},
    ),
    "strategies.Eigen": (
        lambda **given: _fit(strategy=strategies.Eigen(**given), affinity="correlation"),
        {"reference": 0},
    ),
    "strategies.Geodesic": (
        lambda **given: _fit(strategy=strategies.Geodesic(**given)),
        {"reference": 0},
    ),
    "strategies.geodesic_frame": (
        strategies.geodesic_frame,
        {"graph": G, "kernel": KERNEL, "n_components": 1},
    ),
    "strategies.principal_components": (
        strategies.principal_components,
        {"rows": X, "n_components": 2},
    ),
    "jobs.threshold_scan.threshold_scan": (
        threshold_scan.threshold_scan,
        {"X": X, "n_components": 2, "clique_limit": 50, "thresholds": [0.3, 0.6]},
    ),
    "gplvm.posterior": (
        gplvm.posterior,
        {"process": PROCESS, "random_state": 0, "n_simulations": 2},
    ),
}
"""How each public function with whole numbers is called, with arguments that make sense."""

NOT_CALLED = {
    "datasets.Reading", "datasets.load", "datasets.read_file",  # read a file, which is tested there
    "estimator.lead", "model_selection.agreement_of_halves", "tl.ikd",  # take a model
    "similarity.Affinity", "similarity.Similarity", "strategies.Problem",  # made by `IKD`
    "cliques.Communities",  # a result
}  # fmt: skip
"""What takes whole numbers through one of the others."""


def public():
    """Public functions, and classes that are no records of results, by their path."""
    found = {}
    modules = [each.name for each in pkgutil.walk_packages(ikd_graph.__path__, "ikd_graph.")]
    for module in ["ikd_graph", *modules]:
        if re.search(r"\._|\.(cli|report)\b", module):
            continue
        loaded = importlib.import_module(module)
        for name in getattr(loaded, "__all__", ()):
            thing = getattr(loaded, name)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                path = f"{module}.{name}".removeprefix("ikd_graph.")
                key = thing.__module__, thing.__qualname__
                found[key] = min(
                    found.get(key, (path, thing)), (path, thing), key=lambda x: len(x[0])
                )
    return dict(found.values())


def _length(entry):
    return len(entry[0])


def takes_whole_numbers(thing):
    """Whether a parameter of a function is a whole number or an array of these."""
    for parameter in inspect.signature(thing).parameters.values():
        default = parameter.default
        if re.search(r"\bint\b|Integers|integer|int64|int32|AnyCliques", str(parameter.annotation)):
            return True
        if isinstance(default, int) and not isinstance(default, bool):
            return True
    return False


def _is_record(thing):
    """Whether a class holds results, and checks nothing when it is made."""
    is_tuple = inspect.isclass(thing) and issubclass(thing, tuple)
    return is_tuple or dataclasses.is_dataclass(thing)


def cases(bad_values):
    """Each call with one whole number replaced: its function, what is replaced, and the call."""
    for name, (function, given) in CALLS.items():
        for argument, value in given.items():
            for bad in bad_values:
                for changed, where in _with(value, bad):
                    words = f"{name}({argument}{where}={bad})"
                    yield name, words, function, {**given, argument: changed}


def _with(value, bad):
    """A number, or the first and the last of a list of numbers, replaced."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield bad, ""
    elif isinstance(value, np.ndarray) and value.dtype.kind == "i":
        for at in (0, -1):
            wide = value.astype(np.float64 if isinstance(bad, float) else np.int64)
            wide[(at,) * wide.ndim] = bad
            yield wide, f"[{at}]"
    elif isinstance(value, list) and value and isinstance(value[0], list):
        for at in (0, -1):
            yield (
                [
                    *value[:-1],
                    [
                        bad if k == at % len(value[-1]) else member
                        for k, member in enumerate(value[-1])
                    ],
                ],
                f"[{at}]",
            )


def outcome(function, given):
    """What comes of a call: ok, refused (in our words), memory or foreign, and a few words."""
    try:
        answer = function(**given)
    except MemoryError:
        return "memory", ""
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = isinstance(error, ValueError) and "ikd_graph" in Path(last.filename).parts
        # What C raises has our line that called it, which is no raise.
        ours = ours and "raise" in str(last.line)
        return "refused" if ours else "foreign", f"{type(error).__name__}: {error}"
    for part in answer if isinstance(answer, tuple) else (answer,):
        if isinstance(part, graph.CsrGraph):
            graph.CsrGraph(*part)
    return "ok", ""


def _all_of(calls):
    """Whether all calls of a function end well, and counts of how."""
    counts = collections.Counter(outcome(function, given)[0] for _, function, given in calls)
    return "right" if counts.keys() <= RIGHT else "wrong", json.dumps(counts)


def main():
    """Make the calls and print what came of them."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bad_values, only = BAD[: int(sys.argv[1])], sys.argv[2:]
    counts, told = collections.Counter(), []
    for name, (function, given) in CALLS.items():
        if only and name not in only:
            continue
        # Compiled here, so that no child has to.
        kind, words = outcome(function, given)
        if kind != "ok":
            told.append(f"{name} with arguments that make sense: {words}")
    for name, calls in itertools.groupby(cases(bad_values), key=operator.itemgetter(0)):
        if only and name not in only:
            continue
        calls = [call[1:] for call in calls]
        kind, said = isolated.in_a_child(lambda calls=calls: _all_of(calls), 4 * SECONDS, BYTES)
        if kind == "right":
            counts.update(json.loads(said))
            continue
        # One by one, to see which.
        for words, function, given in calls:
            kind, said = isolated.in_a_child(
                lambda f=function, g=given: outcome(f, g), SECONDS, BYTES
            )
            counts[kind] += 1
            if kind not in RIGHT:
                told.append(f"{words}: {kind}, {said}")
    sys.stdout.write(json.dumps({"counts": counts, "told": told}, indent=1))


def test_every_public_function_with_whole_numbers_is_called():
    left_out = {
        path
        for path, thing in public().items()
        if takes_whole_numbers(thing) and path not in CALLS.keys() | NOT_CALLED
    }
    assert {path for path in left_out if not _is_record(public()[path])} == set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.slow
def test_whole_numbers_that_cannot_be_are_answered_in_our_words():
    said = isolated.run(__file__, len(BAD))
    sys.stdout.write(f"whole numbers that cannot be: {said['counts']}\n")
    assert said["told"] == []


WELL = {
    "kernel": KERNEL, "corr": CORR, "cliques": COVER, "s0": 0.3, "k": 3, "nodes": [0, 1],
    "count": 3, "sources": [0, 1], "latent": LINE, "n_components": 1, "path": "distance", "a": G,
    "b": G, "g": G, "sim": ROWS, "X": X,
}  # fmt: skip
"""Arguments that make sense, next to a graph that does not."""


def graph_arguments():
    """Names of public functions and of those arguments that are graphs."""
    for path, function in public().items():
        if inspect.isfunction(function):
            for name, parameter in inspect.signature(function).parameters.items():
                if "CsrGraph" in str(parameter.annotation):
                    yield path, name


@pytest.mark.parametrize(("path", "name"), [*graph_arguments()])
def test_what_only_looks_like_a_graph_never_reaches_compiled_code(path, name):
    kind = collections.namedtuple("Graph", ["indptr", "indices", "weights", "n_nodes", "n_edges"])
    wrong = kind(G.indptr, G.indices + 10**6, G.weights, N, G.n_edges)
    function = public()[path]
    given = {
        each: WELL.get(each)
        for each, parameter in inspect.signature(function).parameters.items()
        if parameter.default is inspect.Parameter.empty and parameter.kind < 4
    }
    with pytest.raises((TypeError, ValueError), match="CsrGraph"):
        function(**{**given, name: wrong})


def test_a_rule_without_numbers_says_what_it_lacks():
    assert graph.Threshold().s0_used is None
    for rule, message in (
        (graph.Threshold(), "s0 must be a number, got 'auto'"),
        (graph.Threshold(0.5, n_neighbors=0), "n_neighbors must be an integer at least 1, got 0"),
        (graph.Neighbors(), "k must be an integer at least 1, got 'auto'"),
    ):
        with pytest.raises(ValueError, match=message):
            rule.build(ROWS)


if __name__ == "__main__":
    main()
