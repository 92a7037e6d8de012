"""Embeddings of the digits data in the plane (Fig. 9)."""

from ._real import plane

EXPERIMENT = plane(__doc__, "digits")
