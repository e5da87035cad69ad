"""What must be true of a release, before anything of it is built; `make release-check` says what is not."""

import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kron._version import __version__

ROOT = Path(__file__).parents[2]
_RESERVED = (".example", ".invalid", ".test", "localhost")  # RFC 2606: nothing is ever found there


def obstacles(tag: str, version: str, changelog: str, pyproject: Mapping[str, Any]) -> Iterator[str]:
    """Yield what keeps a version from being released under a tag."""
    if tag != f"v{version}":
        yield f"the tag is {tag or 'not given'}, the version is {version}: tag it v{version}"
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        yield f"CHANGELOG.md has no heading with the day of the release: write `## {version} (YYYY-MM-DD)`"
    for name, url in pyproject["project"]["urls"].items():
        if url.split("/")[2].endswith(_RESERVED):
            yield f"project.urls.{name} in pyproject.toml is a placeholder: {url}"


if __name__ == "__main__":
    found = list(
        obstacles(
            os.environ.get("TAG", ""),
            __version__,
            (ROOT / "CHANGELOG.md").read_text("utf-8"),
            tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8")),
        )
    )
    sys.exit("\n".join(found) or 0)
