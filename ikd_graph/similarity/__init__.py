"""How points are compared: an affinity on the rows of a table, or values that were given.

Objects that answer graphs, strategies and placement block by block; `covariance` has the functions
of arrays that they are made of.
"""

from ._affinity import AFFINITIES, GIVEN, Affinity
from ._compare import compare
from ._equal import find_rows as find_rows
from ._equal import row_keys as row_keys
from ._equal import unique_rows
from ._folds import folds as folds
from ._given import Correlations as Correlations
from ._given import Precomputed, SparsePrecomputed
from ._given import as_similarity as as_similarity
from ._given import check_pairs as check_pairs
from ._given import stored_pairs as stored_pairs
from ._given import warn_of_pairs as warn_of_pairs
from ._holes import PairwiseSimilarity

# Named as themselves: for the layers above, not for users.
from ._products import ProductRows as ProductRows
from ._search import SEARCHES as SEARCHES
from ._search import fewer_than as fewer_than
from ._search import row_neighbors as row_neighbors
from ._similarity import RowSimilarity, Similarity

__all__ = [
    "AFFINITIES", "GIVEN", "Affinity", "PairwiseSimilarity", "Precomputed", "RowSimilarity",
    "Similarity", "SparsePrecomputed", "compare", "unique_rows",
]  # fmt: skip
