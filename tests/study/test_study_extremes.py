"""Measures are the same in any unit, near the ends of what numbers can be."""

import inspect

import numpy as np
import pytest

from ikd_graph.study import metrics

N = 40


def tables():
    """A latent, an estimate of it, and labels."""
    rng = np.random.default_rng(0)
    true = rng.normal(size=(N, 2))
    return true, true @ [[1.0, 0.3], [0.0, 0.8]] + 0.1 * rng.normal(size=(N, 2)), np.arange(N) % 4


def measured():
    """Every public measure of two tables, or of a table and labels, and what it says of them."""
    true, estimate, y = tables()
    given = {"X": true, "Z": estimate, "true": true, "estimate": estimate, "y": y, "k": 5}
    found = {}
    for name in metrics.__all__:
        function = getattr(metrics, name)
        if not inspect.isfunction(function):
            continue
        needed = [
            p.name
            for p in inspect.signature(function).parameters.values()
            if p.default is p.empty and p.kind is not p.VAR_KEYWORD
        ]
        if not set(needed) & {"true", "X", "Z", "estimate"} or not set(needed) <= set(given):
            continue
        own = {**given, "y": true[:, 0]} if name == "decoding_r2" else given
        found[name] = function, [own[one] for one in needed], needed
    return found


MEASURES = measured()


def scaled(arguments, names, factor, dtype):
    """Arguments in another unit, labels as they are."""
    tables = ("X", "Z", "true", "estimate")
    return [
        (np.asarray(value) * factor).astype(dtype) if name in tables else value
        for name, value in zip(names, arguments, strict=True)
    ]


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    ("exponent", "dtype"), [(530, "f8"), (-530, "f8"), (1000, "f8"), (123, "f4"), (-123, "f4")]
)
def test_a_measure_knows_no_unit(name, exponent, dtype):
    function, arguments, names = MEASURES[name]
    same = function(*scaled(arguments, names, 1.0, dtype))
    found = function(*scaled(arguments, names, 2.0**exponent, dtype))
    assert np.allclose(np.asarray(found, float), np.asarray(same, float), atol=1e-6), (found, same)


def test_most_measures_were_looked_at():
    assert len(MEASURES) >= 6
