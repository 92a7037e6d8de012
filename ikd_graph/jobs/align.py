"""Sessions that share rows, columns, or some of both, in one frame.

Sessions that share enough columns are one table, in which a pair of rows is compared over the
columns that both have and is unknown otherwise (`ikd_graph.missing.Pairwise`). Tables that share
rows are embedded separately and merged by rigid motions on these (`ikd_graph.blockwise`). `align`
returns coordinates by session, and says which sessions nothing fixes.
"""

from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial import procrustes
from sklearn.neighbors import NearestNeighbors

from .. import blockwise, missing
from .._base import limits
from .._base.as_table import as_table, as_text, check_known, order_by_name, without_counts
from .._base.format import count, setting
from .._base.types import Floats, Integers
from .._base.validation import naming_rows, one_each, one_of, whole
from .._base.warn import no_warnings, warn
from ..estimator import IKD
from ..model_selection import AGREED
from ..plotting import plot

Names = Sequence[Hashable]

__all__ = ["AlignedSessions", "align"]

SEVERAL = "several sessions"
"""What the legend of a picture calls rows that several sessions have."""

_NEIGHBORS = 5
"""Nearest rows by which sessions mix."""

_DRAWS = 20
"""Orders of the sessions by which the spread of mixing by chance is known to a sixth."""

_MAY = {"mirrored": "be mirrored", "free": "lie elsewhere"}
"""What rows that are not fixed may do."""


class _Session(NamedTuple):
    """A table with its name."""

    name: str
    table: pd.DataFrame  # rows and columns by their numbers among those of all sessions
    row_names: Names  # or their numbers
    column_names: Names  # or their numbers


class _Group(NamedTuple):
    """Sessions whose columns overlap: one table."""

    sessions: list[int]
    table: pd.DataFrame
    model: IKD


