"""A fit, step by step, and the one record of what it found."""

from ._describe import describe
from ._fit import fit
from ._generate import (
    explain,
    has_process,
    log_likelihood,
    noise_of,
    process_of,
    reconstruct,
    used_rows,
)
from ._missing import fill, fill_new, fit_again
from ._record import Latent, Model, Noise, Polished
from ._task import Task

__all__ = [
    "Latent",
    "Model",
    "Noise",
    "Polished",
    "Task",
    "describe",
    "explain",
    "fill",
    "fill_new",
    "fit",
    "fit_again",
    "has_process",
    "log_likelihood",
    "noise_of",
    "process_of",
    "reconstruct",
    "used_rows",
]
