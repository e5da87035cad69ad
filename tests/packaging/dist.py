"""The wheel and the source distribution, built twice and compared byte by byte; `make dist` puts them into dist/.

The wheel is built from the source distribution, like one that a packager builds. Timestamps are
SOURCE_DATE_EPOCH: that of the environment, otherwise the time of the last commit.
"""

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "dist"
_EARLIEST = 315532800  # 1980-01-01, the first day that a wheel can name
_NOT_SOURCES = (
    ".git", ".venv", "build", "dist", "__pycache__", "*.egg-info",
    ".*_cache", ".krond", ".bench", ".mutation", ".branch_coverage", ".hypothesis",
)  # fmt: skip
_SURROUNDINGS: tuple[Mapping[str, str], ...] = (  # of the two builds: nothing of them may reach the files
    {"TZ": "UTC", "PYTHONHASHSEED": "1", "LC_ALL": "C"},
    {"TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8"},
)


class NotReproducibleError(Exception):
    """Two builds of the same sources differ."""


def build(output: Path) -> list[Path]:
    """Build both files twice, and put them into a directory if both builds are equal; return their paths."""
    epoch = source_date_epoch()
    with tempfile.TemporaryDirectory(prefix="kron-dist-") as folder:
        first, second = (
            _build_once(Path(folder) / name, epoch, surroundings)
            for name, surroundings in zip(("a", "second"), _SURROUNDINGS, strict=True)
        )
        if differing := differing_files(first, second):
            raise NotReproducibleError(f"two builds differ in {', '.join(differing)}")
        output.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copy(path, output)) for path in sorted(first.iterdir())]


def differing_files(first: Path, second: Path) -> list[str]:
    """Return the names of the files that are not the same in two directories, or are in one of them only."""
    one, other = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in (first, second))
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def source_date_epoch() -> int:
    """Return the seconds that stand for the time of the build."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    if not (ROOT / ".git").exists():
        return _EARLIEST
    command = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def sources(root: Path = ROOT) -> Iterator[Path]:
    """Yield the files of the project, relative to its root: those that git knows, or all of a copy without git."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z"]
        names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
        yield from (Path(name) for name in names if (root / name).is_file())
        return
    ignored = shutil.ignore_patterns(*_NOT_SOURCES)
    for folder, folders, names in os.walk(root):
        folders[:] = set(folders) - ignored(folder, folders)
        yield from (Path(folder, name).relative_to(root) for name in set(names) - ignored(folder, names))


def normalize(archive: Path, epoch: int) -> None:
    """Write a .tar.gz again without what differs between two builds: order, times, owners and rights."""
    with tarfile.open(archive) as packed:
        members = sorted(packed.getmembers(), key=lambda member: member.name)
        files = [(member, packed.extractfile(member)) for member in members]
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as again:
            for member, content in files:
                again.addfile(_plain(member, epoch), content)
    with archive.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as packed_again:
        packed_again.write(plain.getvalue())


def _plain(member: tarfile.TarInfo, epoch: int) -> tarfile.TarInfo:
    plain = tarfile.TarInfo(member.name)
    plain.type, plain.size, plain.linkname, plain.mtime = member.type, member.size, member.linkname, epoch
    plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return plain


def _build_once(folder: Path, epoch: int, surroundings: Mapping[str, str]) -> Path:
    copy, made = folder / "copy", folder / "made"
    for name in sources():  # a copy: what a build leaves in a directory would be read by the next one
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
        (copy / name).chmod(0o755 if os.access(ROOT / name, os.X_OK) else 0o644)
    environment = {**os.environ, **surroundings, "SOURCE_DATE_EPOCH": str(epoch)}
    _call_backend("sdist", copy, made, environment)
    (archive,) = made.iterdir()
    normalize(archive, epoch)
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    _call_backend("wheel", unpacked, made, environment)
    return made


def _call_backend(kind: str, source: Path, made: Path, environment: Mapping[str, str]) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", str(made), str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, umask=0o022)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


if __name__ == "__main__":
    shutil.rmtree(OUTPUT, ignore_errors=True)
    for path in build(OUTPUT):
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(ROOT)}")
