"""Write the tables of the README: latent recovery under noise, and digits against the peers.

Run it as `python examples/write_readme_tables.py`, with the `compare` extra for UMAP. It takes
some minutes on two cores and rewrites the part of README.md between its markers.
"""

import re
from pathlib import Path

from paper import fig5, fig7

README = Path(__file__).parent.parent / "README.md"
NAMES = {
    "ikd": "`IKD()`",
    "blockwise": "`IKD(strategy='blockwise', refine=None)`",
    "geodesic": "`IKD(strategy='geodesic', refine=None)`",
    "paper_blockwise": "the paper's blockwise",
    "paper_geodesic": "the paper's geodesic",
    "isomap": "Isomap",
    "umap": "UMAP",
    "tsne": "t-SNE",
    "laplacian_eigenmaps": "Laplacian eigenmaps",
    "lle": "LLE",
    "pca": "PCA",
}


def pivot(table, columns, head):
    """Methods down, settings across, mean and standard deviation over trials in the cells."""
    rows = table.summary()
    across = list(dict.fromkeys(tuple(row[key] for key in columns) for row in rows))
    lines = ["| | " + " | ".join(head(*at) for at in across) + " |"]
    lines.append("|---|" + "---|" * len(across))
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = []
        for at in across:
            row = next(
                r for r in rows if r["method"] == method and tuple(r[key] for key in columns) == at
            )
            spread = "" if row["n"] < 2 else f" ± {row['sd']:.3f}"
            cells.append("failed" if row["n"] == 0 else f"{row['mean']:.3f}{spread}")
        lines.append(f"| {NAMES.get(method, method)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    """Run both experiments and put their tables into the README."""
    recovery = fig5.run(
        noise=(0.0, 0.5),
        n_features=(200, 1000),
        methods=(
            "ikd",
            "blockwise",
            "geodesic",
            "paper_blockwise",
            "paper_geodesic",
            "isomap",
            "pca",
        ),
        n_trials=10,
        seed=1000,
        n_jobs=2,
        verbose=1,
    )
    digits = fig7.run(
        names=("digits",),
        ks=(5,),
        methods=("ikd", "isomap", "lle", "laplacian_eigenmaps", "pca", "umap"),
        n_trials=3,
        n_jobs=1,
        verbose=1,
    )
    text = "\n\n".join(
        [
            "R² of the latent after affine alignment; the paper's medium latent (100 points, 3 "
            "dimensions), squared exponential kernel, N observed dimensions, noise of standard "
            "deviation sd on a signal of 1; mean ± standard deviation over 10 samples:",
            pivot(recovery, ("N", "noise"), lambda n, sd: f"N = {n}, sd {sd:g}"),
            "5-nearest-neighbour accuracy on handwritten digits, 5 shuffled folds, mean ± standard "
            "deviation over 3 shuffles, M dimensions:",
            pivot(digits, ("M",), lambda m: f"M = {m}"),
        ]
    )
    marked = re.compile(r"(<!-- tables -->\n).*?(<!-- end of tables -->)", re.S)
    README.write_text(marked.sub(lambda m: f"{m[1]}{text}\n{m[2]}", README.read_text()))


if __name__ == "__main__":
    main()
