#!/usr/bin/env -S uv run --script

# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""Tasks of a contributor: ``nox -s tests``, ``nox -s lint``, ``nox -s docs``."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format and types."""
    session.install(".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; arguments after ``--`` go to pytest (``-m slow``)."""
    session.install(".[test]")
    session.run("pytest", *session.posargs)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site into docs/_build."""
    session.install(".[docs]")
    session.run("python", "-m", "sphinx", "-W", "-q", "docs", "docs/_build")


if __name__ == "__main__":
    nox.main()