@dataclass(frozen=True)
class AlignedSessions:
    """Sessions in one frame.

    Attributes
    ----------
    coordinates : tuple of (n_k, n_components) ndarray of float64
        Coordinates of the rows of each session; a row that sessions share has one place.
    agreements : (n_sessions,) ndarray of float64
        Procrustes R² between the places of the rows of each session and their embedding by that
        session alone; NaN for one too small to be embedded alone.
    fixed : tuple of (n_k,) ndarray of str
        "fixed", "mirrored" or "free" for the rows of each session.
    joints : Joints or None
        Joints between groups of sessions that share rows, None where there is one group.
    groups : tuple of tuple of int
        Sessions that share columns, and were compared by them.
    names : tuple of str
        Name of each session.
    """

    coordinates: tuple[Floats, ...]
    agreements: Floats
    fixed: tuple[NDArray[np.str_], ...]
    joints: blockwise.Joints | None
    groups: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    _sessions: tuple[_Session, ...]
    _groups: tuple[_Group, ...]
    _moves: tuple[blockwise.RigidMap, ...]  # of each group into the frame

    def __repr__(self) -> str:
        groups = count(len(self.groups), "group")
        return f"AlignedSessions({count(len(self.coordinates), 'session')}, {groups})"

    @property
    def mixing(self) -> pd.DataFrame:
        """Fraction of the five nearest rows of rows of a session that other sessions have.

        Fixed rows that one session alone has are looked at.

        Returns
        -------
        pandas DataFrame
            Of each session the number of these ``rows``, the fraction ``found``, that
            ``by_chance``, with these rows in any order, and its standard deviation, ``spread``;
            NaN where fewer than two sessions have such rows, or there are at most five.
        """
        session = np.repeat(np.arange(len(self.names)), [len(kinds) for kinds in self.fixed])
        own = (np.concatenate(self.fixed) == "fixed") & ~self._numbers.duplicated(keep=False)
        points, session = np.vstack(self.coordinates)[own], session[own]
        sizes, n = np.bincount(session, minlength=len(self.names)), session.size
        told = pd.DataFrame({"rows": sizes}, pd.Index(self.names, name="session"))
        if np.count_nonzero(sizes) < 2 or n <= _NEIGHBORS:
            return told.assign(found=np.nan, by_chance=np.nan, spread=np.nan)
        near = NearestNeighbors(n_neighbors=_NEIGHBORS).fit(points).kneighbors()[1]

        def of_others(labels: Integers) -> pd.Series:
            other = pd.Series((labels[near] != labels[:, None]).ravel())
            by_row = other.groupby(np.repeat(labels, _NEIGHBORS))
            return by_row.mean().reindex(range(sizes.size))

        rng = np.random.default_rng(0)
        spread = np.std([of_others(rng.permutation(session)) for _ in range(_DRAWS)], 0, ddof=1)
        by_chance = np.where(sizes > 0, (n - sizes) / (n - 1.0), np.nan)
        return told.assign(found=of_others(session).to_numpy(), by_chance=by_chance, spread=spread)

    @property
    def _numbers(self) -> pd.Index:
        """Numbers of the rows, session after session; a row that sessions share has one."""
        return pd.Index(np.concatenate([each.table.index for each in self._sessions]))

    @property
    def _row_names(self) -> Names:
        """Names of the rows, session after session; none where a session has none."""
        named = all(without_counts(each.row_names) for each in self._sessions)
        return [name for each in self._sessions for name in each.row_names] if named else []

    @property
    def answer(self) -> list[str]:
        """Say whether the sessions came into one frame, and how far to trust it."""
        known = pd.Series(self.agreements, self.names).dropna()
        texts = [f"{self._frame(known)}."]
        if known.size:
            what = "agreement with the map of the session alone"
            told = ", ".join(f"{name} {value:.2f}" for name, value in known.items())
            apart = ", ".join(map(str, known.index[known < AGREED]))
            less = f"; below {AGREED}, so that its own map differs: {apart}" if apart else ""
            texts.append(f"How far to trust it: {what} (Procrustes R²) {told}{less}.")
        return texts

    def _frame(self, agreements: pd.Series) -> str:
        """Sentence on what the sessions are to one another."""
        number, mixing = count(len(self.names), "session"), self.mixing.dropna()
        kinds = np.concatenate(self.fixed)[~self._numbers.duplicated()]
        loose = [_MAY[kind] for kind in _MAY if (kinds == kind).any()]
        few = f"{np.sum(kinds != 'fixed')} of {kinds.size} rows may {' or '.join(loose)}"
        if loose and self.joints is not None and self.joints.n_open:
            return f"{number} are not {'all ' * (len(self.names) > 2)}fixed to one another: {few}"
        apart = mixing.query("found < 0.5 * by_chance and found < by_chance - 2 * spread")
        if len(mixing) - len(apart) < 2:
            # A single session has none to mix with.
            apart = mixing
        looked = mixing if apart.empty else apart
        if mixing.empty:
            by = "rows" if self._numbers.has_duplicates else "columns"
            text = f"{number} are in one frame by the {by} that they share"
            if agreements.size:
                text += ", and agree" if agreements.min() >= AGREED else ", but do not agree"
        elif apart.empty:
            part = (mixing["found"] < mixing["by_chance"] - 4 * mixing["spread"]).any()
            text = f"{number} are in one frame and mix{' in part' * int(part)}"
        elif len(apart) == len(mixing):
            text = f"{number} do not mix"
        else:
            text = f"Of {number}, {', '.join(apart.index)} did not mix"
        if len(looked):
            found, chance = np.average(looked[["found", "by_chance"]], 0, looked["rows"])
            these = " of these" * (len(looked) < len(mixing))
            text += f": {found:.0%} of the nearest rows of a row{these} are of another session, "
            text += f"{chance:.0%} by chance"
        if len(apart):
            text += "; sessions cover different parts of the map, or levels differ between them"
        return f"{text}; {few}" if loose else text

    def __str__(self) -> str:
        return "\n".join([*self.answer, *self.details()])

    def details(self) -> list[str]:
        """Return the rows of each session, those that are not fixed, and what was compared."""
        lines = []
        for name, kinds in zip(self.names, self.fixed, strict=True):
            numbers = pd.Series(kinds[kinds != "fixed"]).value_counts().items()
            loose = "".join(f", {number} {kind}" for kind, number in numbers)
            lines.append(f"{name}: {count(len(kinds), 'row')}{loose}")
        compared = (" and ".join(self.names[k] for k in group) for group in self.groups)
        for row in self.mixing.dropna().itertuples():
            chance = f"{row.by_chance:.0%} ± {row.spread:.0%} by chance"
            lines.append(f"{row.Index}: {row.found:.0%} of the nearest rows of others, {chance}")
        return [*lines, f"compared by their columns: {'; '.join(compared)}"]

    def to_pandas(self) -> pd.DataFrame:
        """Make a table of all rows: session, name, coordinates, and whether they are fixed."""
        table = pd.DataFrame(np.vstack(self.coordinates)).add_prefix("ikd")
        table.insert(0, "row", [name for each in self._sessions for name in each.row_names])
        table.insert(0, "session", np.repeat(self.names, [len(each) for each in self.fixed]))
        return table.assign(fixed=np.concatenate(self.fixed))

    def transform(self, session: int, X: ArrayLike) -> Floats:
        """Place new rows of a session in the frame.

        Parameters
        ----------
        session : int
            Which session has the columns of the rows.
        X : (n_new, n_features) array_like of float64
            Rows with the columns of that session, by name where these have names, NaN for what is
            not known.

        Returns
        -------
        (n_new, n_components) ndarray of float64
            Coordinates in the frame of `coordinates`.
        """
        whole(0, len(self._sessions) - 1)("session", session)
        both = zip(self._groups, self._moves, strict=True)
        group, move = next(pair for pair in both if session in pair[0].sessions)
        name, frame, _, names = self._sessions[session]
        columns, table = frame.columns, as_table(X)
        values = table.by_name(names, name).dense
        wide = pd.DataFrame(values, columns=columns).reindex(columns=group.table.columns)
        return move.apply(np.asarray(group.model.transform(wide.to_numpy(np.float64)), np.float64))

    @plot.labels_are_color
    def plot(self, color: Any = None, **options: Any) -> Any:
        """Draw all sessions; points that are not fixed have an open marker.

        A row that several sessions have is one point of a color of its own.

        Parameters
        ----------
        color : array_like, optional
            Classes, numbers or times of all rows, session after session; by default their
            sessions. ``labels=`` is another name of it.
        **options
            See `ikd_graph.plotting.plot.embedding`.

        Returns
        -------
        matplotlib Axes
            The picture.
        """
        points, table = np.vstack(self.coordinates), self.to_pandas()
        if color is None:
            color = np.where(self._numbers.duplicated(keep=False), SEVERAL, table["session"])
        axes = plot.embedding(points, color, **options)
        plot.mark_open(axes, points, (table["fixed"] != "fixed").to_numpy())
        return axes


