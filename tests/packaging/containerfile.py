"""Parse a Containerfile; no image is built here."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Containerfile:
    """A container file of the repository, whose folder is its context."""

    def __init__(self, name: str) -> None:
        self.text = (ROOT / name).read_text("utf-8")
        *_, self.last = self.text.split("\nFROM ")  # the stage that becomes the image

    def words(self, name: str) -> list[str]:
        """Return the words of an instruction in its list form, the last one of that name."""
        *_, found = re.findall(rf"^{name} .*?(\[.*\])$", self.text, re.MULTILINE)
        given = json.loads(found)
        assert isinstance(given, list)
        return given

    def copied(self) -> list[Path]:
        """Return everything that it takes from the repository."""
        lines = re.findall(r"^COPY (?!--)(.*) \S+$", self.text, re.MULTILINE)
        return [ROOT / name for line in lines for name in line.split()]

    def has_no_rights(self) -> bool:
        """Whether what it runs is not root, by number."""
        return re.search(r"^USER [1-9]\d*:[1-9]\d*$", self.last, re.MULTILINE) is not None
