"""Compiled shortest paths: label correcting in bands of distance.

Dijkstra's algorithm settles one node at a time and pays for a heap. Here the nodes whose tentative
distance lies in the current band (a step of about one edge wide) are swept first in, first out, and
the others wait in a list that is sorted into the next band when the current one is done. A node is
swept hardly more than once. Whatever the order, the result is the smallest left-to-right sum of
lengths over all paths, to the last bit the one Dijkstra's algorithm returns, because adding a
length never reverses the order of two sums.
"""

import numpy as np

from .._base.jit import jit

NEAR, FAR = range(1, 3)  # in the queue of the current band, in the list of nodes that wait
ONE = np.uint64(1)


@jit
def search(graph, sources, step, state, queue, out):
    """Find the shortest distances from each of the ``sources`` (s,).

    Weights are lengths, none negative, infinite where an edge cannot be walked. ``out`` (s, n) is
    filled; where there is no path, it is infinite. A band is ``step`` wide. ``state`` (n,) says
    where each node waits, ``queue`` (2, n) in which order.
    """
    indptr, indices, lengths = graph
    n = indptr.size - 1
    near, far = queue[0], queue[1]  # ring of the nodes in the band, list of those beyond
    for row in range(sources.size):
        reach = out[row]
        for node in range(n):
            reach[node] = np.inf
            state[node] = 0
        reach[sources[row]] = 0.0
        near[0] = sources[row]
        state[sources[row]] = NEAR
        head, waiting, n_far, bound = 0, 1, 0, step
        while waiting > 0:
            while waiting > 0:
                # Unsigned, so that no index is tested for being negative inside the loop.
                node = np.uint64(near[head])
                head = head + 1 if head + 1 < n else 0
                waiting -= 1
                state[node] ^= NEAR
                base = reach[node]
                for edge in range(np.uint64(indptr[node]), np.uint64(indptr[node + ONE])):
                    neighbor = np.uint64(indices[edge])
                    distance = base + lengths[edge]
                    if distance < reach[neighbor]:
                        reach[neighbor] = distance
                        if distance <= bound:
                            if not state[neighbor] & NEAR:
                                state[neighbor] |= NEAR
                                tail = head + waiting
                                near[tail if tail < n else tail - n] = neighbor
                                waiting += 1
                        elif not state[neighbor]:
                            state[neighbor] = FAR
                            far[n_far] = neighbor
                            n_far += 1
            # The next band begins at the nearest node that waits; the list is closed up.
            low = np.inf
            for at in range(n_far):
                if reach[far[at]] > bound:
                    low = min(low, reach[far[at]])
            count, head, n_far = n_far, 0, 0
            for at in range(count):
                waits = far[at]
                if reach[waits] <= bound:
                    state[waits] = 0
                elif reach[waits] <= low + step:
                    state[waits] = NEAR
                    near[waiting] = waits
                    waiting += 1
                else:
                    far[n_far] = waits
                    n_far += 1
            bound = low + step
