"""What the measuring scripts share: options, lines that are kept, fits, peers, alignments, tables.

Nothing but what every release has is imported from the package, so that two trees can be compared
with PYTHONPATH.
"""

import argparse
import json
import re
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.linalg import orthogonal_procrustes
from threadpoolctl import threadpool_limits

from ikd_graph import IKD


def options(doc):
    """Parser of a script that its docstring describes; BLAS stays on one thread from here on."""
    threadpool_limits(limits=1)
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def read(path):
    """Lines of a jsonl file, none where there is no file or no path."""
    if path is None or not Path(path).exists():
        return []
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def append(path, line):
    """Append a line to a jsonl file; nothing without a path."""
    if path is not None:
        with open(path, "a") as file:
            file.write(json.dumps(line) + "\n")


def resumed(path, count, measure):
    """Lines of the tables 0 to ``count``: those that a file has, then what ``measure`` gives."""
    lines = read(path)[:count]
    for index in range(len(lines), count):
        lines.append(measure(index))
        append(path, lines[-1])
    return lines


def row(*cells):
    """A row of a table in Markdown; numbers with three digits."""
    texts = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
    return f"| {' | '.join(texts)} |"


def head(*cells):
    """Head of a table in Markdown."""
    return row(*cells) + "\n" + "|---" * len(cells) + "|"


def fitted(X, M, **settings):
    """A fitted `IKD` and the processor seconds of the fit."""
    model = IKD(M, random_state=0, **settings)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    return model, time.process_time() - begin


def peer(name, X, M):
    """Embedding of a peer: pca, isomap (10 neighbors) or umap (its defaults)."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import Isomap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "pca":
            return PCA(M, svd_solver="full").fit_transform(X)
        if name == "isomap":
            return Isomap(n_components=M, n_neighbors=10).fit_transform(X)
        import umap

        return umap.UMAP(n_components=M, random_state=0, n_jobs=1).fit_transform(X)


def settings_of(model):
    """What a fitted model chose, as text, by affinity, strategy, refine and graph.

    Numbers with a point are left out of the graph: a threshold follows the number of columns.
    """
    names = ("affinity", "strategy", "refine", "graph")
    chosen = {name: str(getattr(model.settings_, name)) for name in names}
    return {name: re.sub(r"\d*\.\d+(e-?\d+)?", "*", text) for name, text in chosen.items()}


def aligned(truth, estimate, points, *, scale):
    """Points in the frame of an estimate, from a rigid motion (and a scale) of its truth."""
    middle, frame = truth.mean(axis=0), estimate.mean(axis=0)
    rotation, trace = orthogonal_procrustes(truth - middle, estimate - frame)
    factor = trace / np.sum((truth - middle) ** 2) if scale else 1.0
    return factor * (points - middle) @ rotation + frame
