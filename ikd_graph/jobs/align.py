"""Sessions that share rows, columns, or some of both, in one frame.

Sessions that share enough columns are one table, in which a pair of rows is compared over the
columns that both have and is unknown otherwise (`ikd_graph.missing.Pairwise`). Tables that share
rows are embedded separately and merged by rigid motions on these (`ikd_graph.blockwise`). `align`
returns coordinates by session, and says which sessions nothing fixes.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from .. import blockwise, missing
from .._base.as_table import as_table, check_known
from .._base.format import count
from .._base.types import Floats
from .._base.validation import check_choice, check_integer, naming_rows
from .._base.warn import warn
from ..blockwise import RigidMap
from ..estimator import IKD
from ..gplvm import SessionJoints
from ..plotting import plot

Names = Sequence[Hashable]

__all__ = ["AlignedSessions", "align"]

SEVERAL = "several sessions"
"""What the legend of a picture calls rows that several sessions have."""

RESIDUAL = (
    "residual: root mean square distance of the rows from where their session alone, moved "
    "rigidly, would put them, in units of the map; nan where it is too small to be embedded alone"
)
"""What the residual of a session is, in words."""


class _Session(NamedTuple):
    """One table with its name, and names of its rows and columns."""

    name: str
    X: Floats
    rows: list[Hashable]
    columns: list[Hashable]


class _Group(NamedTuple):
    """Sessions whose columns overlap: one table."""

    sessions: list[int]
    rows: list[Hashable]
    columns: list[Hashable]
    model: IKD
    move: RigidMap


@dataclass(frozen=True)
class AlignedSessions:
    """Sessions in one frame.

    Attributes
    ----------
    coordinates : tuple of (n_k, n_components) ndarray of float64
        Coordinates of the rows of each session; a row that sessions share has one place.
    residuals : (n_sessions,) ndarray of float64
        Root mean square distance of the rows of each session from where the session alone, moved
        rigidly, would put them; NaN for one too small to be embedded alone.
    fixed : tuple of (n_k,) ndarray of str
        "fixed", "mirrored" or "free" for the rows of each session.
    joints : Joints or None
        Joints between groups of sessions that share rows, None where there is one group.
    groups : tuple of tuple of int
        Sessions that share columns, and were compared by them.
    session_joints : tuple of SessionJoints or None
        For each group, which rows may be mirrored, or lie elsewhere.
    names : tuple of str
        Name of each session.
    """

    coordinates: tuple[Floats, ...]
    residuals: Floats
    fixed: tuple[NDArray[np.str_], ...]
    joints: blockwise.Joints | None
    groups: tuple[tuple[int, ...], ...]
    session_joints: tuple[SessionJoints | None, ...]
    names: tuple[str, ...]
    _sessions: tuple[_Session, ...]
    _groups: tuple[_Group, ...]

    def __repr__(self) -> str:
        groups = count(len(self.groups), "group")
        return f"AlignedSessions({count(len(self.coordinates), 'session')}, {groups})"

    def __str__(self) -> str:
        lines = [repr(self)]
        for number, (points, residual) in enumerate(
            zip(self.coordinates, self.residuals, strict=True)
        ):
            kinds = ", ".join(
                f"{int((self.fixed[number] == kind).sum())} {kind}"
                for kind in blockwise.KINDS
                if (self.fixed[number] == kind).any()
            )
            lines.append(
                f"{self.names[number]}: {count(len(points), 'row')} ({kinds}), "
                f"residual {residual:.3g}"
            )
        return "\n".join([*lines, RESIDUAL])

    def transform(self, session: int, X: ArrayLike) -> Floats:
        """Place new rows of a session in the frame.

        Parameters
        ----------
        session : int
            Which session has the columns of the rows.
        X : (n_new, n_features) array_like of float64
            Rows with the columns of that session, NaN for what is not known.

        Returns
        -------
        (n_new, n_components) ndarray of float64
            Coordinates in the frame of `coordinates`.
        """
        check_integer("session", session, 0, len(self._sessions) - 1)
        group = next(group for group in self._groups if session in group.sessions)
        columns, table = self._sessions[session].columns, as_table(X).dense
        if table.shape[1] != len(columns):
            raise ValueError(
                f"X must have the {len(columns)} columns of {self.names[session]}, got shape "
                f"{table.shape}; pass rows of that session"
            )
        wide = np.full((len(table), len(group.columns)), np.nan)
        at = {name: number for number, name in enumerate(group.columns)}
        wide[:, [at[name] for name in columns]] = table
        placed = np.asarray(group.model.transform(wide), dtype=np.float64)
        return np.asarray(placed @ group.move.rotation + group.move.translation)

    def plot(self, color: Any = None, **options: Any) -> Any:
        """Draw all sessions; points that are not fixed have an open marker.

        A row that several sessions have is one point of a color of its own.

        Parameters
        ----------
        color : array_like, optional
            Classes or numbers of all rows, session after session; by default their sessions.
        **options
            See `ikd_graph.plotting.plot.embedding`.

        Returns
        -------
        matplotlib Axes
            The picture.
        """
        points = np.vstack(self.coordinates)
        sizes = [len(each) for each in self.coordinates]
        if color is None:
            color = np.repeat(np.array([*self.names, SEVERAL]), [*sizes, 0])
            places = np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)
            sessions = np.repeat(np.arange(len(sizes)), sizes)
            held = np.unique(np.column_stack([places, sessions]), axis=0)[:, 0]
            color[np.bincount(held)[places] > 1] = SEVERAL
        axes = plot.embedding(points, color, **options)
        plot.mark_open(axes, points, np.concatenate(self.fixed) != "fixed")
        return axes


def align(
    sessions: Sequence[Any],
    *,
    rows: str | Sequence[Names] | None = None,
    columns: str | Sequence[Names] | None = None,
    names: Sequence[str] | None = None,
    n_components: int = 2,
    min_columns: int = missing.MIN_COLUMNS,
    **settings: Any,
) -> AlignedSessions:
    """Bring sessions that share rows, columns, or some of both into one frame.

    Parameters
    ----------
    sessions : sequence of (n_k, p_k) array_like or data frame
        Tables, NaN for what is not known. Data frames bring the names of their rows and columns.
    rows, columns : "same" or sequence of sequences, optional
        Names of the rows and columns of each session, by which they are recognized; "same" where
        all sessions have the same in one order. By default those of data frames; rows and columns
        without names are shared with no other session.
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
        Coordinates, residual and joints by session.

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
    check_integer("n_components", n_components, 1)
    check_integer("min_columns", min_columns, 1)
    tables = _read(sessions, rows, columns, names)
    # Correlations are in one unit, that of the kernel, whatever the columns are.
    settings = {"missing": missing.Pairwise(min_columns), "affinity": "correlation", **settings}
    fitted, parts = [], _sharing_columns(tables, min_columns)
    _check_shared_rows(tables, parts)
    for members in parts:
        fitted.append(_fit_group(tables, members, n_components, settings))
    return _merged(tables, fitted, n_components, settings)


