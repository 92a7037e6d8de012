"""What a notebook shows of a fitted model: a sentence, the picture, settings and reasons."""

from base64 import b64encode
from html import escape
from typing import Any

from .._base.format import count, format_seconds
from ..plotting import charts, plot


def lead(model: Any, n_features: int) -> str:
    """Return the result in a sentence."""
    n_points, n_dims = model.embedding_.shape
    seconds = sum(model.stage_times_.values())
    return (
        f"{count(n_points, 'point')} of {count(n_features, 'feature')} embedded in "
        f"{count(n_dims, 'dimension')} by the {model.settings_.strategy.name} strategy in "
        f"{format_seconds(seconds)}."
    )


def model_html(model: Any) -> str:
    """Show the picture with error bars and the reasons; nothing without matplotlib.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph.datasets import half_moons
    >>> "standard errors" in model_html(IKD().fit(half_moons(60).X))
    True
    """
    try:
        ax = plot.axes(5.6, 4.0)
    except ImportError:
        return ""
    model.plot(fractions=charts.variance_fractions(model.embedding_), ax=ax)
    picture = b64encode(plot.png(ax, dpi=110)).decode("ascii")
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in model.settings_.reasons_in_words().items()
    )
    return (
        f"<div><p><b>{type(model).__name__}</b>: "
        f"{escape(lead(model, model.n_features_in_))}</p>"
        f'<img src="data:image/png;base64,{picture}" alt="embedding" style="max-width:100%">'
        f"<table>{rows}</table></div>"
    )