def align(
    sessions: Sequence[Any],
    *,
    rows: str | Sequence[Names] | None = None,
    columns: str | Sequence[Names] | None = None,
    names: Sequence[str] | None = None,
    n_components: int = 2,
    min_columns: int = limits.FEWEST_COLUMNS,
    **settings: Any,
) -> AlignedSessions:
    """Bring sessions that share rows, columns, or some of both into one frame.

    Parameters
    ----------
    sessions : sequence of (n_k, p_k) array_like or data frame
        Tables, NaN for what is not known. Data frames bring the names of their rows and columns.
    rows, columns : "same" or sequence of sequences, optional
        Names of the rows and columns of each session, by which they are recognized; "same" where
        all sessions have the same, in one order where they have no names. By default those of data
        frames; rows and columns without names are shared with no other session.
    names : sequence of str, optional
        Names of the sessions, for messages and pictures; by default "session 0", "session 1", ...
    n_components : int
        Number of coordinates.
    min_columns : int
        Least number of columns that two sessions, and two rows, must share to be compared by them.
    **settings
        Further parameters of `IKD`.

    Returns
    -------
    AlignedSessions
        Coordinates, agreement and joints by session.

    Raises
    ------
    ValueError
        If sessions share neither enough rows nor columns with the others; they are named.

    Warns
    -----
    UserWarning
        If what sessions share leaves open how they lie to one another.

    Examples
    --------
    >>> import numpy as np
    >>> import ikd_graph
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(size=(120, 2)) * [4.0, 2.5]
    >>> cov = np.exp(-0.5 * ((z[:, None] - z) ** 2).sum(axis=-1)) + 1e-6 * np.eye(120)
    >>> X = np.linalg.cholesky(cov) @ rng.normal(size=(120, 160))
    >>> neurons = np.arange(160)
    >>> two = ikd_graph.align([X[:60, :100], X[60:, 60:]], columns=[neurons[:100], neurons[60:]])
    >>> [points.shape for points in two.coordinates]
    [(60, 2), (60, 2)]
    """
    whole(1)("n_components", n_components)
    whole(1)("min_columns", min_columns)
    tables = _read(sessions, rows, columns, names)
    settings = {"missing": missing.Pairwise(min_columns), **settings}
    by_columns = _sharing([each.table.columns for each in tables], min_columns)
    row_sets = [np.concatenate([tables[k].table.index for k in part]) for part in by_columns]
    apart = _sharing(row_sets, 1)
    if len(apart) > 1:
        listed = [_listed(tables, sorted(k for g in part for k in by_columns[g])) for part in apart]
        raise ValueError(
            "sessions must share rows or columns with the others, got parts that share neither: "
            f"{'; '.join(listed)}; name what they share alike (in Python by rows= and columns=), "
            f"or lower {setting('min_columns')}"
        )
    groups = [_fitted(tables, members, n_components, settings) for members in by_columns]
    return _merged(tables, groups, settings)


