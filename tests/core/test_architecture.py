"""Layers, compiled code, docstrings, imports. Every guard is shown a planted fault."""

import ast
import importlib
import inspect
import itertools
import re
import subprocess
import sys
from pathlib import Path

import networkx
import pytest

import ikd_graph

PACKAGE = Path(ikd_graph.__file__).parent
ROOT = Path(__file__).parents[2]

LAYER_OF = {
    name: int(layer)
    for layer, names in re.findall(
        r"^\| (\d+) \| (`.*?`) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M
    )
    for name in re.findall(r"`(\w+)`", names)
}
"""Modules by their layer, the lowest 0: imports go down, or stay in one layer."""


def module_files():
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_modules(source, depth=1):
    """Modules of the package that a source ``depth`` folders deep imports, lazily or not."""
    reached = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            reached += [node.module.split(".")[0]] if node.module else [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ikd_graph"):
            parts = node.module.split(".")[1:]
            reached += parts[:1] if parts else [a.name for a in node.names]
        elif isinstance(node, ast.Import):
            reached += [a.name.split(".")[1] for a in node.names if a.name.startswith("ikd_graph.")]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # Modules named in strings are imported past a guard that reads statements alone.
            reached += re.findall(r"^ikd_graph\.(\w+)(?:\.\w+)*$", node.value)
    return [module for module in reached if module in LAYER_OF]


def upward_imports(name, source, depth=1):
    """Imports of module ``name`` that reach a higher layer."""
    reached = imported_modules(source, depth)
    return [module for module in reached if LAYER_OF[module] > LAYER_OF[name]]


def import_cycles(imports):
    """Sets of modules that import one another, of pairs (importing, imported)."""
    graph = networkx.DiGraph((a, b) for a, b in imports if a != b)
    return [ring for ring in networkx.strongly_connected_components(graph) if len(ring) > 1]


def test_every_module_has_a_layer():
    names = {module_name(path) for path in module_files()} - {"__init__"}
    assert names <= set(LAYER_OF), f"place {sorted(names - set(LAYER_OF))} in the table of layers"


@pytest.mark.parametrize("path", module_files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_import_from_lower_layers_only(path):
    name = module_name(path)
    if name == "__init__":
        return
    depth = len(path.relative_to(PACKAGE).parts)
    assert upward_imports(name, path.read_text(), depth) == []


def test_modules_of_one_layer_do_not_import_one_another_in_a_circle():
    imports = [
        (module_name(path), imported)
        for path in module_files()
        for imported in imported_modules(path.read_text(), len(path.relative_to(PACKAGE).parts))
    ]
    assert import_cycles(imports) == []
    planted = [*imports, ("graph", "geodesics"), ("geodesics", "graph")]
    assert import_cycles(planted) == [{"graph", "geodesics"}]


def test_the_layer_guard_catches_planted_faults():
    assert upward_imports("graph", "from .kernels import Matern") == []
    assert upward_imports("graph", "def f():\n    from .estimator import IKD") == ["estimator"]
    assert upward_imports("graph", "from . import kernels, cliques") == ["cliques"]
    assert upward_imports("graph", "import ikd_graph.cli") == ["cli"]
    assert upward_imports("graph", "from ikd_graph.blockwise import solve") == ["blockwise"]
    assert upward_imports("jobs", "from ..report import page", 2) == ["report"]
    assert upward_imports("graph", 'import_module("ikd_graph.report.page")') == ["report"]


COMPILERS = re.compile(r"\b(njit|vectorize|cfunc)\b|fastmath=True")


@pytest.mark.parametrize("path", module_files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_is_compiled_but_in_its_home_by_the_decorators_of_the_house(path):
    # They know which files a cached function was made of.
    home, source = path.relative_to(PACKAGE).as_posix(), path.read_text()
    assert home == "_base/jit.py" or not COMPILERS.search(source)
    assert home.startswith("_jit/") or "_base.jit import jit" not in source


def test_the_guard_of_compilers_catches_a_planted_fault():
    assert COMPILERS.search("import numba\nf = numba.njit(f)")
    assert not COMPILERS.search("import numba\nnumba.set_num_threads(1)")


def documented_names(docstring):
    """Parameter names of a numpydoc docstring, in order."""
    lines = inspect.cleandoc(docstring).splitlines()
    names, inside = [], False
    for line, following in itertools.pairwise([*lines, ""]):
        if following and set(following) == {"-"}:
            inside = line.strip() in {"Parameters", "Other Parameters"}
        elif inside and line and not line.startswith((" ", "-")):
            head = line.split(" : ")[0]
            names += [name.strip().lstrip("*") for name in head.split(",") if name.strip()]
    return names


def documented_functions(tree):
    """Functions of a module and methods of its classes, not what stands inside a function."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from (inner for inner in node.body if isinstance(inner, ast.FunctionDef))


def docstring_gaps(source, whole=True):
    """Functions whose docstring is missing or documents other names than the signature.

    A private function may do with a sentence; so may a public one where ``whole`` is false.
    """
    gaps = []
    for node in documented_functions(ast.parse(source)):
        text = ast.get_docstring(node) or ""
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a]
        wanted = sorted(a.arg for a in every if a.arg not in {"self", "cls"})
        named = sorted(documented_names(text))
        public = not node.name.startswith("_")
        missing = (public and not text) or (public and whole and wanted and not named)
        if missing or (named and named != wanted):
            gaps.append(node.name)
    return gaps


# Functions for experts, who read no code.
DOCUMENTED_IN_FULL = ("eigen/_gap.py",)


@pytest.mark.parametrize("path", module_files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_docstrings_name_what_the_signature_names(path):
    whole = str(path.relative_to(PACKAGE)) in DOCUMENTED_IN_FULL
    assert docstring_gaps(path.read_text(), whole=whole) == []


def test_the_files_of_the_docstring_guard_exist():
    assert [name for name in DOCUMENTED_IN_FULL if not (PACKAGE / name).exists()] == []


def test_the_docstring_guard_catches_planted_faults():
    good = 'def f(a, b):\n    """Do.\n\n    Parameters\n    ----------\n    a, b : int\n    """'
    assert docstring_gaps(good) == []
    assert docstring_gaps(good.replace("f(a, b)", "f(a, c)")) == ["f"]
    assert docstring_gaps(good.replace("f(a, b)", "f(a, b, c)")) == ["f"]
    assert docstring_gaps("def f(a):\n    return a") == ["f"]


# Not pandas: scikit-learn loads it where it is installed.
HEAVY = ("numba", "networkx", "matplotlib", "plotly", "jinja2", "umap", "torch", "tqdm")


def test_importing_the_package_loads_and_compiles_nothing_heavy():
    code = "import sys; from ikd_graph import IKD, blockwise, cliques; "
    code += f"print([m for m in {HEAVY} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


PARTLY_PUBLIC = {"cli", "estimator", "jobs", "pl", "plotting", "report", "tl"}
"""Modules of which the reference lists a part: a command line, `IKD`, pages, AnnData."""


def test_modules_without_an_underscore_are_public_and_in_the_reference():
    reference = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ikd_graph\.(\w+)$", reference, re.M))
    public = {module_name(path) for path in module_files()} - {"__init__"}
    public = {name for name in public if not name.startswith("_")} - PARTLY_PUBLIC
    assert public <= listed
    for name in public:
        module = importlib.import_module(f"ikd_graph.{name}")
        assert set(module.__all__) <= set(dir(module))


def rows_of_tests(text):
    """Test files that the tables of a page name, by their folder."""
    rows, folder = [], None
    for line in text.splitlines():
        if head := re.match(r"^\| `(tests/\w+/)` \|", line):
            folder = head[1]
        elif folder and (row := re.match(r"^\| `(test_\w+\.py)` \| [^ |]", line)):
            rows.append(folder + row[1])
        elif not line.startswith("|"):
            folder = None
    return rows


def test_every_test_file_is_in_the_table_of_promises_once():
    rows = rows_of_tests((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(rows) == sorted(files)


def test_the_guard_of_the_table_of_promises_reads_it():
    table = "| `tests/a/` | what |\n|---|---|\n| `test_b.py` | that |\n| `test_c.py` |  |\n\n"
    assert rows_of_tests(table) == ["tests/a/test_b.py"]
    assert rows_of_tests(table + "| `test_d.py` | that |\n") == ["tests/a/test_b.py"]
