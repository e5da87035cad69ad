"""Chromium of the machine, driven by playwright; a missing browser is an error with its name."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_PINNED = Path(__file__).parents[2] / "constraints.txt"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str:
    """Return the program; where root may install packages, it is installed if missing."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None and shutil.which("apt-get"):
        for words in (["update"], ["install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"]):
            subprocess.run(["apt-get", "-qq", *words], check=False, capture_output=True)
        program = shutil.which("chromium")
    if program is None:
        pytest.skip("THE PAGE WAS NOT TRIED IN A BROWSER: Chromium is not here, and apt-get cannot install it")
    return program


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a browser of playwright, which is installed beside the tests if it is missing."""
    program = find_chromium()
    try:
        import playwright  # noqa: F401
    except ModuleNotFoundError:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--constraint", str(_PINNED), "playwright"]
        if subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("THE PAGE WAS NOT TRIED IN A BROWSER: playwright is not here, and pip cannot install it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
