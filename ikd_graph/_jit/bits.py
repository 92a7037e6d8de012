"""Sets of small numbers as the bits of words."""

import numpy as np

from .._base.jit import helper

ONE = np.uint64(1)
ZERO = np.uint64(0)
ALL = ~np.uint64(0)


@helper
def popcount(word):
    """Count the bits of a word (compiles to one instruction)."""
    count = 0
    while word:
        word &= word - ONE
        count += 1
    return count


@helper
def lowest_bit(word):
    """Find the position, 0 to 63, of the lowest bit of a word that is not 0 (one instruction)."""
    return popcount((word & (~word + ONE)) - ONE)
