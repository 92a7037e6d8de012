"""Nodes in degeneracy order, and a graph whose rows are split by it."""

from typing import NamedTuple

import numpy as np

from .._base.jit import jit


class OrderedGraph(NamedTuple):
    """Graph whose rows hold the earlier neighbors of a node first, then the later ones."""

    indptr: np.ndarray  # (n + 1,) int64
    middle: np.ndarray  # (n,) int64, where the later neighbors start
    indices: np.ndarray  # (m,) int32, both parts of a row sorted by node
    order: np.ndarray  # (k,) int32, the nodes to start from


@jit
def degeneracy_order(graph, order, core, rank, start):
    """Take the node of the least degree away, again and again (Batagelj and Zaversnik's buckets).

    ``order`` (n,) receives the nodes as they go, ``core`` (n,) the core number of each: the largest
    of the degrees at which nodes had to go so far. At first these are the nodes by degree and their
    degrees. ``rank`` (n,) is where each node stands in the order, ``start`` (d + 2,) where those of
    every degree begin; both are kept so.
    """
    for i in range(order.size):
        node = order[i]
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            neighbor = graph.indices[e]
            if core[neighbor] > core[node]:
                # Swap with the first of its bucket, then move the border of the bucket past it.
                front = start[core[neighbor]]
                swapped = order[front]
                order[front], order[rank[neighbor]] = neighbor, swapped
                rank[swapped], rank[neighbor] = rank[neighbor], front
                start[core[neighbor]] += 1
                core[neighbor] -= 1
        if start[core[node]] <= i:
            start[core[node]] = i + 1


@jit
def split_rows(graph, rank, middle, indices):
    """Put the earlier neighbors of each node before its later ones, by ``rank`` (n,) in the order.

    ``indices`` (m,) receives the neighbors, ``middle`` (n,) where the later ones start.
    """
    for node in range(rank.size):
        at = graph.indptr[node]
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            if rank[graph.indices[e]] < rank[node]:
                indices[at] = graph.indices[e]
                at += 1
        middle[node] = at
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            if rank[graph.indices[e]] > rank[node]:
                indices[at] = graph.indices[e]
                at += 1