def _read(sessions: Any, rows: Any, columns: Any, names: Any) -> tuple[_Session, ...]:
    """Tables whose rows and columns have the numbers of their names."""
    if not isinstance(sessions, (list, tuple)) or len(sessions) < 2:
        kind = type(sessions).__name__
        got = count(len(sessions), "table") if kind in ("list", "tuple") else f"a {kind}"
        raise ValueError(
            f"sessions must be a list of at least two tables, got {got}; a single table goes to IKD"
        )
    called = [f"session {k}" for k in range(len(sessions))] if names is None else [*map(str, names)]
    one_each("names", called, len(sessions), "sessions")
    tables = [as_table(X, f"sessions[{number}]") for number, X in enumerate(sessions)]
    for number, table in enumerate(tables):
        with naming_rows(table.row_names):
            check_known(table.values, f"sessions[{number}]", "or drop those rows", holes=True)
    sizes = np.array([table.values.shape for table in tables])
    row_names = _names("rows", rows, [table.row_names for table in tables], sizes[:, 0])
    headers = _names("columns", columns, [table.column_names for table in tables], sizes[:, 1])
    numbers = zip(_numbered(row_names), _numbered(headers), strict=True)
    read = []
    each = zip(called, tables, row_names, headers, numbers, strict=True)
    for name, table, own, header, axes in each:
        # Rows without a name are called by their number.
        shown = own if rows is not None or table.row_names else [*range(len(own))]
        headed = table.column_names or (range(len(header)) if columns is None else header)
        frame = pd.DataFrame(table.dense, *axes, np.float64)
        read.append(_Session(name, frame, shown, headed))
    return tuple(read)


def _names(kind: str, given: Any, own: Sequence[Names], sizes: Integers) -> list[list[Any]]:
    """Names of the rows or columns of all sessions; ``own`` are those of their frames."""
    if given is None:
        # The number of a session tells its rows without names from those of others.
        made = [[(k, at) for at in range(size)] for k, size in enumerate(sizes)]
        found = [list(names) or each for names, each in zip(own, made, strict=True)]
    elif isinstance(given, str):
        one_of(("same",), ", or names for each session")(kind, given)
        cures = f"leave out {kind}='same' to match by name, or pass arrays to go by position"
        called = [(f"{kind} of session {k}", names) for k, names in enumerate(own)]
        moved = any(order_by_name(*each, own[0], "session 0", cures) for each in called)
        found = [*map(list, own)] if moved else [[*range(sizes[0])]] * len(sizes)
    else:
        if not isinstance(given, (list, tuple, np.ndarray)) or len(given) != len(sizes):
            raise ValueError(
                f"{kind} must be 'same' or a list of names for each of {len(sizes)} sessions, got "
                f"{type(given).__name__}"
            )
        # A name may be a tuple, of which numpy would make a row.
        found = [each.tolist() if isinstance(each, np.ndarray) else list(each) for each in given]
    for k, (names, size) in enumerate(zip(found, sizes, strict=True)):
        if len(names) != size or len({*as_text(names)}) != size:
            raise ValueError(
                f"{kind} of session {k} must have {size} different names, got {len(names)} of "
                f"which {len({*as_text(names)})} differ; name each once"
            )
    return found


def _numbered(names: list[list[Any]]) -> list[Integers]:
    """Names of all sessions as numbers."""
    number: dict[Any, int] = {}
    texts = map(as_text, names)
    return [np.array([number.setdefault(name, len(number)) for name in own]) for own in texts]


def _sharing(sets: Sequence[Any], least: int) -> list[list[int]]:
    """Return sets in parts that share enough with one another, directly or by way of others."""
    enough = [[np.intersect1d(a, b).size >= least for b in sets] for a in sets]
    labels = connected_components(np.array(enough), directed=False)[1]
    return [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]


def _fitted(
    tables: Sequence[_Session], members: list[int], n_components: int, settings: dict[str, Any]
) -> _Group:
    """Embed the union of sessions; values that two of them have are averaged."""
    union = pd.concat([tables[k].table for k in members]).groupby(level=0, sort=False).mean()
    names = {
        row: f"{'row ' * isinstance(name, int)}{name} of {tables[k].name}"
        for k in reversed(members)
        for row, name in zip(tables[k].table.index, tables[k].row_names, strict=True)
    }
    try:
        with naming_rows([names[row] for row in union.index]):
            model = IKD(n_components, **settings).fit(union.to_numpy())
    except ValueError as error:
        raise ValueError(f"{_listed(tables, members)}: {error}") from None
    return _Group(members, union, model)


