"""Embeddings of the PCR data in the plane (Fig. 8)."""

from ._real import plane

EXPERIMENT = plane(__doc__, "guo_qpcr")
