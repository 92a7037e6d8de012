"""Page of a diagnosis: what an embedding of a data set can be worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...study.diagnosis import Diagnosis
from .. import charts, page
from ..words import versions
from .embed import drawn


def diagnosis_page(
    found: Diagnosis,
    name: str,
    command: str = "",
    steps: Sequence[tuple[str, str]] = (),
    picture: bytes | None = None,
) -> str:
    """Page of a diagnosis.

    Parameters
    ----------
    found : Diagnosis
        What `ikd_graph.diagnose` found.
    name : str
        Name of the data.
    command, steps, picture : str, sequence of (str, str), bytes
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page.
    """
    warned = "with warnings" if found.warnings else "with nothing to warn of"
    known = np.isfinite(found.predicted_r2)
    r2 = f"{found.predicted_r2:.2f} ± {found.spread_r2:.2f}" if known else "unknown"
    return page.render(
        "diagnose.html",
        title=name,
        lead=f"Expected R² {r2}, {warned}.",
        command=command,
        versions=versions(),
        warnings=found.warnings,
        findings=found.findings(),
        reasons=found.reasons,
        charts=[drawn(one, caption=one.title) for one in charts.diagnosis(found)],
        fallback=page.image(picture),
        steps=steps or [(one.words, one.python) for one in found.steps],
    )
