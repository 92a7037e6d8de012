"""Embeddings of the Fashion-MNIST data in the plane (Fig. 11)."""

from ._real import plane

EXPERIMENT = plane(__doc__, "fashion_mnist")
