"""Tests of the theory: the judge, and why it can be trusted."""
