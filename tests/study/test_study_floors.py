"""Inside the wing: what is lowest stands alone, `compare` and `diagnosis` see all of that."""

import ast
from pathlib import Path

import pytest

import ikd_graph.study

WING = Path(ikd_graph.study.__file__).parent
FLOOR_OF = {
    "timing": 0,
    "datasets": 1,
    "metrics": 1,
    "baselines": 1,
    "levels": 1,
    "settings": 1,
    "judgement": 1.5,
    "label_scores": 1.5,
    "compare": 2,
    "diagnosis": 2,
}


def wing_imports(name, source, depth):
    """Imports of a module of the wing that reach its own floor or a higher one."""
    reached = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            reached += [node.module.split(".")[0]] if node.module else [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ikd_graph"):
            reached.append(node.module)
    return [other for other in reached if FLOOR_OF.get(other, -1) >= FLOOR_OF[name]]


@pytest.mark.parametrize("path", sorted(WING.rglob("*.py")), ids=lambda p: str(p.relative_to(WING)))
def test_the_wing_imports_downwards_only(path):
    parts = path.relative_to(WING).parts
    if parts == ("__init__.py",):
        return
    name = parts[0].removesuffix(".py")
    assert name in FLOOR_OF, f"place {name} in the table of floors"
    assert wing_imports(name, path.read_text(), len(parts)) == []


def test_the_guard_catches_planted_faults():
    assert wing_imports("metrics", "from .._checks import check_finite", 1) == []
    assert wing_imports("metrics", "from .datasets import load", 1) == ["datasets"]
    assert wing_imports("metrics", "def f():\n    from . import compare", 1) == ["compare"]
    assert wing_imports("compare", "from .. import metrics, diagnosis", 2) == ["diagnosis"]
    assert wing_imports("compare", "from ..baselines import PEERS", 2) == []
