"""Work in forked children, whose deaths and hangs are seen, and fuzzings of it in processes."""

import faulthandler
import json
import os
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LONG = os.environ.get("IKD_GRAPH_FUZZING") == "long"
"""Whether fuzzings are to be as long as SECURITY.md says."""

MOST_SECONDS = 7200 if LONG else 1200
"""How long fuzzing of one kind may take."""


def runs(script, seeds, *words):
    """What a script prints for each of some seeds, as many at a time as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda seed: run(script, seed, *words), seeds))


def run(script, *words):
    """What a script prints as JSON, run in a process of its own with a compiled cache."""
    paths = [str(Path(__file__).parents[2]), *(path for path in sys.path if path)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "MPLBACKEND": "Agg",
        # One thread: a forked child has no others.
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
        "IKD_GRAPH_NUMBA_CACHE": "1",
    }
    command = [sys.executable, script, *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-3000:]}"
    return json.loads(done.stdout)


def in_a_child(task, seconds, most_bytes):
    """What a task returns, a kind and a few words, in a forked child; its death and hang too."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        # What ends it is told below.
        faulthandler.disable()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
        kind, words = task()
        os.write(write, f"{kind}\n{words[:600]}".encode("utf-8", "replace"))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace")
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return ("hang" if number == signal.SIGALRM else "crash"), signal.Signals(number).name
    kind, _, words = said.partition("\n")
    return kind or "crash", words
