"""The commit that a table is measured at, which its head line names."""

import subprocess
from pathlib import Path


def measured():
    """Return what a head line says: measured at which commit, and if files differed from it."""
    git = ["git", "-C", str(Path(__file__).parent)]
    told = {"capture_output": True, "text": True}
    commit = subprocess.run([*git, "rev-parse", "--short=8", "HEAD"], **told).stdout.strip()
    same = (
        subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "../../ikd_graph"]).returncode == 0
    )
    return f"measured at commit {commit or 'unknown'}" + ("" if same else ", changed")
