"""Sessions that share rows or columns, in one frame."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tables import process

import ikd_graph
from ikd_graph.cli import main
from ikd_graph.metrics import affine_r2


def points_of(seed, n=160):
    return np.random.default_rng(seed).uniform(size=(n, 2)) * [4.0, 2.5]


def by_columns(seed=0, n_sessions=3, rows=40, width=100, shared=40, noise=0.5):
    """Sessions of rows of their own, of which neighbors share columns; names and the truth."""
    step = width - shared
    z = points_of(seed, n_sessions * rows)
    X = process(z, step * (n_sessions - 1) + width, noise, seed)
    parts = [X[k * rows : (k + 1) * rows, k * step : k * step + width] for k in range(n_sessions)]
    names = [np.arange(k * step, k * step + width) for k in range(n_sessions)]
    return parts, names, [z[k * rows : (k + 1) * rows] for k in range(n_sessions)]


def test_sessions_that_share_columns_are_found_in_one_frame():
    parts, names, truth = by_columns()
    found = ikd_graph.align(parts, columns=names)
    assert found.groups == ((0, 1, 2),)
    assert affine_r2(np.vstack(truth), np.vstack(found.coordinates)) > 0.95
    assert (found.agreements > 0.9).all()
    mixing = found.mixing
    assert mixing["by_chance"].to_numpy() == pytest.approx(80 / 119)
    assert mixing["rows"].tolist() == [40] * 3
    assert (mixing["found"] / mixing["by_chance"]).between(0.5, 1.2).all()
    assert mixing["spread"].between(0.01, 0.1).all()
    assert str(found).startswith("3 sessions are in one frame and mix: ")
    assert all((kinds == "fixed").all() for kinds in found.fixed)
    placed = found.transform(1, parts[1][:5] + 1e-3)
    assert np.abs(placed - found.coordinates[1][:5]).max() < 0.5
    # What all rows are is not said.
    assert "session 2: 40 rows\n" in str(found)
    assert "fixed" not in str(found)


def test_sessions_in_units_of_their_own_are_compared_as_a_single_table_is():
    rng = np.random.default_rng(2)
    angle = np.sort(rng.uniform(0.0, np.pi, 100))
    arc, units = np.column_stack([np.cos(angle), np.sin(angle)]), 10.0 ** rng.uniform(0.0, 1.5, 30)
    X = (arc @ rng.normal(size=(2, 30)) + 0.2 * rng.normal(size=(100, 30))) * units
    found = ikd_graph.align([X[:50], X[50:]], columns="same")
    assert affine_r2(arc, np.vstack(found.coordinates)) > 0.95
    assert (found.agreements > 0.8).all()


def nearest_of_others(sessions, n_neighbors=5):
    """Fraction of the nearest rows of each session that are of others, row by row."""
    points = np.vstack(sessions)
    session = np.repeat(np.arange(len(sessions)), [len(each) for each in sessions])
    others = np.empty(len(points))
    for row, point in enumerate(points):
        order = np.argsort(((points - point) ** 2).sum(axis=1), kind="stable")
        order = order[order != row][:n_neighbors]
        others[row] = np.mean(session[order] != session[row])
    return [others[session == k].mean() for k in range(len(sessions))]


@pytest.mark.parametrize("size", [80, 145, 5])
def test_random_parts_of_one_table_mix_as_by_chance(size):
    X = process(points_of(3, 160), 60, 0.1, 3)
    settings = {"affinity": "euclidean", "refine": "stress"}
    found = ikd_graph.align([X[:size], X[size:]], columns="same", **settings)
    mixing = found.mixing
    assert mixing["found"].to_numpy() == pytest.approx(nearest_of_others(found.coordinates))
    assert (abs(mixing["found"] - mixing["by_chance"]) < 4.0 * mixing["spread"]).all()
    assert found.answer[0].startswith("2 sessions are in one frame and mix: ")


def test_one_session_of_several_that_does_not_mix_is_named():
    X = process(points_of(3, 180), 60, 0.1, 3)
    X[120:] += 6.0 * np.random.default_rng(5).normal(size=60)
    settings = {"affinity": "euclidean", "refine": "stress", "names": "abc"}
    found = ikd_graph.align([X[:60], X[60:120], X[120:]], columns="same", **settings)
    assert found.mixing.loc["c", "found"] < 0.1
    assert found.mixing.loc[["a", "b"], "found"].min() > 0.4
    assert found.answer[0].startswith("Of 3 sessions, c did not mix: 0% of the nearest rows of")


def test_sessions_of_which_half_the_rows_are_apart_mix_in_part():
    X = process(points_of(3, 240), 60, 0.1, 3)
    X[120:] += 6.0 * np.random.default_rng(5).normal(size=60)
    settings = {"affinity": "euclidean", "refine": "stress"}
    found = ikd_graph.align([X[:80], X[80:160], X[160:]], columns="same", **settings)
    apart, mixed, _ = nearest_of_others(found.coordinates)
    assert apart < 0.4 < 0.6 < mixed
    assert found.answer[0].startswith("3 sessions are in one frame and mix in part: ")


def test_a_session_smaller_than_a_neighborhood_may_be_apart():
    X = process(points_of(4, 120), 60, 0.1, 4)
    X[117:] += 6.0 * np.random.default_rng(4).normal(size=60)
    settings = {"affinity": "euclidean", "refine": "stress"}
    found = ikd_graph.align([X[:117], X[117:]], columns="same", **settings)
    assert found.answer[0].startswith("2 sessions do not mix: ")


def test_copies_of_rows_are_neighbors_of_one_another():
    X = process(points_of(4, 80), 60, 0.1, 3)
    found = ikd_graph.align([X, X], columns="same", affinity="euclidean", refine="stress")
    # One of five is the copy, the others are pairs of copies.
    assert found.mixing["found"].between(0.5, 0.7).all()


def test_sessions_that_do_not_mix_are_said_not_to():
    z = points_of(3, 160)
    X = process(z, 60, 0.1, 3)
    X[80:] += 6.0 * np.random.default_rng(5).normal(size=60)
    settings = {"affinity": "euclidean", "refine": "stress"}
    found = ikd_graph.align([X[:80], X[80:]], columns="same", names=["a", "b"], **settings)
    mixed = nearest_of_others(found.coordinates)
    assert found.mixing["found"].to_numpy() == pytest.approx(mixed)
    assert max(mixed) < 0.1
    assert found.mixing["by_chance"].to_numpy() == pytest.approx(80 / 159)
    head = f"2 sessions do not mix: {np.mean(mixed):.0%} of the nearest rows of a row are of"
    assert found.answer[0].startswith(head)
    assert "or levels differ between them." in found.answer[0]
    # Each session is where it would be alone, all the same.
    assert (found.agreements > 0.8).all()


def test_sessions_that_share_all_rows_are_said_to_agree_whatever_their_units():
    z = points_of(4, 90)
    tables = [process(z, 80, 0.05, seed) for seed in (6, 7)]
    tables[1] *= 50.0
    settings = {"affinity": "euclidean", "refine": "stress"}
    found = ikd_graph.align(tables, rows="same", names=["a", "b"], **settings)
    assert found.mixing["found"].isna().all()
    assert (found.agreements > 0.9).all()
    told = "2 sessions are in one frame by the rows that they share, and agree."
    assert found.answer[0] == told
    assert "mix" not in str(found)


def test_sessions_that_share_all_rows_and_nothing_else_are_said_not_to_agree():
    tables = [process(points_of(seed, 90), 80, 0.05, seed) for seed in (1, 2)]
    found = ikd_graph.align(tables, rows="same", names=["a", "b"])
    assert (found.agreements < 0.8).all()
    assert found.answer[0].endswith("by the rows that they share, but do not agree.")
    assert found.answer[1].endswith("; below 0.8, so that its own map differs: a, b.")


def test_sessions_that_share_rows_are_merged_on_them():
    z = points_of(1, 120)
    first, second = process(z, 150, 0.1, 1), process(z, 90, 0.1, 2)
    rows = [np.arange(80), np.arange(50, 120)]
    found = ikd_graph.align([first[:80], second[50:]], rows=rows)
    assert found.groups == ((0,), (1,))
    assert found.joints.kinds.tolist() == ["fixed"]
    # A shared row has one place.
    assert np.array_equal(found.coordinates[0][50:], found.coordinates[1][:30])
    assert affine_r2(z[80:], found.coordinates[1][30:]) > 0.9
    everyone = np.vstack([found.coordinates[0], found.coordinates[1][30:]])
    assert affine_r2(z, everyone) > 0.95


def test_the_same_rows_may_be_named_so():
    z = points_of(2, 40)
    found = ikd_graph.align([process(z, 100, 0.1, 1), process(z, 100, 0.1, 2)], rows="same")
    assert np.array_equal(*found.coordinates)
    assert affine_r2(z, found.coordinates[0]) > 0.95


def test_data_frames_bring_their_names():
    pandas = pytest.importorskip("pandas")
    parts, names, truth = by_columns(3, n_sessions=2)
    frames = [
        pandas.DataFrame(part, columns=[f"cell {k}" for k in own])
        for part, own in zip(parts, names, strict=True)
    ]
    found = ikd_graph.align(frames)
    assert found.groups == ((0, 1),)
    assert affine_r2(np.vstack(truth), np.vstack(found.coordinates)) > 0.95


def test_rows_on_a_line_leave_a_session_mirrored():
    z = points_of(4, 100)
    z[:20, 1] = 1.0
    first, second = process(z, 200, 0.05, 1), process(z, 200, 0.05, 2)
    rows = [np.arange(60), np.r_[np.arange(20), np.arange(60, 100)]]
    with pytest.warns(UserWarning, match="session . and session . share 20 rows: mirrored"):
        found = ikd_graph.align([first[rows[0]], second[rows[1]]], rows=rows)
    assert (np.concatenate(found.fixed) == "mirrored").sum() >= 40
    # How they would mix is a matter of the mirror.
    told = "2 sessions are not fixed to one another: 40 of 100 rows may be mirrored."
    assert found.answer[0] == told
    assert found.mixing["found"].isna().all()
    axes = found.plot()
    assert "not fixed" in [artist.get_label() for artist in axes.collections]


def test_sessions_that_share_nothing_are_named():
    parts, _, _ = by_columns()
    with pytest.raises(ValueError, match=r"session 0; session 1; session 2; name what they"):
        ikd_graph.align(parts)
    with pytest.raises(ValueError, match="list of at least two tables"):
        ikd_graph.align(parts[:1])
    with pytest.raises(ValueError, match="columns of session 0 must have 100 different names"):
        ikd_graph.align(parts, columns=[[0] * 100] * 3)


def test_distances_in_other_units_are_brought_to_one():
    z = points_of(5, 100)
    turned = z @ np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    rows = [np.arange(70), np.arange(40, 100)]
    found = ikd_graph.align(
        [z[:70], 1000.0 * turned[40:]], rows=rows, affinity="euclidean", refine=None
    )
    everyone = np.vstack([found.coordinates[0], found.coordinates[1][30:]])
    assert affine_r2(z, everyone) > 0.98
    placed = found.transform(1, 1000.0 * turned[70:80] + 1e-3)
    assert np.abs(placed - found.coordinates[1][30:40]).max() < 0.2


def test_infinite_values_are_no_missing_ones():
    parts, names, _ = by_columns(n_sessions=2)
    parts[1][7, 3] = np.inf
    with pytest.raises(ValueError, match=r"sessions\[1\] contains infinity: got 1 row .*: 7; X"):
        ikd_graph.align(parts, columns=names)


def test_same_columns_are_as_many():
    X = np.random.default_rng(0).normal(size=(40, 60))
    with pytest.raises(ValueError, match="columns of session 1 must have 50 different"):
        ikd_graph.align([X[:20], X[20:, :50]], columns="same")


def test_sessions_are_counted_in_messages():
    z = points_of(1, 60)
    X = process(z, 150, 0.1, 1)
    with pytest.raises(ValueError, match="at least two tables, got 1 table; a single"):
        ikd_graph.align([X])
    with pytest.raises(ValueError, match="share neither: session 0; session 1; name"):
        ikd_graph.align([X[:30], X[30:]])
    rows = [np.arange(40), np.arange(39, 60)]
    with pytest.warns(UserWarning, match="1 open joint between sessions: .* share 1 row:"):
        found = ikd_graph.align([X[:40, :80], X[39:, 80:]], rows=rows)
    assert repr(found) == "AlignedSessions(2 sessions, 2 groups)"


def test_sessions_that_share_nothing_are_told_before_anything_is_fitted():
    X = np.random.default_rng(0).normal(size=(40, 60))
    X[0] = 1.0
    with pytest.raises(ValueError, match="share neither: session 0; session 1; name"):
        ikd_graph.align([X[:20], X[20:]])


def test_names_may_be_tuples():
    parts, names, _ = by_columns(n_sessions=2)
    plain = ikd_graph.align(parts, columns=names)
    pairs = [[("probe", int(name)) for name in each] for each in names]
    found = ikd_graph.align(parts, columns=pairs)
    assert np.array_equal(np.vstack(found.coordinates), np.vstack(plain.coordinates))
    with pytest.raises(ValueError, match=r"columns must be 'same' or a list of names .* got int"):
        ikd_graph.align(parts, columns=5)


def test_sessions_and_rows_go_by_their_names(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = process(points_of(0, 40), 60, 0.05, 1)
    names = [f"cell {k}" for k in range(60)]
    for file, rows in (("monday", range(24)), ("friday", range(16, 40))):
        lines = [",".join(["trial", *names])]
        lines += [",".join([f"t{k}", *map(str, X[k])]) for k in rows]
        (tmp_path / f"{file}.csv").write_text("\n".join(lines))
    words = ["align", "monday.csv", "friday.csv", "--affinity", "correlation"]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "monday" in told
    assert "agreement with the map of the session alone" in told
    text = (tmp_path / "friday.csv").read_text().splitlines()
    text[-1] = ",".join(["t39", *["1"] * 60])
    (tmp_path / "friday.csv").write_text("\n".join(text))
    assert main(words) == 2
    told = capsys.readouterr().err
    assert "monday, friday: rows of X must vary for" in told.replace(".csv", "")
    assert "1 constant row(s): t39 of friday; drop them" in told.replace(".csv", "")


def test_names_of_sessions_are_shown():
    X = process(points_of(0, 40), 60, 0.05, 1)
    two = ikd_graph.align(
        [X[:24], X[16:]], rows=[range(24), range(16, 40)], columns="same", names="ab"
    )
    assert "a: 24 rows" in str(two).splitlines()
    assert two.names == ("a", "b")
    with pytest.raises(ValueError, match="names must be one for each of 2 sessions, got 1"):
        ikd_graph.align([X[:24], X[16:]], columns="same", names=["a"])


def test_sessions_may_be_lists():
    X = process(points_of(0, 40), 60, 0.05, 1)
    arrays = ikd_graph.align([X[:24], X[16:]], columns="same")
    lists = ikd_graph.align([X[:24].tolist(), X[16:].tolist()], columns="same")
    for one, other in zip(arrays.coordinates, lists.coordinates, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_of_several_sessions_are_one_color_of_the_picture():
    X = process(points_of(0, 40), 60, 0.05, 1)
    two = ikd_graph.align(
        [X[:24], X[16:]], rows=[range(24), range(16, 40)], columns="same", names="ab"
    )
    legend = [text.get_text() for text in two.plot().get_figure().findobj(plt.Text)]
    assert {"a", "b", "several sessions"} <= set(legend)
    X[1] = X[0]
    apart = ikd_graph.align([X[:20], X[20:]], columns="same", names="ab")
    shown = [text.get_text() for text in apart.plot().get_figure().findobj(plt.Text)]
    assert "several sessions" not in shown
