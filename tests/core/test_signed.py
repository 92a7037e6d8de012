"""Graphs of correlations that are far from 0 in either direction."""

import warnings

import numpy as np
import pytest

from ikd_graph import graph


def correlations(n=30, n_columns=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)) + 0.7 * rng.normal(size=(n, 3)) @ rng.normal(
        size=(3, n_columns)
    )
    return np.corrcoef(X)


def test_signed_thresholds_say_what_they_drop():
    corr = correlations()
    pairs = corr[np.triu_indices(30, 1)]
    n_positive, n_negative = int((pairs > 0.3).sum()), int((pairs < -0.3).sum())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = graph.signed_threshold(corr, 0.3)
    assert both.n_edges == n_positive + n_negative
    assert both.weights.min() > 0.3
    with pytest.warns(UserWarning, match=f"{n_negative} of {both.n_edges} pairs .* are dropped"):
        assert graph.signed_threshold(corr, 0.3, "positive").n_edges == n_positive
    with pytest.warns(UserWarning, match=f"{n_positive} of {both.n_edges} pairs .* are dropped"):
        assert graph.signed_threshold(corr, 0.3, "negative").n_edges == n_negative


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: graph.signed_threshold(np.eye(3), 1.5), r"s0 must lie in \(0, 1\)"),
        (lambda: graph.signed_threshold(np.eye(3), 0.5, "any"), "sign must be one of"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
