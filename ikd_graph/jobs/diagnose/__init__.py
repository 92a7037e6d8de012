"""What to expect of a table before it is embedded: structure, noise, agreement, quality."""

from ._diagnosis import FIGURE_SIZE, Diagnosis, Step, diagnose

__all__ = ["FIGURE_SIZE", "Diagnosis", "Step", "diagnose"]
