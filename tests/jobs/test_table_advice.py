"""One refusal names all that is wrong with a table, and its advice, when followed, works."""

import re
import shlex

import numpy as np
import pytest

from ikd_graph.cli import main
from ikd_graph.datasets import read_file

pd = pytest.importorskip("pandas")

FAST = ("--refine", "none", "--strategy", "geodesic", "--affinity", "euclidean", "--graph", "8")


def frame(n=40, p=25):
    r = np.random.default_rng(0)
    X = np.sin(2.0 * r.uniform(0, 1, (n, 2)) @ r.normal(size=(2, p)) + r.uniform(0, 6, p))
    return pd.DataFrame((X + 0.05 * r.normal(size=(n, p))).round(4)).add_prefix("c")


def holes_everywhere():
    return frame().mask(np.random.default_rng(1).uniform(size=(40, 25)) < 0.06)


def with_holes_and_words():
    table = frame()
    table.loc[3, "c4"] = np.nan
    return table.assign(site=["north", "south"] * 20, kind=["u", "v", "w", "x"] * 10)


TABLES = {
    "holes in every column": holes_everywhere,
    "holes and words": with_holes_and_words,
    "decimal commas": lambda: frame().map(lambda v: f"{v:.5f}".replace(".", ",")),
    "infinite": lambda: frame().mask(np.eye(40, 25) == 1, np.inf),
}  # fmt: skip


def advised(said):
    """Flags that a message tells to use: to leave words out, to read cells, to fill them."""
    words = re.search(r" other cell.*; (--\S.*) reads the rest", said)
    fill = re.search(r"; ((?:--na \S+ )?--impute median) (?:.or mean. )?fills", said)
    found = [match[1] for match in (words, fill) if match]
    return shlex.split(" ".join(found or ["--decimal ,"]))


@pytest.mark.parametrize("kind", TABLES)
def test_advice_is_followed_and_works(tmp_path, capsys, kind):
    TABLES[kind]().to_csv(tmp_path / "t.csv", index=False)
    words = ["embed", str(tmp_path / "t.csv"), "-o", str(tmp_path), "-q"]
    assert main([*words, *FAST]) == 2
    said = capsys.readouterr().err
    every = [f"c{k}" for k in range(25)]
    assert not all(re.search(rf"--drop\S*\b{name}\b", said) for name in every), said
    more = advised(said)
    affinity = [w.replace("euclidean", "correlation") for w in FAST]
    assert main([*words, *(affinity if "pairwise" in more else FAST), *more]) == 0, (said, more)


def test_a_wrong_word_is_told_before_the_table_is_read(tmp_path, capsys):
    holes_everywhere().to_csv(tmp_path / "t.csv", index=False)
    for command, flags, said in (
        ("embed", ("--strategy", "blockwse"), "did you mean 'blockwise'?"),
        ("compare", ("--affinity", "eucldean"), "did you mean 'euclidean'?"),
        ("cliques", ("--graph", "1.5"), "--graph"),
    ):
        assert main([command, str(tmp_path / "t.csv"), "-o", str(tmp_path), *flags]) == 2
        heard = capsys.readouterr().err
        assert said in heard
        assert "missing" not in heard


def test_signs_between_thousands_are_named(tmp_path):
    for table in (frame() * 1e7).round(1), (frame() * 1e4).round().astype(int):
        table.map(lambda v: f"{v:,}").to_csv(tmp_path / "t.csv", index=False)
        with pytest.raises(
            ValueError, match="signs between thousands must be taken out of the file"
        ):
            read_file(tmp_path / "t.csv")


def test_complaints_of_ours_are_not_called_damage(tmp_path):
    X = frame().to_numpy()
    np.savez(tmp_path / "t.npz", X=X, y=np.array(["a", "b"] * 20, object))
    assert "holds Python objects: y" in read_file(tmp_path / "t.npz").notes[1]
    np.save(tmp_path / "t.npy", X.astype(object))
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        read_file(tmp_path / "t.npy")


def test_vectors_in_a_column_are_no_labels(tmp_path):
    pytest.importorskip("pyarrow")
    table = frame(40, 4)
    table["emb"] = frame(40, 8).to_numpy().tolist()
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet must hold numbers only.* column 'emb'"):
        read_file(tmp_path / "t.parquet")


def test_folders_are_read_or_named(tmp_path):
    pytest.importorskip("pyarrow")
    frame().assign(part=np.arange(40) % 2).to_parquet(
        tmp_path / "t.parquet", partition_cols=["part"]
    )
    assert read_file(tmp_path / "t.parquet").X.shape[0] == 40
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(ValueError, match="must be a file, got a folder"):
        read_file(tmp_path / "dir.csv")
