"""Every clique's own latent: Algorithm 1 on many small blocks in one parallel pass."""

from ._record import SolvedBlocks
from ._record import check_solved as check_solved
from ._solve import largest_first, solve

__all__ = ["SolvedBlocks", "largest_first", "solve"]
