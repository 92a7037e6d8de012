"""Junk for arguments never ends or hangs the interpreter."""

import os
import sys

import isolated
import junk_calls
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def check(seeds, count):
    """Make a campaign, state its counts, and fail on all that must not come of junk."""
    for seed, found in zip(
        seeds, isolated.campaigns(junk_calls.__file__, seeds, count), strict=True
    ):
        sys.stdout.write(f"junk calls, seed {seed}: {found['counts']}\n")
        assert sum(found["counts"].values()) == count
        assert found["names"] > 80
        # What Python or numpy says of junk is answer enough, beside the estimator's own words.
        rest = {kind: calls for kind, calls in found["told"].items() if kind != "foreign"}
        assert rest == {}
        assert [call for call in found["told"].get("foreign", ()) if call.startswith("IKD")] == []


@pytest.mark.slow
def test_no_junk_ends_or_hangs_the_interpreter():
    check([0], 500)


@pytest.mark.campaign
@pytest.mark.timeout(isolated.MOST_SECONDS)
def test_thousands_of_junk_calls_get_an_answer_of_ours():
    check([1, 2], 10_000 if isolated.LONG else 2000)


def test_a_death_and_a_hang_are_seen(monkeypatch):
    monkeypatch.setattr(junk_calls, "SECONDS", 1)
    monkeypatch.setattr(junk_calls, "BYTES", -1)
    assert junk_calls.in_a_child(os.abort, [], {}) == ("crash", "SIGABRT")
    assert junk_calls.in_a_child(os.kill, [0, 0], {}) == ("ok", "")
    assert junk_calls.in_a_child(lambda: [0 for _ in iter(int, 1)], [], {}) == ("hang", "SIGALRM")
    assert junk_calls.in_a_child(float, ["x"], {})[0] == "foreign"
    assert junk_calls.in_a_child(lambda: {}["x"], [], {})[0] == "foreign"
    assert junk_calls.in_a_child(lambda: [float("nan")], [], {})[0] == "nan"
