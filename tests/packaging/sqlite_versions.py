"""The tests of the ledgers on other versions of SQLite than Python's own; `make test-sqlite` runs them.

Each version is compiled from the source that a Go module carries, and is loaded in place of the one of this Python.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MODULE = "github.com/mattn/go-sqlite3"
VERSIONS = {"3.35.4": "v1.14.7", "3.38.5": "v1.14.13", "3.53.4": "v1.14.52"}  # of SQLite, and of the module with it
TESTS = (
    "tests/adapters/sqlite", "tests/adapters/test_histories.py", "tests/adapters/test_job_ledgers.py",
    "tests/adapters/test_task_ledgers.py",
)  # fmt: skip
_OPTIONS = ("THREADSAFE=1", "ENABLE_JSON1", "ENABLE_COLUMN_METADATA", "ENABLE_DESERIALIZE", "ENABLE_FTS5")
_LIBRARY = "libsqlite3.so.0"  # the name that Python's module asks the linker for


def compile_library(module_version: str, folder: Path) -> None:
    """Compile the SQLite of a version of the module into a folder."""
    command = ["go", "mod", "download", "-json", f"{_MODULE}@{module_version}"]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=True)
    source = Path(json.loads(done.stdout)["Dir"]) / "sqlite3-binding.c"
    options = [f"-DSQLITE_{option}" for option in _OPTIONS]
    shared = ["-O1", "-shared", "-fPIC", f"-Wl,-soname,{_LIBRARY}", "-o", str(folder / _LIBRARY)]
    subprocess.run(["cc", *options, *shared, str(source), "-lm", "-ldl", "-lpthread"], check=True)


def run_tests(version: str, folder: Path) -> int:
    """Run the tests with the library of a folder; return the exit code."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
    ask = [sys.executable, "-c", "import sqlite3; print(sqlite3.sqlite_version)"]
    loaded = subprocess.run(ask, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    if loaded != version:
        print(f"SQLite {version} was NOT tested: this Python does not load it, but {loaded}")
        return 1
    print(f"SQLite {version}", flush=True)
    command = [sys.executable, "-m", "pytest", "-m", "not slow and not cluster", *TESTS]
    return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode


def main() -> int:
    """Run the tests on every version; return 1 if one of them fails."""
    codes = []
    for version, module_version in VERSIONS.items():
        with tempfile.TemporaryDirectory(prefix="kron-sqlite-") as folder:
            compile_library(module_version, Path(folder))
            codes.append(run_tests(version, Path(folder)))
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