def _listed(tables: Sequence[_Session], members: Iterable[int]) -> str:
    """Names of sessions."""
    return ", ".join(tables[k].name for k in members)


def _merged(
    tables: tuple[_Session, ...], groups: list[_Group], settings: dict[str, Any]
) -> AlignedSessions:
    """Bring groups together on the rows that they share."""
    own = [pd.DataFrame(g.model.embedding_, g.table.index, dtype=np.float64) for g in groups]
    # Correlations are in one unit, that of the kernel, whatever the columns are.
    in_units = all(group.model.settings_.affinity == "correlation" for group in groups)
    scales = np.ones(len(own)) if in_units else _units(own)
    own = [each * scale for each, scale in zip(own, scales, strict=True)]
    points, n_rows = own[0].sort_index().to_numpy(), len(set().union(*(g.index for g in own)))
    fixed, joints = np.full(n_rows, "fixed", "<U8"), None
    if len(groups) > 1:
        rows = [each.index.tolist() for each in own]
        solved = blockwise.solved_blocks(rows, [each.to_numpy() for each in own])
        with no_warnings():
            # Which sessions are open is said below, by their names.
            points = blockwise.merge_greedy(solved, n_rows).coordinates
        joints = blockwise.joints(solved, points)
        fixed = joints.fixed.copy()
        if joints.n_open:
            _warn_open(joints, groups, tables)
    moves = []
    for group, each, scale in zip(groups, own, scales, strict=True):
        move = blockwise.rigid_fit(each.to_numpy(), points[each.index])
        moves.append(blockwise.RigidMap(scale * move.rotation, move.translation))
        if (kinds := group.model.fixed_) is not None:
            less = (kinds == "free") | ((kinds == "mirrored") & (fixed[each.index] == "fixed"))
            fixed[each.index[less]] = kinds[less]
    coordinates = tuple(points[each.table.index] for each in tables)
    agreements = np.empty(len(tables))
    for group in groups:
        # Alone a session is compared as it was among others.
        alike = settings | {"affinity": group.model.settings_.affinity}
        for k in group.sessions:
            agreements[k] = _agreement(tables[k], coordinates[k], alike)
    states = tuple(fixed[each.table.index] for each in tables)
    members = tuple(tuple(group.sessions) for group in groups)
    names = tuple(each.name for each in tables)
    return AlignedSessions(
        coordinates, agreements, states, joints, members, names, tables, tuple(groups), tuple(moves)
    )


def _units(own: list[pd.DataFrame]) -> Floats:
    """Factors that bring maps into the unit of the first, by the spread of rows they share."""
    scales = np.full(len(own), np.nan)
    scales[0] = 1.0
    while np.isnan(scales).any():
        done, left = np.flatnonzero(~np.isnan(scales)), np.flatnonzero(np.isnan(scales))
        pairs = [(own[a].index.intersection(own[b].index), a, b) for a in done for b in left]
        shared, a, b = max(pairs, key=lambda pair: pair[0].size)
        known, new = (float(np.sqrt(own[k].loc[shared].var(ddof=0).sum())) for k in (a, b))
        scales[b] = scales[a] * (known / new if known > 0.0 and new > 0.0 else 1.0)
    return scales


def _warn_open(joints: blockwise.Joints, groups: list[_Group], tables: Sequence[_Session]) -> None:
    """Say which groups of sessions nothing fixes."""
    each = zip(joints.first, joints.second, joints.kinds, joints.n_shared, strict=True)
    texts = [
        f"{_listed(tables, groups[a].sessions)} and {_listed(tables, groups[b].sessions)} share "
        f"{count(shared, 'row')}: {kind}"
        for a, b, kind, shared in each
        if kind != "fixed"
    ]
    warn(
        f"{count(joints.n_open, 'open joint')} between sessions: {'; '.join(texts)}; the "
        "rows that they share do not span the embedding: measure more rows in both"
    )


def _agreement(session: _Session, points: Floats, settings: dict[str, Any]) -> float:
    """Procrustes R² between the embedding of a session alone and its place."""
    if len(points) >= points.shape[1] + 3:
        model = IKD(points.shape[1], **{**settings, "refine": "stress", "n_jobs": 1})
        # The fit of all sessions has warned.
        with suppress(ValueError), no_warnings():
            own = np.asarray(model.fit_transform(session.table.to_numpy()), dtype=np.float64)
            return float(1.0 - procrustes(points, own)[2])
    return float("nan")
