"""Embeddings of the COIL-20 data in the plane (Fig. 10)."""

from ._real import plane

EXPERIMENT = plane(__doc__, "coil20")
