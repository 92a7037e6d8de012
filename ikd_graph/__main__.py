"""The command line as ``python -m ikd_graph``."""

import sys

from .cli import main

sys.exit(main())
