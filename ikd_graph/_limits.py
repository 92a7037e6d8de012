"""Every number of points at which the package changes its way, with the cost that justifies it.

Times are of one core; they grow with the square or the cube of the number of points.
"""

from __future__ import annotations

SOLVED_WHOLE = 10_000
"""All pairs have distances: 800 MB, and twice that on the way. Beyond, distances are measured from
landmarks, the graph grows with the points, and rows keep the precision they came in."""

DENSE_ENTRIES = 2**24
"""Entries up to which a sparse table is worked with as a dense one: 134 MB, and twice that on the
way. A larger one stays sparse; its rows are dense some thousands at a time (65 MB for 2000 columns
and 4096 rows)."""

NEIGHBORS_EXACT = 20_000
"""Rows up to which neighbours are searched exactly (6 s for 784 columns); beyond, by faiss
(docs/decisions/005-neighbour-search.md)."""

EUCLIDEAN_ENTRIES = 100_000_000
"""Entries of a table whose Euclidean similarities the default tries: two copies in double precision
are 1.6 GB here."""

PAIRS_FILLED = 3000
"""Rows of a table whose missing values are filled in: with half of them missing a column is a
system of 1500 equations, .05 s, that is solved two or three times."""

RANKED_PAIRS = 10_000_000
"""Pairs of a bridge's end and a row that are compared to say how many neighbours would connect the
graph. Of 30 000 images (784 columns, 7600 pieces) they are 2.3e8 and took 8.6 s; of 70 000 images
they took 50 of 76 s, for a clause of a sentence."""

LANCZOS_FROM = 400
"""Up to here LAPACK's full spectrum (7 ms) tells the negative mass exactly; beyond, Lanczos finds
the leading eigenpairs (two of 3000 points in .1 s) and a lower bound of that mass."""

FRAME_WHOLE = 400
"""The frame that cliques are merged in is the whole geodesic one, .01 s; beyond, that of a few
landmarks, whose cost does not grow with the square. On rolls and Gaussian processes of 500 to 1000
points either led to the same R2 but for 3e-4, in both directions."""

EXAMINED = 2000
"""Rows whose moments are compared with those of a Gaussian process: 13 ms."""

JUDGED_WHOLE = 500
"""All rows are judged, and the fit that wins is the fit: eight closed forms and two polishes take
.4 s of 500 digits, six times as long as the one fit."""

JUDGED_SAMPLE = 500
"""Rows that are judged beyond: .3 to .5 s. Against 1000 rows the score of tables of 501 to 1000
changed by .0007 on 38 cells of the battery's develop half (error .0011), .0006 on 52 of the other
(.0006) and -.0036 on 36 of the first with other seeds (.0023); 400 chose otherwise in 17 of 38."""

LIKELIHOOD_AUTO = 300
"""The default tries the likelihood of a table that is no sample of the model: 2 to 10 s."""

LIKELIHOOD_CORE = 400
"""Rows of a sample of the model whose likelihood the default searches: 15 to 26 s for a sheet,
a cloud and a walk (200 columns, no noise). The others are placed by these, 1 ms each; the search of
all of 1000 rows was no more accurate. By 300 rows, .74 of the time, a cloud of 600 had R2
.965 instead of .999; nine other tables lost at most .004, and two spirals were found by neither."""

LIKELIHOOD_BLOCKED = 200
"""Beyond, noise floors are gone through over blocks: an evaluation of all points takes 1.2 ms here,
and 200 or more are taken from every start."""

LIKELIHOOD_WHOLE = 2000
"""The last steps of a search see all points at once: an evaluation takes .7 s here."""

LIKELIHOOD_REPORTED = 5000
"""The log likelihood of all points is reported: one factorisation, 6 s here."""

STARTS_MANY = 2000
"""Beyond, only the cheapest closed form is a start: all of them take 1.1 s here."""

STRESS_PRECISE = 2000
"""Stress by precision holds every pair: 64 MB. Beyond, edges and pairs with a few landmarks, which
stand for the others; those count next to nothing."""

STRESS_FAR = 4000
"""The same where far pairs count: 500 MB, 15 s. Beyond, every point sees its edges and 1000 anchors
that stand for all points, in memory and time (5 s) that grow with the number of points only."""

STRESS_TWO_STARTS = 2000
"""Stress is polished from two starts: the second takes .3 s here."""

STRESS_SELECTED = 300
"""The likelihood takes one of several stress polishes: an eigendecomposition each, 11 ms here."""

GENERATIVE = 2000
"""The generative model inverts the covariance of so many points: 32 MB, 2 s."""

GENERATIVE_SCALE = 500
"""Points that choose its length-scale: a dozen eigendecompositions of 40 ms."""

PLACED_BY_PROCESS = 600
"""New rows are put where the process finds them likeliest: 3 to 5 ms a row here, and once up to
.3 s for the process. Each look at a place takes n squared: beyond, rows are reconstructed."""

DIAGNOSED_WHOLE = 1000
"""`diagnose` looks at all points, in about fifteen fits."""

DIAGNOSED_SAMPLE = 500
"""Points it looks at beyond."""