def _read(sessions: Any, rows: Any, columns: Any, names: Any) -> tuple[_Session, ...]:
    """Tables with the names of their rows and columns."""
    if not isinstance(sessions, (list, tuple)) or len(sessions) < 2:
        listed = isinstance(sessions, (list, tuple))
        raise ValueError(
            "sessions must be a list of at least two tables, got "
            f"{count(len(sessions), 'table') if listed else type(sessions).__name__}; "
            "a single table goes to IKD"
        )
    labels = _labels(names, len(sessions))
    tables = [as_table(X, f"sessions[{number}]") for number, X in enumerate(sessions)]
    for number, table in enumerate(tables):
        with naming_rows(table.row_names):
            check_known(table.values, f"sessions[{number}]", "or drop those rows", holes=True)
    for kind, given, axis in (("rows", rows, 0), ("columns", columns, 1)):
        sizes = [table.values.shape[axis] for table in tables]
        if isinstance(given, str) and len(set(sizes)) > 1:
            raise ValueError(
                f"{kind}={given!r} must be of sessions with as many {kind}, got "
                f"{', '.join(map(str, sizes))}; pass names for each session"
            )
    read = []
    for number, table in enumerate(tables):
        n_rows, n_columns = table.values.shape
        named = [
            _names("rows", rows, number, table.row_names, n_rows, len(tables)),
            _names("columns", columns, number, table.column_names, n_columns, len(tables)),
        ]
        read.append(_Session(labels[number], table.dense.astype(np.float64), *named))
    return tuple(read)


def _labels(names: Any, n_sessions: int) -> list[str]:
    """Names of the sessions."""
    if names is None:
        return [f"session {number}" for number in range(n_sessions)]
    labels = [str(name) for name in names]
    if len(labels) != n_sessions:
        raise ValueError(
            f"names must be one for each of {n_sessions} sessions, got {len(labels)}; pass as many"
        )
    return labels


