"""The way through the code on a page names functions that a fit calls, in their order."""

import functools
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import ikd_graph
from ikd_graph import IKD, datasets

PACKAGE = Path(ikd_graph.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "mathematics.md"
IN_A_KERNEL = {"graph": 0.5, "kernel": "squared_exponential", "refine": None}
FITS = {
    "The default, on a table": {},
    "Geodesic": {"strategy": "geodesic", "affinity": "correlation", **IN_A_KERNEL},
    "Blockwise": {"strategy": "blockwise", "affinity": "correlation", **IN_A_KERNEL},
}


def stops(title):
    """The functions of a table, as the page has them."""
    (section,) = re.findall(rf"^### {title}.*?(?=^##|\Z)", PAGE.read_text(), re.M | re.S)
    return re.findall(r"^\| `(\S+?\.py:\S+?)` \|", section, re.M)


@functools.cache
def name_of(code):
    """The name by which the page calls some code; empty where it is no code of the package."""
    path = Path(code.co_filename)
    inside = path.is_relative_to(PACKAGE)
    return f"{path.relative_to(PACKAGE).as_posix()}:{code.co_qualname}" if inside else ""


def follow(work, wanted):
    """The stops that are reached in their order."""
    reached = []

    def watch(frame, event, _):
        waits = event == "call" and len(reached) < len(wanted)
        if waits and wanted[len(reached)] == name_of(frame.f_code):
            reached.append(wanted[len(reached)])

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return reached


@pytest.fixture(scope="module")
def roll():
    rng = np.random.default_rng(0)
    angle, width = 4.0 * np.sqrt(rng.uniform(0.1, 1.0, 200)), rng.uniform(0.0, 4.0, 200)
    points = np.c_[angle * np.cos(angle), width, angle * np.sin(angle)]
    return points @ rng.standard_normal((3, 40)) + 0.05 * rng.standard_normal((200, 40))


@pytest.mark.parametrize("title", FITS)
def test_a_fit_calls_the_functions_in_their_order(title, roll):
    wanted = stops(title)
    assert len(wanted) > 10
    assert follow(lambda: IKD(2, **FITS[title]).fit(roll), wanted) == wanted


def test_samples_of_the_model_and_new_rows_go_the_way_of_the_page():
    latent = np.random.default_rng(0).uniform(0.0, 3.0, (40, 2))
    X, model = datasets.gplvm_data(latent, 300, noise=0.1).X, IKD(2)
    wanted = stops("The default, on samples")
    assert len(wanted) > 10
    assert follow(lambda: model.fit(X).reliability_, wanted) == wanted
    wanted = stops("New rows")
    assert len(wanted) > 5
    assert follow(lambda: model.transform(X[:5] + 0.1), wanted) == wanted


def test_a_function_that_is_not_called_is_seen(roll):
    wanted = ["estimator.py:IKD.fit", "blockwise/_global.py:merge"]
    assert follow(lambda: IKD(2).fit(roll), wanted) == wanted[:1]
