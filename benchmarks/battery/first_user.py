"""What a newcomer reads: four commands on ten tables as CSV files, and every suggestion followed.

    OMP_NUM_THREADS=1 python benchmarks/battery/first_user.py [--table NAME ...] [--folder DIR]

`ikd-graph embed`, `compare`, `diagnose` and `cliques` run on tables of `first_tables` and on two of
noise. Printed for each table are the lines that state a held-out R2, an agreement, a p value,
significant pairs or a reliability, so that a person can see whether two contradict each other;
then every command and flag that a line suggests, and whether it runs; then the plain contradictions
that a rule below can see. Commands run in this process, which compiles once.
"""

import argparse
import csv
import io
import json
import re
import shlex
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from first_tables import Absent, make
from measures import append, one_thread

from ikd_graph.cli import main as ikd_graph_command

COMMANDS = ("embed", "compare", "diagnose", "cliques")
MEASURED = (
    *("infrared", "states_early", "market", "fates_log", "agreeing", "box", "engine", "reach"),
    *("digits_end", "rhythm"),
)
"""Tables of ten groups."""
STATEMENT = re.compile(
    r"R²|\bagree\b|disagree|halves|p = |significant|reliab|equally well|positively correlated"
    r"|nothing to see|independent noise|effective|count as|warning|error|Gaussian process"
)
"""What makes a line a statement about the data."""
PROGRAM = re.compile(r"^\s*(?:`)?ikd-graph ((?:embed|compare|diagnose|cliques|place) .*?)`?$")
FAR_APART = 0.1
"""Two statements of one R2 on one table differ by less in refits on other draws of columns."""
MUCH_ABOVE = 0.4
"""Columns hold noise that coordinates do not: an agreement may exceed a held-out R2, not so far."""


def noise(rng):
    """Nothing: unrelated columns."""
    return rng.normal(size=(90, 100))


def leveled_noise(rng):
    """Nothing but the levels of columns."""
    return rng.normal(size=(90, 100)) + rng.normal(size=100)


NOTHING = {"noise": noise, "leveled_noise": leveled_noise}


def written(name, folder):
    """Path of a table, written as CSV with names of rows and columns."""
    X = NOTHING[name](np.random.default_rng(37)) if name in NOTHING else make(name).X
    path = folder / f"{name}.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name", *(f"x{k}" for k in range(X.shape[1]))])
        table.writerows([f"r{k}", *(f"{v:.7g}" for v in row)] for k, row in enumerate(X))
    return path


def run(arguments):
    """Exit code and the lines that a command writes to both streams."""
    text = io.StringIO()
    with redirect_stdout(text), redirect_stderr(text):
        try:
            code = ikd_graph_command(list(arguments))
        except SystemExit as end:
            code = end.code
        # A crash is one of the things that are looked for: it is recorded as a line and a code.
        except Exception as error:
            code = 70
            text.write(f"\nerror: crash: {type(error).__name__}: {error}\n")
    return code or 0, text.getvalue().splitlines()


@cache
def flags(command):
    """Flags of a command and the values that each takes, as its usage says: "" for none."""
    usage = " ".join(run([command, "--help"])[1]).partition("positional arguments")[0]
    return dict(re.findall(r"\[(--[\w-]+)(?: ([^\]]+))?\]", usage))


def fits(word, values):
    """Whether a word may be the value of a flag: usage lists all values in braces, or any fits."""
    return word and (not values.startswith("{") or word in values.strip("{}").split(","))


def suggestions(command, path, lines):
    """Commands that the lines suggest, as arguments; flags in prose are added to the command.

    A flag that needs a value and is named without one is not run: (command, flag) alone.
    """
    asked = []
    for line in lines:
        if whole := PROGRAM.match(line):
            asked.append(shlex.split(whole[1]))
            continue
        line = re.sub(r"(--refine likelihood), (--descent annealed)", r"\1", line)
        for flag, word in re.findall(r"(--[a-z][\w-]+)(?:[ =]([\w.-]*[\w-]))?", line):
            # A flag of `embed` alone is named by other commands as well.
            of = command if flag in flags(command) or flag not in flags("embed") else "embed"
            values = flags(of).get(flag, "")
            if values and not fits(word, values):
                asked.append([of, flag])
            else:
                asked.append([of, path, flag, word] if values else [of, path, flag])
    return [list(one) for one in dict.fromkeys(map(tuple, asked))]


def numbers(pattern, lines):
    """Numbers that a pattern finds in lines."""
    return [float(found) for line in lines for found in re.findall(pattern, line)]


def settings_asked(arguments):
    """Values of the flags that make another embedding."""
    pairs = dict(pairwise(arguments))
    return {flag: pairs.get(flag) for flag in ("--affinity", "--strategy", "--refine")}


