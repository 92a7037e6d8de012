"""The test of chance under its former name."""

from ..chance import LEVEL, ChanceTest, chance_test

__all__ = ["LEVEL", "ChanceTest", "chance_test"]
