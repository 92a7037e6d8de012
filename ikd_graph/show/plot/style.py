"""How pictures look: quiet axes, room to breathe, letters that survive a phone."""

from __future__ import annotations

import os
import warnings
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..._files import write_whole
from ..._warn import warn
from .. import colors
from ..colors import INK, RULE, Groups, Paint, class_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT = 11.0
SMALL = 9.5
_ASIAN = ("CJK", "Hei", "Gothic", "Ming", "YaHei", "Unicode MS")


def axes(width: float = 6.4, height: float = 4.6) -> Axes:
    """Axes of a new figure that pyplot knows nothing of, for pictures that go to a file.

    Parameters
    ----------
    width : float
        Width in inches.
    height : float
        Height in inches.

    Returns
    -------
    matplotlib.axes.Axes
        The only Axes of the figure; the figure is its ``figure`` attribute.
    """
    _need_matplotlib()
    from matplotlib.figure import Figure

    return _padded(Figure(figsize=(width, height), layout="constrained")).add_subplot()


def save(ax: Axes, path: str | os.PathLike[str], dpi: int = 160) -> Path:
    """Save the figure of an Axes, whole or not at all.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Any Axes of the figure.
    path : str or path
        File to write; its suffix is the format (.png, .svg, .pdf).
    dpi : int
        Resolution of pixel formats.

    Returns
    -------
    pathlib.Path
        The file written.
    """
    form = Path(path).suffix.lstrip(".").lower() or "png"
    return write_whole(path, partial(_draw, ax, form, dpi))


def png(ax: Axes, dpi: int = 160) -> bytes:
    """Draw the figure of an Axes as PNG in memory.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Any Axes of the figure.
    dpi : int
        Resolution.

    Returns
    -------
    bytes
        The PNG.
    """
    out = BytesIO()
    _draw(ax, "png", dpi, out)
    return out.getvalue()


def _draw(ax: Axes, form: str, dpi: int, out: Any) -> None:
    """Draw a figure without empty margins, and say in one line which letters no font has."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        figure_of(ax).savefig(
            out, format=form, dpi=dpi, facecolor="white", bbox_inches="tight", pad_inches=0.12
        )
    missing = {str(warning.message) for warning in heard if "Glyph" in str(warning.message)}
    for warning in heard:
        if "Glyph" not in str(warning.message):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        warn(
            f"the picture lacks {len(missing)} letters of some names, because no font that "
            "matplotlib knows has them; install one, such as Noto Sans CJK"
        )


def drawing_axes(ax: Axes | None, width: float = 6.4, height: float = 4.6) -> Axes:
    """Return the Axes given, or one in a new pyplot figure, which notebooks show by themselves."""
    if ax is not None:
        return ax
    _need_matplotlib()
    from matplotlib import pyplot

    return _padded(pyplot.figure(figsize=(width, height), layout="constrained")).add_subplot()


def quiet(ax: Axes, grid: Literal["x", "y"] | None = "y") -> None:
    """Take away what carries no data: box, tick marks, heavy lines; ``grid`` keeps faint lines."""
    ax.set_facecolor("none")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(RULE)
    ax.tick_params(which="both", length=0, labelsize=SMALL, labelcolor=INK, pad=6)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_fontsize(TEXT)
        label.set_color(INK)
    if grid:
        ax.grid(axis=grid, color=RULE, linewidth=0.8)
        ax.set_axisbelow(True)


def figure_of(ax: Axes) -> Any:
    """Figure that an Axes belongs to, the outermost one."""
    figure: Any = ax.figure
    return figure.canvas.figure


def bare(ax: Axes) -> None:
    """Leave only the drawing: for coordinates whose unit and origin mean nothing."""
    quiet(ax, grid=None)
    ax.spines["bottom"].set_visible(False)
    ax.set_xticks([])
    ax.set_yticks([])


def class_legend(ax: Any, groups: Groups, title: str = "", **where: Any) -> None:
    """Classes that have points beside a picture, or where the options of a legend put them.

    ``ax`` is an Axes or a figure.
    """
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=class_marker(code), color=groups.color(code),
               label=shortened(name))
        for code, name in groups.items()
    ]  # fmt: skip
    options = {
        "loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0,
        "ncols": 1 + (len(handles) - 1) // 20,
    }  # fmt: skip
    legend = ax.legend(
        handles=handles, title=shortened(title) or None, frameon=False, fontsize=SMALL,
        labelcolor=INK, handletextpad=0.1, alignment="left", **(where or options),
    )  # fmt: skip
    for text in (*legend.get_texts(), legend.get_title()):
        as_word(text)


def color_map(paint: Paint) -> Any:
    """The continuous colour scale as matplotlib wants it, one without a seam for angles."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = colors.sequence(paint.period is not None)
    return LinearSegmentedColormap.from_list("ikd_graph", stops)


def as_word(text: Any) -> Any:
    """Text whose dollars are dollars, in fonts that have its letters."""
    text.set(parse_math=False, fontfamily=_families())
    return text


@cache
def _families() -> list[str]:
    """The usual font and fonts of this machine with the letters of Asia."""
    from matplotlib import font_manager, rcParams

    names = sorted({font.name for font in font_manager.fontManager.ttflist})
    asian = [name for name in names if any(word in name for word in _ASIAN)]
    return [*rcParams["font.family"], *asian[:4]]


def subplot_of(ax: Axes) -> Any:
    """Position of an Axes in the grid of its figure, which pictures are to take; it is hidden."""
    position = ax.get_subplotspec()
    if position is None:
        raise ValueError("ax must be a subplot, got free Axes; make it with figure.add_subplot()")
    # Not removed: whoever made it may still ask it for its figure.
    ax.set_axis_off()
    return position


def shortened(name: str, longest: int = 32) -> str:
    """A name that leaves room for the picture, its end cut off where it is long.

    Examples
    --------
    >>> len(shortened("x" * 400))
    32
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _padded(figure: Any) -> Any:
    """Give a figure white space around its picture."""
    figure.get_layout_engine().set(w_pad=0.14, h_pad=0.14)
    return figure


def _need_matplotlib() -> None:
    """Raise with the cure where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'pictures need matplotlib, which is not installed; pip install "ikd_graph[plot]"'
        ) from error
