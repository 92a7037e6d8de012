"""Path lengths under a kernel, defined in `ikd_graph.geodesics`."""

from ..geodesics import geodesic_sq_distances, path_lengths, squares_of_lengths

__all__ = ["geodesic_sq_distances", "path_lengths", "squares_of_lengths"]
