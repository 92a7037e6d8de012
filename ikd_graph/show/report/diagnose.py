"""Page of a diagnosis: what an embedding of a data set can be worth."""

from __future__ import annotations

from collections.abc import Sequence

from ...study.diagnosis import Diagnosis
from .. import charts, page
from ..words import versions


def diagnosis_page(
    found: Diagnosis, name: str, command: str = "", steps: Sequence[tuple[str, str]] = ()
) -> str:
    """Page of a diagnosis.

    Parameters
    ----------
    found : Diagnosis
        What `ikd_graph.study.diagnosis.diagnose` found.
    name : str
        Name of the data.
    command, steps : str, sequence of (str, str)
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page.
    """
    verdict = "with warnings" if found.warnings else "with nothing to warn of"
    draws = {f"sample {k + 1}": r2 for k, r2 in enumerate(found.draws_r2)}
    return page.render(
        "diagnose.html",
        title=name,
        lead=f"Expected R² {found.predicted_r2:.2f} ± {found.spread_r2:.2f}, {verdict}.",
        command=command,
        versions=versions(),
        warnings=found.warnings,
        findings=found.findings(),
        suggestions=found.suggestions,
        draws=charts.levels(draws, "{:.3f}".format),
        steps=steps,
    )
