"""The command line as ``python -m ikd_graph``."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
