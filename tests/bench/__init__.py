"""Tests of how benchmark results are read and compared; no benchmark runs here."""
