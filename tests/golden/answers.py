"""Questions about the files in `kept/`: commands with their exit codes and outputs.

    python -m tests.golden.answers

asks the recorded questions again and writes today's answers; the difference in git shows what changed. A change of JSON
is a change of a format that users rely on.
"""

import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.cli.kron_runner import kron
from tests.hosts.krond.command_runner import krond

KEPT = Path(__file__).with_name("kept")
RECORDED = Path(__file__).with_name("kept_answers.json")


def copy_to(folder: Path) -> Path:
    """Copy the files, with the modes that krond demands and git does not keep; return the copy."""
    copy = folder / "kept"
    shutil.copytree(KEPT, copy)
    for path in (copy / "state").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    (copy / "state").chmod(0o700)
    return copy


def ask(copy: Path, question: str) -> dict[str, Any]:
    """Run a command on a copy; its words are separated by blanks, and `{kept}` is where the copy is."""
    program, *words = question.split(" ")
    answer = {"kron": kron, "krond": krond}[program](*(word.replace("{kept}", str(copy)) for word in words))
    out = answer.out.replace(str(copy), "{kept}")
    return {"code": answer.code, "out": _without_zone_data(json.loads(out)) if "--json" in words else out}


def _without_zone_data(value: Any) -> Any:
    """Return an answer without the version of the time zone data, which is that of the machine."""
    match value:
        case dict():
            return {key: _without_zone_data(each) for key, each in value.items() if key != "tzdata_version"}
        case list():
            return [_without_zone_data(each) for each in value]
    return value


def questions_about(history: Iterable[dict[str, Any]]) -> list[str]:
    """Return what to ask of the files, given the history of the state directory: once about each kind of row.

    Answers are asked for as JSON, which is a format; the words for people may change.
    """
    state = "--state {kept}/state"
    kinds = ("", "--executions ", "--outcome missed ", "tick ")
    questions = [f"krond history {kind}{state} --json" for kind in kinds]
    questions += [f"krond ledger check {state} --json"]
    rows: dict[tuple[object, ...], dict[str, Any]] = {}
    for row in history:
        rows.setdefault((row["name"], row["outcome"], row["result"], "count" in row), row)
    for (name, *_), row in rows.items():
        at = row["chosen_time"] or row["nominal_time"]
        questions += [f"krond why {name} --at {at} {state} --json"] if at else []
        questions += [f"krond explain {name} --at {at} {state} --json"] if name in ("tick", "unschedulable") else []
        questions += [f"krond logs {row['run_id']} {state}"] if row["run_id"] else []
        questions += [f"krond logs {row['run_id']} {state} --json"] if name == "tick" and row["run_id"] else []
    for trace in ("library", "simulated"):
        questions += [f"kron verify {{kept}}/{trace}.jsonl {option}--json" for option in ("", "--recompute ")]
    return questions


def write(questions: Iterable[str] | None = None) -> None:
    """Write today's answers to the questions; those that are recorded, if none are given."""
    asked = json.loads(RECORDED.read_text("utf-8")) if questions is None else questions
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_to(Path(folder))
        lines = [f"{json.dumps(each)}: {json.dumps(ask(copy, each), ensure_ascii=False)}" for each in asked]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")  # a line a question


if __name__ == "__main__":
    write()
