"""Damaged files given to the command ``embed``, each in a forked child.

Run as ``python damaged_files.py SEED N EVERY``: counts of what came of each EVERYth malformed file
and of N mutated ones, and what must not come of any, as JSON; ``mutated`` makes one of them again.
"""

import collections
import csv
import json
import math
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import isolated
from malformed_files import malformed_files
from whole_files import members, whole_files, zipped

from ikd_graph.cli import main as command

SECONDS, BYTES = 60, 6 * 2**30
LINE = re.compile(r"ikd-graph: (error|warning|note): \S|  \S")
FLAGS = ("--strategy", "eigen")


def flips(data, rng, other):
    """A few bits the other way round."""
    for _ in range(rng.choice([1, 1, 2, 8, 40])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def cut(data, rng, other):
    """The end is missing."""
    return data[: rng.randrange(len(data))]


def spliced(data, rng, other):
    """The end of another file behind the beginning of this one."""
    return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]


def stretch(data, rng):
    """Where a piece begins and ends."""
    start = rng.randrange(len(data))
    return start, min(len(data), start + rng.choice([1, 4, 8, 64, 512]))


def without(data, rng, other):
    """A piece is missing."""
    start, end = stretch(data, rng)
    return data[:start] + data[end:]


def twice(data, rng, other):
    """A piece comes twice."""
    start, end = stretch(data, rng)
    return data[:end] + data[start:]


def filled(data, rng, other):
    """A piece is one byte again and again."""
    start, end = stretch(data, rng)
    return data[:start] + bytes([rng.choice([0, 255, 128, 127, 32])]) * (end - start) + data[end:]


def number(data, rng, other):
    """An extreme number where one may be."""
    size = rng.choice([1, 2, 4, 8])
    value = rng.choice([0, 1, 2 ** (8 * size) - 1, 2 ** (8 * size - 1), 2 ** (8 * size - 1) - 1])
    start = rng.randrange(len(data))
    return data[:start] + value.to_bytes(size, rng.choice(["little", "big"])) + data[start + size :]


def words(data, rng, other):
    """A word instead of a cell of text."""
    cells = re.split(rb"([,;\t\n])", bytes(data))
    word = rng.choice(
        [b"", b"NA", b"nan", b"1e999", b'"', b"x", b"\n", b",", b"1e300", b"-1", b"\xff"]
    )
    cells[rng.randrange(len(cells))] = word
    return b"".join(cells)


MUTATIONS = (flips, flips, cut, spliced, without, twice, filled, number, number, words)


def mutated(seed, number_, whole):
    """Name, bytes and flags of a mutated file; the same for the same seed and number."""
    rng = random.Random(f"{seed}/{number_}")
    name, data, flags = rng.choice(whole)
    same = [one for other, one, _ in whole if other == name]
    other = rng.choice(same if rng.random() < 0.8 else [one for _, one, _ in whole])
    if data[:2] == b"PK" and rng.random() < 0.6:
        # Inside an archive, whose own checks would see the rest.
        parts = members(data)
        at = rng.randrange(len(parts))
        parts[at] = parts[at][0], changed(parts[at][1], rng, other)
        return name, zipped(parts), flags
    if rng.random() < 0.03:
        name = rng.choice(whole)[0]
    if rng.random() < 0.1:
        flags = (*flags, *rng.choice([("--transpose",), ("--impute", "mean"), ("--scale",)]))
    return name, changed(data, rng, other), flags


def changed(data, rng, other):
    """Bytes after one mutation, or a few."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if data:
            data = bytearray(rng.choice(MUTATIONS)(data, rng, bytes(other) or b"\0"))
    return bytes(data)


def attempt(folder, name, flags):
    """What comes of the command: read, refused, or a fault, and a few words."""
    for descriptor, kept in ((1, "said"), (2, "complained")):
        os.dup2(os.open(folder / kept, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    out = folder / "out"
    try:
        code = command(["embed", str(folder / name), "-o", str(out), *FLAGS, *flags])
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return "foreign", f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})"
    sys.stdout.flush()
    sys.stderr.flush()
    said = (folder / "said").read_text(encoding="utf-8", errors="replace")
    complained = (folder / "complained").read_text(encoding="utf-8", errors="replace")
    left = sorted(path.name for path in out.iterdir()) if out.exists() else None
    return judged(code, said, complained, left, folder, name)


def judged(code, said, complained, left, folder, name):
    """What to call the end of a command by its code, its words and what it left."""
    lines = complained.splitlines()
    odd = [line for line in lines if not LINE.match(line)]
    errors = [line for line in lines if line.startswith("ikd-graph: error: ")]
    if odd or "Traceback" in complained:
        return "odd words", (odd or lines)[0]
    if code == 2:
        if len(errors) != 1:
            return "lines", complained
        return ("mess", str(left)) if left is not None else ("refused", errors[0])
    if code != 0 or errors:
        return "code", f"{code}: {complained}"
    stated = re.search(r": (\d+) rows, \d+ columns of numbers", said)
    stems = [f"t_{one}" for one in ("embedding.csv", "embedding.png", "report.html")]
    if stated is None or left != stems:
        return "mess", f"{left}: {said}"
    return rows_of(folder, name, int(stated[1]), said)


def rows_of(folder, name, stated, said):
    """Whether as many rows were read as were stated, and as a table of text holds."""
    with (folder / "out/t_embedding.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if len(rows) != stated or not all(math.isfinite(float(row["ikd0"])) for row in rows):
        return "rows", f"{len(rows)} written of {stated}"
    if name.endswith(("csv", "tsv")) and "exchanged" not in said:
        lines = re.split(r"\r\n|\n|\r", (folder / name).read_bytes().decode("utf-8-sig"))
        for separator in ",;\t":
            filled = sum(
                bool(line.replace(separator, "").replace('"', "").strip()) for line in lines
            )
            if stated in (filled, filled - 1):
                return "read", ""
        return "rows", f"{stated} read of {filled} lines"
    return "read", ""


def given(name, data, flags):
    """What comes of one file."""
    folder = Path(tempfile.mkdtemp(prefix="ikd_damaged_"))
    try:
        (folder / name).write_bytes(data)
        return isolated.in_a_child(lambda: attempt(folder, name, flags), SECONDS, BYTES)
    finally:
        shutil.rmtree(folder)


def main(seed, count, every):
    """Try the files and print what came of them."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    whole = whole_files()
    counts, told = collections.Counter(), collections.defaultdict(list)
    cases = [("malformed", *one) for one in malformed_files()[seed % every :: every]]
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        # Read here once, so that no child has to import or compile.
        kept, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), nowhere, nowhere
        for name, data, flags in whole:
            Path(folder, name).write_bytes(data)
            if command(["embed", f"{folder}/{name}", "-o", f"{folder}/out", *FLAGS, *flags]):
                told["whole"].append(f"{name} {flags}")
        sys.stdout, sys.stderr = kept
    for at in range(len(cases) + count):
        case = (
            cases[at]
            if at < len(cases)
            else (at - len(cases), *mutated(seed, at - len(cases), whole))
        )
        kind, words_ = given(*case[1:])
        counts[kind] += 1
        counts[case[1].partition(".")[2]] += 1
        if kind not in ("read", "refused"):
            told[kind].append(
                f"{at if case[0] == 'malformed' else case[0]} {case}"[:120] + f": {words_}"
            )
    sys.stdout.write(
        json.dumps({"tried": len(cases) + count, "counts": counts, "told": told}, indent=1)
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