def _names(
    kind: str, given: Any, number: int, own: Sequence[Any], size: int, n_sessions: int
) -> Any:
    """Names of the rows or columns of a session, all different; ``own`` are those of its frame."""
    if given is None:
        names = list(own) or [(number, k) for k in range(size)]
    elif isinstance(given, str):
        check_choice(kind, given, ("same",), ", or names for each session")
        names = list(range(size))
    else:
        if not isinstance(given, (list, tuple, np.ndarray)):
            raise ValueError(
                f"{kind} must be 'same' or a list of names for each session, got "
                f"{type(given).__name__}"
            )
        if len(given) != n_sessions:
            raise ValueError(
                f"{kind} must have names for each of {n_sessions} sessions, got {len(given)}; "
                "pass one sequence for each"
            )
        # A name may be a tuple, of which numpy would make a row.
        each = given[number]
        names = each.tolist() if isinstance(each, np.ndarray) else list(each)
    if len(names) != size or len(set(names)) != size:
        raise ValueError(
            f"{kind} of session {number} must have {size} different names, got {len(names)} of "
            f"which {len(set(names))} differ; name each once"
        )
    return names


def _sharing_columns(tables: Sequence[_Session], least: int) -> list[list[int]]:
    """Group sessions that share enough columns, directly or by way of others."""
    sets = [set(table.columns) for table in tables]
    enough = np.array([[len(a & b) >= least for b in sets] for a in sets])
    labels = connected_components(enough, directed=False)[1]
    return [np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)]


def _fit_group(
    tables: Sequence[_Session], members: list[int], n_components: int, settings: dict[str, Any]
) -> _Group:
    """Embed the union of sessions; values that two of them have are averaged."""
    rows = list(dict.fromkeys(name for k in members for name in tables[k].rows))
    columns = list(dict.fromkeys(name for k in members for name in tables[k].columns))
    row_at = {name: number for number, name in enumerate(rows)}
    column_at = {name: number for number, name in enumerate(columns)}
    total, count = np.zeros((len(rows), len(columns))), np.zeros((len(rows), len(columns)))
    for k in members:
        at = np.ix_([row_at[n] for n in tables[k].rows], [column_at[n] for n in tables[k].columns])
        known = np.isfinite(tables[k].X)
        total[at] += np.where(known, tables[k].X, 0.0)
        count[at] += known
    table = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    owner = {name: k for k in reversed(members) for name in tables[k].rows}
    try:
        with naming_rows([_row_name(name, tables[owner[name]]) for name in rows]):
            model = IKD(n_components, **settings).fit(table)
    except ValueError as error:
        raise ValueError(f"{_listed(tables, members)}: {error}") from None
    stay = RigidMap(np.eye(n_components), np.zeros(n_components))
    return _Group(members, rows, columns, model, stay)


def _row_name(name: Hashable, table: _Session) -> str:
    """Name of a row in messages: its own and that of the first session that has it."""
    own = f"row {name[1]}" if isinstance(name, tuple) and len(name) == 2 else str(name)
    return f"{own} of {table.name}"


def _listed(tables: Sequence[_Session], members: Sequence[int]) -> str:
    """Names of sessions."""
    return ", ".join(tables[k].name for k in members)


