"""What a notebook shows of a fitted model."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from ..study.settings import reasons
from . import plot
from .points import variance_shares
from .report import embed

if TYPE_CHECKING:
    from ..estimator import IKD


def model_html(model: IKD) -> str:
    """Picture of the embedding with its error bars, and reasons; empty without matplotlib.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph.study.datasets import half_moons
    >>> "standard errors" in model_html(IKD().fit(half_moons(60).X))
    True
    """
    try:
        ax = plot.axes(5.6, 4.0)
    except ImportError:
        return ""
    model.plot(shares=variance_shares(model.embedding_), ax=ax)
    picture = b64encode(plot.png(ax, dpi=110)).decode("ascii")
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in reasons(model).items()
    )
    return (
        f"<div><p><b>{type(model).__name__}</b>: "
        f"{escape(embed.lead(model, model.n_features_in_))}</p>"
        f'<img src="data:image/png;base64,{picture}" alt="embedding" style="max-width:100%">'
        f"<table>{rows}</table></div>"
    )
