"""Fuzzing: nonsense for arguments never ends or hangs the interpreter."""

import os
import sys

import fuzz_calls
import isolated
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
LENGTHS = [
    pytest.param([0], 400, marks=pytest.mark.slow),
    pytest.param(
        [1, 2],
        10_000 if isolated.LONG else 2000,
        marks=[pytest.mark.fuzzing, pytest.mark.timeout(isolated.MOST_SECONDS)],
    ),
]


@pytest.mark.parametrize(("seeds", "count"), LENGTHS)
def test_fuzzed_arguments_never_kill_or_hang(seeds, count):
    results = isolated.runs(fuzz_calls.__file__, seeds, count)
    for seed, result in zip(seeds, results, strict=True):
        sys.stdout.write(f"fuzzed calls, seed {seed}: {result['counts']}\n")
        assert sum(result["counts"].values()) == count
        # What Python or numpy says of nonsense is answer enough, next to the estimator's own words.
        assert not result["told"].keys() - {"foreign"}, result["told"]
        foreign = result["told"].get("foreign", ())
        assert [call for call in foreign if call.startswith("IKD")] == []


def test_a_death_and_a_hang_are_seen(monkeypatch):
    monkeypatch.setattr(fuzz_calls, "SECONDS", 1)
    monkeypatch.setattr(fuzz_calls, "BYTES", -1)
    assert fuzz_calls.in_a_child(os.abort, []) == ("crash", "SIGABRT")
    assert fuzz_calls.in_a_child(lambda: [0 for _ in iter(int, 1)], []) == ("hang", "SIGALRM")
    assert fuzz_calls.in_a_child(lambda: {}["x"], [])[0] == "foreign"
