"""Labels of any kind, several at once, read from an embedding."""

import numpy as np
import pytest

from ikd_graph.study import compare, datasets, metrics
from ikd_graph.study.datasets import Dataset, Labels, Reading
from ikd_graph.study.label_scores import label_quantity, score_labels


@pytest.fixture
def ring():
    angle = np.random.default_rng(4).uniform(0.0, 360.0, size=240)
    Z = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    return Z, angle


def test_classes_have_accuracies_and_a_silhouette(ring):
    Z, angle = ring
    codes = (angle // 120).astype(np.int64)
    scores = score_labels(Z, Labels("third", codes, ("a", "b", "c")))
    assert scores == {
        "knn": metrics.knn_accuracy(Z, codes),
        "svm": metrics.svm_accuracy(Z, codes),
        "silhouette": metrics.silhouette(Z, codes),
    }


def test_measurements_are_decoded_in_shuffled_parts_and_in_blocks(ring):
    Z, angle = ring
    line = score_labels(Z, Labels("angle", angle, ()))
    assert line == {
        "decoding": metrics.decoding_r2(Z, angle),
        "decoding_blocks": metrics.decoding_r2(Z, angle, seed=None),
    }
    around = score_labels(Z, Labels("angle", angle, (), 360.0))
    assert around["decoding"] > max(0.99, line["decoding"])


def test_rows_that_follow_in_time_flatter_shuffled_parts_only():
    rng = np.random.default_rng(0)
    Z = np.cumsum(rng.normal(size=(300, 2)), axis=0)
    # A walk of its own has nothing to do with the embedding.
    walk = Labels("other walk", np.cumsum(rng.normal(size=300)), ())
    scores = score_labels(Z, walk)
    assert scores["decoding"] > scores["decoding_blocks"] + 0.5


def test_a_class_of_missing_labels_does_not_stop_numbers_from_being_decoded():
    values = np.arange(200) % 100
    names = (*map(str, range(100)), "missing")
    codes = np.where(np.arange(200) < 5, 100, values)
    decoded = label_quantity(Labels("place", codes, names))
    assert np.isnan(decoded[:5]).all()
    np.testing.assert_array_equal(decoded[5:], values[5:])


def test_several_columns_of_labels_are_all_scored(ring):
    Z, angle = ring
    third = (angle // 120).astype(np.int64)
    data = Dataset(
        Z, y=angle, label_title="angle",
        other_labels=(Labels("third", third, ("a", "b", "c")), Labels("one", 0 * third, ("x",))),
    )  # fmt: skip
    found = compare.compare(data, ["pca"], n_halves=0)
    (row,) = found.rows
    assert row.decoding == metrics.decoding_r2(row_embedding(found), angle)
    assert row.other_labels["third"]["knn"] > 0.9
    assert row.other_labels["one"] == {}


def row_embedding(found):
    return found.embeddings[0]


def write(folder, text):
    path = folder / "t.csv"
    path.write_text(text)
    return path


def test_whole_numbers_can_be_said_to_be_measured(tmp_path):
    rows = "".join(f"{k},{k * k},{k % 4},{k % 3},{'uv'[k % 2]}\n" for k in range(20))
    path = write(tmp_path, "a,b,dose,group,kind\n" + rows)
    labels = ("dose", "group", "kind")
    plain = datasets.load(path, label_column=labels)
    assert [len(one.names) for one in plain.all_labels] == [4, 3, 2]
    reading = Reading(measured=("dose",), label_period=("group=3",))
    data = datasets.load(path, label_column=labels, reading=reading)
    assert [len(one.names) for one in data.all_labels] == [0, 0, 2]
    assert [one.period for one in data.all_labels] == [None, 3.0, None]
    assert data.y.tolist() == [k % 4 for k in range(20)]
    assert "'group' (a measurement around a circle of 3)" in data.notes[0]
    with pytest.raises(ValueError, match=r"--measured must name labels of t\.csv: .*got 'a'"):
        datasets.load(path, label_column=labels, reading=Reading(measured=("a",)))
    with pytest.raises(ValueError, match=r"the labels 'kind' .* must be numbers"):
        datasets.load(path, label_column=labels, reading=Reading(measured=("kind",)))
    with pytest.raises(ValueError, match=r"label_period must be a positive number.*got 'round'"):
        Reading(label_period=("group=round",))
