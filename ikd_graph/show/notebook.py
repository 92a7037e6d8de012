"""What a notebook shows of a fitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..study.settings import reasons
from . import page, plot
from .points import variance_shares
from .report import embed

if TYPE_CHECKING:
    from ..estimator import IKD


def model_html(model: IKD) -> str:
    """Picture of the latent, numbers of the run and reasons, without a page around them.

    Empty where a library is missing.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph.study.datasets import half_moons
    >>> "Why these settings" in model_html(IKD().fit(half_moons(60).X))
    True
    """
    try:
        ax = plot.axes(5.6, 4.0)
        plot.embedding(model.embedding_, shares=variance_shares(model.embedding_), ax=ax)
        return page.render(
            "model.html",
            title=type(model).__name__,
            lead=embed.lead(model, model.n_features_in_),
            fallback=page.image(plot.png(ax, dpi=110)),
            facts=embed.run_facts(model),
            reasons=reasons(model),
        )
    except ImportError:
        return ""
