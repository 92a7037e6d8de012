r"""Squared distances to coordinates: reference point, Gram matrix, leading eigenpairs.

The eigen core of inverse kernel decomposition (Li & Wu 2024, Alg. 1, Eq. 4, 5, 8 and 9). With a
reference point r the Gram matrix is g_ij = (d_ir + d_rj - d_ij) / 2; with the center of all points
as the reference it is the doubly centered -J D J / 2 of classical scaling.
"""

# Named as themselves: for the layers above, not for users.
from ._axes import DOMINANT_FRACTION as DOMINANT_FRACTION
from ._axes import PrincipalAxes, pin_signs, principal_axes
from ._axes import dominant_points as dominant_points
from ._core import CENTER, REFERENCES, Embedding, coordinates, gram_matrix, reference_index
from ._core import inner_products as inner_products
from ._core import landmark_coordinates as landmark_coordinates
from ._core import leading as leading
from ._core import origin_weights as origin_weights
from ._core import seeded_eigsh as seeded_eigsh
from ._gap import eigengap, gap_ratios
from ._principal import principal_components as principal_components

__all__ = [
    "CENTER", "REFERENCES", "Embedding", "PrincipalAxes", "coordinates", "eigengap", "gap_ratios",
    "gram_matrix", "pin_signs", "principal_axes", "reference_index",
]  # fmt: skip
