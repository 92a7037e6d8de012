"""Data sets: files of the user's, digits, and synthetic ones with known latents."""

from .._base.dataset import NO_LABEL, Dataset, Labels
from ._table import Reading, TableError
from .files import BUILTIN, READERS, load, read_file
from .synthetic import (
    FIXED_LATENTS,
    digits,
    figure_eight,
    fixed_latent,
    gp_mapping,
    gplvm_data,
    half_moons,
    ou_latent,
    spike_counts,
    surface,
    swiss_roll,
)

__all__ = [
    "BUILTIN", "FIXED_LATENTS", "NO_LABEL", "READERS", "Dataset", "Labels", "Reading",
    "TableError", "digits", "figure_eight", "fixed_latent", "gp_mapping", "gplvm_data",
    "half_moons", "load", "ou_latent", "read_file", "spike_counts", "surface", "swiss_roll",
]  # fmt: skip
