"""Inverse kernel decomposition on graphs: few hidden coordinates behind many measurements."""

__version__ = "0.1.0"
