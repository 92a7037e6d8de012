"""Labels of any kind, several at once, read from an embedding."""

import numpy as np
import pytest

from ikd_graph import metrics
from ikd_graph.datasets import Dataset, Labels
from ikd_graph.jobs import compare as compare
from ikd_graph.jobs.label_scores import label_quantity, score_labels


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
        Z,
        labels=(
            Labels("angle", angle),
            Labels("third", third, ("a", "b", "c")),
            Labels("one", 0 * third, ("x",)),
        ),
    )
    found = compare.compare(data, ["pca"], noise=0)
    (row,) = found.rows
    expected = metrics.decoding_r2(row.embedding, angle)
    assert row.labels["decoding"] == pytest.approx(expected)
    assert row.labels["knn of third"] > 0.9
    assert not any(name.endswith(" of one") for name in row.labels)
