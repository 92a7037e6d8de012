"""What `.ci/browser` does on machines with and without a browser, root and a network."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / ".ci" / "browser"
BASH = shutil.which("bash")
WORKS = 'echo "$*" >> "$0.said"; case "$*" in *install*) touch_both;; esac'
FAILS = 'echo "$*" >> "$0.said"; echo "W: slow" >&2; echo "E: no network" >&2; exit 100'

pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash")


def on_a_machine(folder, user="0", apt=None, browser=False):
    """Lines said, and commands apt-get got, where only these programs are found."""

    def add(name, body):
        (folder / name).write_text(f"#!{BASH}\n{body}\n")
        (folder / name).chmod(0o755)

    both = "; ".join(
        f'printf "#!{BASH}\\n" > {folder}/{name}; /bin/chmod +x {folder}/{name}'
        for name in ("chromium", "chromedriver")
    )
    add("id", f"echo {user}")
    if apt is not None:
        add("apt-get", apt.replace("touch_both", both))
    if browser:
        add("chromium-browser", "")
        add("chromedriver", "")
    done = subprocess.run(
        [BASH, SCRIPT], env={"PATH": str(folder)}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert done.stderr == ""
    said = folder / "apt-get.said"
    return done.stdout.splitlines(), said.read_text().splitlines() if said.exists() else []


def test_a_browser_is_installed_for_root(tmp_path):
    said, commands = on_a_machine(tmp_path, apt=WORKS)
    assert said == ["tests in a browser: yes"]
    assert commands[0] == "-qq update"
    assert commands[1].split()[-2:] == ["chromium", "chromium-driver"]
    assert "-y" in commands[1].split()


def test_a_browser_that_is_there_is_taken(tmp_path):
    assert on_a_machine(tmp_path, apt=WORKS, browser=True) == (["tests in a browser: yes"], [])


def test_an_installation_that_fails_is_told_in_one_line(tmp_path):
    said, commands = on_a_machine(tmp_path, apt=FAILS)
    assert said[0] == "apt-get did not install a browser: E: no network"
    assert len(said) == 2
    assert said[1].startswith("tests in a browser: no, skipped")
    assert commands == ["-qq update"]


@pytest.mark.parametrize("machine", [{"user": "1000", "apt": WORKS}, {"apt": None}])
def test_who_cannot_install_is_told_what_is_missing(tmp_path, machine):
    said, commands = on_a_machine(tmp_path, **machine)
    assert said == ["tests in a browser: no, skipped; they need chromium and chromedriver"]
    assert commands == []
