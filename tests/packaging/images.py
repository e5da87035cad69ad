"""The container images, built with podman or docker and asked for their version; `make container` calls it.

    make container [DIGEST=sha256:…]

Without DIGEST the base image is pulled by its tag, and its digest is the one of that moment.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from kron._version import __version__

ROOT = Path(__file__).parents[2]
IMAGES = {"krond": "packaging/Containerfile", "kron-operator": "deploy/Containerfile"}
_ENGINES = ("podman", "docker")


class ImageError(Exception):
    """The images were not built, or do not answer."""


def engine() -> str:
    """Return the first container engine that answers."""
    for name in _ENGINES:
        if shutil.which(name) and subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0:
            return name
    raise ImageError(f"the images were NOT built: no container engine answers ({', '.join(_ENGINES)})")


def base_image() -> str:
    """Return the name and tag of the image that all of them are made from."""
    found = {re.search(r"^FROM (\S+)@", (ROOT / file).read_text("utf-8"), re.MULTILINE) for file in IMAGES.values()}
    (name,) = {match[1] for match in found if match is not None}
    return name


def build(program: str, digest: str) -> list[str]:
    """Build the images; return what each answers to --version."""
    if not digest:
        _call(program, "pull", base_image())
        digest = _call(program, "image", "inspect", "--format", "{{index .RepoDigests 0}}", base_image())
        digest = digest.rpartition("@")[2]
    answers = []
    for name, file in IMAGES.items():
        tag = f"{name}:{__version__}"
        _call(program, "build", "--build-arg", f"DIGEST={digest}", "--file", file, "--tag", tag, ".")
        answers.append(_call(program, "run", "--rm", "--read-only", tag, "--version"))
        if __version__ not in answers[-1]:
            raise ImageError(f"{tag} answers {answers[-1]!r}, which does not name {__version__}")
    return answers


def _call(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ImageError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    try:
        print("\n".join(build(engine(), os.environ.get("DIGEST", ""))))
    except ImageError as error:
        sys.exit(str(error))
