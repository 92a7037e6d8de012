"""Version of the package, which the tag of a release says."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("ikd_graph")
except PackageNotFoundError:  # Run from its sources without having been installed.
    __version__ = "0+unknown"
