"""What a fit was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..evidence import Wishes


@dataclass(frozen=True)
class Task:
    """What `IKD` was asked for, checked."""

    n_components: int | str
    affinity: str
    kernel: str | kernels.StationaryKernel
    wishes: Wishes
    neighbors: str = "auto"
    merge: str = "global"
    max_cliques: int | None = None
    disconnected: str = "join"
    keep_edges: bool | str = "auto"
    starts: str = "auto"
    fit_shape: bool = False
    n_landmarks: float | str | None = "auto"
    time_budget: float | None = None
    random_state: Any = None
    counts: bool = False  # a table of integers, in which a row without spread is nothing unusual
    verbose: int = 0
    copies: NDArray[np.int64] | None = None  # rows that each row that differs stands for

    @property
    def leaves_all_open(self) -> bool:
        """Whether nothing was asked for that a latent without a graph has not."""
        wishes = self.wishes
        given = (wishes.strategy, wishes.path, wishes.mutual, self.kernel, self.keep_edges)
        return (
            all(one == "auto" for one in given)
            and not wishes.names_graph
            and wishes.reference in ("auto", "center")
            and wishes.refine in ("auto", None)
            and self.disconnected == "join"
            and self.n_landmarks in ("auto", None)
        )

    @property
    def searches_widely(self) -> bool:
        """Whether the likelihood starts from other closed forms than the strategy's own."""
        return self.starts == "all" or (self.starts == "auto" and self.wishes.strategy == "auto")