def _merged(
    tables: tuple[_Session, ...],
    groups: list[_Group],
    n_components: int,
    settings: dict[str, Any],
) -> AlignedSessions:
    """Bring groups together on the rows that they share."""
    everyone = list(dict.fromkeys(name for group in groups for name in group.rows))
    at = {name: number for number, name in enumerate(everyone)}
    members = [[at[name] for name in group.rows] for group in groups]
    own = [np.asarray(group.model.embedding_, dtype=np.float64) for group in groups]
    joints = None
    points, fixed = np.zeros((len(everyone), n_components)), np.full(len(everyone), "fixed", "<U8")
    if len(groups) > 1:
        if settings["affinity"] != "correlation":
            own = _in_one_unit(own, members)
        solved = blockwise.solved_blocks(members, own)
        with warnings.catch_warnings():
            # Which sessions are open is said below, by their names.
            warnings.simplefilter("ignore", UserWarning)
            points = blockwise.merge_greedy(solved, len(everyone)).coordinates
        joints = blockwise.joints(solved, points)
        fixed = joints.fixed.copy()
    else:
        points[members[0]] = own[0]
    for number, group in enumerate(groups):
        move = blockwise.rigid_fit(own[number], points[members[number]])
        scale = _scale_of(own[number]) / (_scale_of(group.model.embedding_) or 1.0)
        move = RigidMap(scale * move.rotation, move.translation)
        groups[number] = group._replace(move=move)
        kinds = group.model.fixed_
        if kinds is not None:
            which = np.array(members[number])
            fixed[which[(kinds != "fixed") & (fixed[which] == "fixed")]] = "mirrored"
    if joints is not None and joints.n_open:
        _warn_open(joints, groups, tables)
    rows = [[at[name] for name in table.rows] for table in tables]
    coordinates = tuple(points[which] for which in rows)
    return AlignedSessions(
        coordinates,
        np.array([_residual(t, c, settings) for t, c in zip(tables, coordinates, strict=True)]),
        tuple(fixed[which] for which in rows),
        joints,
        tuple(tuple(group.sessions) for group in groups),
        tuple(
            group.model.joints_ if isinstance(group.model.joints_, SessionJoints) else None
            for group in groups
        ),
        tuple(table.name for table in tables),
        tables,
        tuple(groups),
    )


def _scale_of(points: Floats) -> float:
    """Root of the sum of squares of centered points."""
    return float(np.sqrt(np.square(points - points.mean(axis=0)).sum()))


def _in_one_unit(own: list[Floats], members: list[list[int]]) -> list[Floats]:
    """Embeddings in the unit of the first, by the spread of the rows that they share."""
    scaled, done = [own[0], *own[1:]], {0}
    while len(done) < len(own):
        overlaps = [
            (len(set(members[a]) & set(members[b])), a, b)
            for a in done
            for b in range(len(own))
            if b not in done
        ]
        _, a, b = max(overlaps)
        shared = set(members[a]) & set(members[b])
        known, new = (
            _scale_of(scaled[k][[i for i, row in enumerate(members[k]) if row in shared]])
            for k in (a, b)
        )
        scaled[b] = own[b] * (known / new if known > 0.0 and new > 0.0 else 1.0)
        done.add(b)
    return scaled


def _check_shared_rows(tables: Sequence[_Session], groups: Sequence[list[int]]) -> None:
    """Raise where groups of sessions share neither columns nor rows."""
    sets = [{name for k in members for name in tables[k].rows} for members in groups]
    labels = connected_components(
        np.array([[bool(a & b) for b in sets] for a in sets]), directed=False
    )[1]
    if not labels.any():
        return
    parts = [
        _listed(tables, [
            k for members, own in zip(groups, labels, strict=True) if own == label
            for k in members
        ])
        for label in range(labels.max() + 1)
    ]  # fmt: skip
    raise ValueError(
        "sessions must share rows or columns with the others, got parts that share neither: "
        f"{'; '.join(parts)}; name what they share alike, by rows= and columns= "
        "(or in the files), or lower min_columns"
    )


def _warn_open(joints: blockwise.Joints, groups: list[_Group], tables: Sequence[_Session]) -> None:
    """Say which groups of sessions nothing fixes."""
    texts = []
    for a, b, kind, shared in zip(
        joints.first, joints.second, joints.kinds, joints.n_shared, strict=True
    ):
        if kind != "fixed":
            names = (_listed(tables, groups[k].sessions) for k in (a, b))
            texts.append(f"{' and '.join(names)} share {count(shared, 'row')}: {kind}")
    are = "is" if joints.n_open == 1 else "are"
    warn(
        f"{count(joints.n_open, 'joint')} between sessions {are} open: {'; '.join(texts)}; the "
        "rows that they share do not span the embedding: measure more rows in both"
    )


def _residual(table: _Session, points: Floats, settings: dict[str, Any]) -> float:
    """How far a session alone, moved rigidly, is from its place."""
    if len(points) < points.shape[1] + 3:
        return float("nan")
    try:
        model = IKD(points.shape[1], **{**settings, "refine": "stress", "n_jobs": 1})
        own = np.asarray(_quiet_fit(model, table.X).embedding_, dtype=np.float64)
    except ValueError:
        return float("nan")
    move = blockwise.rigid_fit(own, points)
    gaps = own @ move.rotation + move.translation - points
    return float(np.sqrt((gaps**2).sum(axis=1).mean()))


def _quiet_fit(model: IKD, X: Floats) -> IKD:
    """Fit without warnings, which the fit of all sessions has made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X)
