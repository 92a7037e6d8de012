"""New rows in the coordinates of others: the command, and annotated matrices with scanpy."""

import csv
import json

import numpy as np
import pytest

from ikd_graph import IKD, tl
from ikd_graph.cli import main

FAST = ("--strategy", "geodesic", "--graph", "8", "--refine", "none", "--affinity", "euclidean")


def made_table(n=120, p=12):
    rng = np.random.default_rng(0)
    X = np.sin(2 * rng.uniform(0, 1, (n, 2)) @ rng.normal(size=(2, p)) + rng.uniform(0, 6, p))
    return (X + 0.02 * rng.normal(size=X.shape)).round(5)


def run(*words):
    return main([str(word) for word in words])


@pytest.fixture
def files(tmp_path):
    """A table of 100 rows, and 20 more rows whose columns stand in another order."""
    X, names = made_table(), [f"g{k}" for k in range(12)]
    order = np.random.default_rng(1).permutation(12)
    for name, rows, columns in (("old", X[:100], range(12)), ("new", X[100:], order)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([[names[c] for c in columns], *rows[:, columns].tolist()])
    return tmp_path


def test_a_new_file_is_placed_by_the_names_of_its_columns(files, capsys):
    out = files / "out"
    assert run("embed", files / "old.csv", "-o", out, "--save-model", "-q", *FAST) == 0
    assert run("place", out / "old_model.ikd", files / "new.csv", "-o", out) == 0
    said = capsys.readouterr().out
    assert "new: 20 rows placed in" in said
    assert "Nothing shows that the new rows fit worse than the rows of the map." in said
    with (out / "new_placed.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["row", "ikd0", "ikd1", "residual", "dubious_p"]
    X = made_table()
    model = IKD(strategy="geodesic", graph=8, refine=None, affinity="euclidean").fit(X[:100])
    placed = np.array(rows, dtype=float)[:, 1:]
    np.testing.assert_allclose(placed[:, :2], model.transform(X[100:]), atol=1e-9)
    np.testing.assert_allclose(placed[:, 2], model.placement_residuals(X[100:]), atol=1e-9)
    assert (out / "new_placed.png").read_bytes().startswith(b"\x89PNG")


def test_rows_of_another_source_are_said_not_to_fit(files, capsys):
    out = files / "out"
    run("embed", files / "old.csv", "-o", out, "--save-model", "-q", *FAST)
    header, *lines = (files / "new.csv").read_text().splitlines()
    # Other genes under these names.
    turned = [",".join(line.split(",")[::-1]) for line in lines]
    (files / "other.csv").write_text("\n".join([header, *turned]) + "\n")
    capsys.readouterr()
    assert run("place", out / "old_model.ikd", files / "other.csv", "-o", out, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["answer"][1].startswith("The new rows do not fit the map")
    assert record["p_value"] < 1e-6
    assert np.mean(record["misfit"]) > 0.8


def test_names_labels_and_other_columns_of_rows_are_no_columns_of_the_model(files, capsys):
    for name in ("old", "new"):
        head, *rows = (files / f"{name}.csv").read_text().splitlines()
        rows = [f"cell{k},{row},{'ab'[k % 2]}" for k, row in enumerate(rows)]
        (files / f"{name}.csv").write_text("\n".join([f"cell,{head},kind", *rows]) + "\n")
    assert run("embed", files / "old.csv", "-o", files, "--save-model", "-q", *FAST) == 0
    place = ["place", files / "old_model.ikd", files / "new.csv", "-o", files]
    assert run(*place) == 0
    said = capsys.readouterr().out
    assert "row names: 'cell'; labels: 'kind' (2 classes)" in said
    assert "left out" not in said
    head, first = (files / "new_placed.csv").read_text().splitlines()[:2]
    assert head == "cell,ikd0,ikd1,residual,dubious_p,kind"
    assert (first[:6], first[-2:]) == ("cell0,", ",a")
    text = (files / "new.csv").read_text()
    (files / "new.csv").write_text(text.replace("\n", ",word\n"))
    assert run(*place, "--labels", "kind") == 0
    assert "left out: word\n" in capsys.readouterr().out


def test_rows_that_cannot_be_placed_are_named(files, capsys):
    out = files / "out"
    run("embed", files / "old.csv", "-o", out, "--save-model", "-q", *FAST)
    model = out / "old_model.ikd"
    text = (files / "new.csv").read_text()
    (files / "other.csv").write_text(text.replace("g11", "g111"))
    for words, said in (
        (
            ["place", model, files / "other.csv"],
            "asks for 'g11', which other.csv lacks; it has g8, g111",
        ),
        (["place", files / "new.csv", files / "new.csv"], "must be a file that IKD.save wrote"),
        (["place", model, files / "new.csv", "--scale"], "unrecognized arguments"),
    ):
        assert run(*words, "-o", out) == 2
        assert said in capsys.readouterr().err


def test_tools_of_scanpy_take_the_graph_and_new_cells_are_placed(tmp_path):
    anndata, sc = pytest.importorskip("anndata"), pytest.importorskip("scanpy")
    pytest.importorskip("leidenalg")
    X = made_table()
    cells = anndata.AnnData(X, obs={"i": np.arange(120)}).copy()
    cells.obs_names, cells.var_names = [str(k) for k in range(120)], [f"g{k}" for k in range(12)]
    old, new = cells[:100].copy(), cells[100:, ::-1].copy()
    tl.ikd(old, strategy="geodesic", graph=8, refine=None, affinity="euclidean")
    old.write_h5ad(tmp_path / "old.h5ad")
    old = anndata.read_h5ad(tmp_path / "old.h5ad")
    graph, lengths = old.obsp["ikd_connectivities"], old.obsp["ikd_distances"]
    assert graph.nnz == lengths.nnz
    sc.tl.leiden(old, neighbors_key="ikd", flavor="igraph", n_iterations=2, directed=False)
    sc.tl.paga(old, groups="leiden", neighbors_key="ikd")
    sc.tl.diffmap(old, neighbors_key="ikd")
    old.uns["iroot"] = 0
    sc.tl.dpt(old, neighbors_key="ikd")
    sc.tl.umap(old, neighbors_key="ikd")
    assert old.obs["leiden"].nunique() > 1
    assert np.isfinite(old.obs["dpt_pseudotime"]).all()
    assert old.obsm["X_umap"].shape == (100, 2)
    tl.place(new, old)
    model = IKD(strategy="geodesic", graph=8, refine=None, affinity="euclidean").fit(X[:100])
    np.testing.assert_allclose(new.obsm["X_ikd"], model.transform(X[100:]), atol=1e-6)
    with pytest.raises(ValueError, match=r"must have the variables of ref, got none called 'g11'"):
        tl.place(cells[:, :-1].copy(), old)
    with pytest.raises(ValueError, match=r"ref\.uns must hold a model of 'X_ikd'"):
        tl.place(new, cells)


def test_tools_may_write_into_what_was_added():
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(made_table(40))
    tl.ikd(cells, strategy="geodesic", graph=8, refine=None, affinity="euclidean")
    matrices = [cells.obsp["ikd_connectivities"], cells.obsp["ikd_distances"]]
    for part in ("data", "indices", "indptr"):
        first, second = (getattr(matrix, part) for matrix in matrices)
        assert first.flags.writeable
        assert not np.shares_memory(first, second)
    assert cells.obsm["X_ikd"].flags.writeable
    assert cells.uns["ikd"]["eigenvalues"].flags.writeable


def test_missing_standard_errors_are_explained(files, capsys):
    # Nobody wonders why there are no columns ikd0_se, ikd1_se.
    run("embed", files / "old.csv", "-o", files, "--save-model", "-q", *FAST)
    assert run("place", files / "old_model.ikd", files / "new.csv", "-o", files) == 0
    said = capsys.readouterr()
    assert "there are no standard errors: they " in said.out
    assert "warning" not in said.err
    X = made_table()
    model = IKD(strategy="linear").fit(X)
    with pytest.warns(UserWarning, match="the standard errors of all rows are NaN: they "):
        _, errors = model.transform(X[:3] + 0.1, return_std=True)
    assert np.isnan(errors).all()


def test_a_row_without_a_value_is_placed_as_among_others(files, capsys):
    out, (head, first, second) = files / "out", (files / "new.csv").read_text().splitlines()[:3]
    more = ("--impute", "median", "--save-model", "-q")
    assert run("embed", files / "old.csv", "-o", out, *more, *FAST) == 0
    hole = ",".join(["", *first.split(",")[1:]])
    placed = []
    for rows in ([hole], [hole, second]):
        (files / "one.csv").write_text("\n".join([head, *rows]) + "\n")
        assert run("place", out / "old_model.ikd", files / "one.csv", "-o", out) == 0
        placed.append((out / "one_placed.csv").read_text().splitlines()[1])
    assert placed[0] == placed[1]
