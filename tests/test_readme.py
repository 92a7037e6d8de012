"""The front page: short, with pictures that a script draws, and figures that it wrote."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```|^\|.*?$|^!.*?$|^#.*?$", "", TEXT, flags=re.S | re.M)


def test_the_front_page_is_short_and_shows_pictures():
    assert len(TEXT.splitlines()) <= 130
    assert len(TEXT.split()) <= 900
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", TEXT)
    assert len(pictures) >= 2
    assert all((ROOT / name).exists() for name in pictures)
    assert TEXT.splitlines()[4].startswith("![")


def test_sentences_are_short():
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", PROSE)
    sentences = [one.split() for one in re.split(r"[.:?]\s+|\n\n|\n- ", words) if one.split()]
    assert max(map(len, sentences)) <= 30
    assert sum(map(len, sentences)) / len(sentences) <= 16


@pytest.mark.slow
def test_its_pictures_can_be_drawn(tmp_path):
    script = ROOT / "examples" / "readme_pictures.py"
    if not script.exists():
        pytest.skip("needs the sources")
    subprocess.run([sys.executable, script, "--quick", "--output", tmp_path], check=True)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert {"hero.png", "idea.png", "numbers.json"} <= drawn