def contradictions(said, followed):
    """What two lines of one table say against each other, as text.

    Parameters
    ----------
    said : dict
        Lines of each command.
    followed : list of dict
        Suggestions, with the command that made them and whether they ran.
    """
    told = []
    held_out = r"held-out R² +(-?[\d.]+\d)"
    R2 = {name: numbers(held_out, said[name]) for name in ("embed", "diagnose", "cliques")}
    R2["compare"] = numbers(r"^  geodesic(?: \+ stress)? +(-?[\d.]+\d) ±", said["compare"])
    values = {name: found[0] for name, found in R2.items() if found}
    if values and max(values.values()) - min(values.values()) > FAR_APART:
        told.append(f"held-out R² of {values}")
    agree = r"(?:embedded separately:|agree by R²) (-?[\d.]+\d)"
    halves = {name: numbers(agree, said[name]) for name in ("embed", "diagnose")}
    halves = {name: found[0] for name, found in halves.items() if found}
    if halves and max(halves.values()) - min(halves.values()) > FAR_APART:
        told.append(f"halves agree by {halves}")
    if halves and values and max(halves.values()) - max(values.values()) > MUCH_ABOVE:
        told.append(f"halves agree by {halves}, held-out R² at most {max(values.values())}")
    expected = numbers(r"expected R² +(-?[\d.]+\d)", said["diagnose"])
    if expected and values and expected[0] - max(values.values()) > MUCH_ABOVE:
        told.append(f"expected R² {expected[0]}, held-out R² at most {max(values.values())}")
    reliable = {name: numbers(r"reliability +([\d.]+\d)", said[name]) for name in COMMANDS}
    reliable = {name: found[0] for name, found in reliable.items() if found}
    if reliable and max(reliable.values()) - min(reliable.values()) > FAR_APART:
        told.append(f"reliability of {reliable}")
    if reliable and halves and max(reliable.values()) - min(halves.values()) > MUCH_ABOVE:
        told.append(f"reliability of {reliable}, halves agree by {halves}")
    p = numbers(r"p = ([\d.]+\d)", said["diagnose"])
    pairs = numbers(r"(\d+) pairs? (?:is|are) significantly", said["diagnose"])
    none = any("no pair is significantly" in line for line in said["diagnose"])
    if p and p[0] > 0.05 and pairs and pairs[0] > 0:
        told.append(f"p = {p[0]}, and {pairs[0]:.0f} significant pairs")
    if p and p[0] <= 0.05 and none:
        told.append(f"p = {p[0]}, and no pair is significant")
    nothing = any("nothing to see" in line for lines in said.values() for line in lines)
    if nothing and p and p[0] <= 0.05:
        told.append(f"p = {p[0]}, and there may be nothing to see")
    embeds = {}
    for one in followed:
        if one["arguments"][0] == "embed" and "--strategy" in one["arguments"]:
            embeds.setdefault(one["by"], settings_asked(one["arguments"]))
    for flag in ("--affinity", "--strategy", "--refine"):
        named = {by: settings[flag] for by, settings in embeds.items() if settings[flag]}
        # A clique graph is solved blockwise whatever is best, and without refinement.
        if flag != "--affinity":
            named.pop("cliques", None)
        if len(set(named.values())) > 1:
            told.append(f"commands advise {flag} {named}")
    told += [f"{' '.join(f['arguments'])} fails" for f in followed if f["code"]]
    return told


def measure(name, folder):
    """What was said, suggested and contradicted on a table."""
    path = str(written(name, folder))
    said, followed = {}, []
    for command in COMMANDS:
        code, said[command] = run([command, path, "-o", str(folder / "out")])
        if code:
            errors = [line for line in said[command] if "error:" in line]
            user = {"by": "user", "arguments": [command, path], "code": code, "errors": errors}
            followed.append(user)
        for arguments in suggestions(command, path, said[command]):
            if any(one["arguments"] == arguments for one in followed):
                continue
            code, lines = None, ["named without a value: not run"]
            if len(arguments) > 2:
                code, lines = run([*arguments, "-o", str(folder / "advised")])
            errors = [line for line in lines if "error:" in line or "not run" in line]
            warned = [line for line in lines if "warning" in line]
            followed.append(
                {
                    "by": command,
                    "arguments": arguments,
                    "code": code,
                    "errors": errors,
                    "warnings": warned,
                }
            )
    return {
        "table": name,
        "said": {c: [ln for ln in lines if STATEMENT.search(ln)] for c, lines in said.items()},
        "followed": followed,
        "contradictions": contradictions(said, followed),
    }


def show(found, folder):
    """Print what was found on a table."""
    print(f"\n=== {found['table']}")
    for command, lines in found["said"].items():
        for line in lines:
            if not line.lstrip().startswith("ikd-graph " + command):
                print(f"{command:9s}{line.strip()[:300]}")
    for one in found["followed"]:
        state = {None: "not run", 0: "runs"}.get(one["code"], f"FAILS with {one['code']}")
        words = " ".join(one["arguments"]).replace(f"{folder}/", "")
        print(f"  {one['by']} suggests: {words}: {state}")
        for line in [*one.get("errors", []), *one.get("warnings", [])]:
            print(f"      {line.strip()[:200]}")
    for line in found["contradictions"]:
        print(f"  !! {line.replace(f'{folder}/', '')}")
    print(flush=True, end="")


def main():
    """Print everything of every table, and the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", nargs="+", default=[*MEASURED, *NOTHING], help="only these")
    parser.add_argument("--folder", type=Path, help="where files are written; default: none stay")
    parser.add_argument("--out", help="jsonl file to append what was found on every table to")
    given = parser.parse_args()
    one_thread()
    n_followed = n_run = n_failed = n_told = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in given.table:
            try:
                found = measure(name, folder)
            except Absent as error:
                print(f"\n=== {name}\nabsent: {error}")
                continue
            show(found, folder)
            append(given.out, json.loads(json.dumps(found).replace(f"{folder}/", "")))
            codes = [one["code"] for one in found["followed"]]
            n_followed += len(codes)
            n_run += codes.count(0)
            n_failed += sum(bool(code) for code in codes)
            n_told += len(found["contradictions"])
    print(
        f"\n{n_followed} suggestions: {n_run} run, {n_failed} fail, "
        f"{n_followed - n_run - n_failed} name a flag alone; contradictions: {n_told}"
    )


if __name__ == "__main__":
    main()
