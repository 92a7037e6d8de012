"""The peers behind one interface, each from its own library.

A peer that cannot run (a library that is not installed, data that it refuses) is a record with its
reason, never a crash: ``embed`` of a known name always returns.
"""

from __future__ import annotations

from ._peers import KERNEL_PCA, PEERS, Embedded, Peer, embed
from ._spectral import diffusion_map

__all__ = ["KERNEL_PCA", "PEERS", "Embedded", "Peer", "diffusion_map", "embed"]
