"""How points are compared: an affinity on the rows of a table, or values that were given."""

from ._base import AFFINITIES, GIVEN, Affinity, Similarity
from ._correlations import FLOOR as FLOOR
from ._correlations import VARIANCES as VARIANCES
from ._correlations import column_moments as column_moments
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
from ._neighbors import SEARCHES as SEARCHES
from ._neighbors import fewer_than as fewer_than
from ._neighbors import row_neighbors as row_neighbors

# Named as themselves: for the layers above, not for users.
from ._noise import are_ordered as are_ordered
from ._noise import doubly_centered_rows as doubly_centered_rows
from ._noise import effective_columns as effective_columns
from ._rows import RowSimilarity, compare
from ._scaled import SparseRows as SparseRows
from ._scaled import unit_rows as unit_rows

__all__ = [
    "AFFINITIES", "GIVEN", "Affinity", "PairwiseSimilarity", "Precomputed", "RowSimilarity",
    "Similarity", "SparsePrecomputed", "compare", "unique_rows",
]  # fmt: skip
