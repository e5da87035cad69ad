"""Fixtures of the attacks: krond processes that are removed with all their children, and small disks."""

from tests.faults.conftest import new_krond, quick_folder, small_disk

__all__ = ["new_krond", "quick_folder", "small_disk"]
