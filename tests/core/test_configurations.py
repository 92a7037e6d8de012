"""Whatever is set and given: documented errors only, finite places, the same for the same."""

import sys

import configurations
import isolated
import numpy as np
import pytest


def check(seeds, count):
    """Try settings, state the counts, and fail on every promise that was broken."""
    for seed, found in zip(
        seeds, isolated.runs(configurations.__file__, seeds, count), strict=True
    ):
        counts = found["counts"]
        sys.stdout.write(
            f"configurations, seed {seed}: {counts}, {found['kinds']} kinds of tables\n"
        )
        assert found["told"] == []
        assert counts["kept"] + counts["refused"] == count
        assert counts["kept"] > count / 2


def test_dozens_of_configurations_keep_their_promises():
    check([0], 24)


@pytest.mark.fuzzing
@pytest.mark.timeout(isolated.MOST_SECONDS)
def test_hundreds_of_configurations_keep_their_promises():
    check([1, 2], 1000 if isolated.LONG else 300)


def test_a_broken_promise_and_a_foreign_error_are_seen(monkeypatch):
    X = configurations.process(np.random.default_rng(0), 12, 20)
    settings = {"n_components": 1, "refine": None, "strategy": "eigen"}
    word, said, looked = configurations.judged("process", X, settings)
    assert (word, said) == ("kept", "")
    assert looked == 8
    assert configurations.judged("process", X, {**settings, "n_components": 99})[0] == "refused"
    fitted = configurations.fitted

    def failing(X, settings):
        raise ZeroDivisionError

    monkeypatch.setattr(configurations, "fitted", failing)
    assert configurations.judged("process", X, settings)[0] == "foreign"

    def nudged(X, settings):
        model = fitted(X, settings)
        if settings.get("n_jobs") == 2:
            model.embedding_ = np.nextafter(model.embedding_, 9.0)
        return model

    monkeypatch.setattr(configurations, "fitted", nudged)
    assert configurations.judged("process", X, settings)[:2] == ("broken", "n_jobs")
