"""Blockwise against geodesic, and against other methods, on one similarity and one graph."""

from ._compare import METHODS, STRATEGIES, compare
from ._result import RULE, SCORES, Comparison, Row, label_words, lines, sentences

__all__ = [
    "METHODS", "RULE", "SCORES", "STRATEGIES", "Comparison", "Row", "compare", "label_words",
    "lines", "sentences",
]  # fmt: skip
