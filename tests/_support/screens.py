"""What pages looked like, in few pixels: pictures are compared by squares, not by letters."""

import base64
import io
from pathlib import Path

import matplotlib
import matplotlib.image
import numpy as np

FOLDER = Path(__file__).parents[1] / "golden" / "pages"
BLOCK = 20  # screen pixels along the side of a square that is one pixel of what is kept
WINDOW = 5  # squares along the side of the area whose mean difference is taken

LETTERS = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
STYLE = """@font-face{font-family:ours;src:url(data:font/ttf;base64,%s)}
body,pre{font-family:ours}*{caret-color:transparent}</style>"""


def with_letters(text):
    """A page in letters that come with matplotlib: its lines break alike on every machine."""
    font = base64.b64encode(LETTERS.read_bytes()).decode("ascii")
    text = text.replace("default-src 'none'", "default-src 'none'; font-src data:", 1)
    return text.replace("</style>", STYLE % font, 1)


def squares(png):
    """Mean colors (rows, columns, 3) from 0 to 1 of the squares of a picture."""
    pixels = matplotlib.image.imread(io.BytesIO(png))[:, :, :3]
    rows, columns = (size // BLOCK for size in pixels.shape[:2])
    pixels = pixels[: rows * BLOCK, : columns * BLOCK]
    return pixels.reshape(rows, BLOCK, columns, BLOCK, 3).mean(axis=(1, 3))


def keep(name, found):
    """Make a picture the reference."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    matplotlib.image.imsave(FOLDER / f"{name}.png", np.round(found * 255).astype(np.uint8))


def largest_difference(name, found):
    """Largest mean difference of colors, from 0 to 1, over any window of picture and reference.

    It is infinite where the widths differ, or the heights by more than 2 %.
    """
    known = matplotlib.image.imread(FOLDER / f"{name}.png")[:, :, :3]
    if known.shape[1] != found.shape[1] or abs(len(known) / len(found) - 1.0) > 0.02:
        return np.inf
    rows = min(len(known), len(found))
    apart = np.abs(known[:rows] - found[:rows]).mean(axis=2)
    windows = np.lib.stride_tricks.sliding_window_view(apart, (WINDOW, WINDOW))
    return float(windows.mean(axis=(2, 3)).max())
