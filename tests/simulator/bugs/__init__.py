"""Bugs that a scheduler could have, one table for each part of the code."""
