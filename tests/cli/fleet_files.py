"""Commands that read files as other hosts, and the job files and inventory of a fleet."""

from pathlib import Path

from tests.cli.kron_runner import CommandResult, kron

DAY = ("--from", "2026-03-01T00:00:00Z", "--to", "2026-03-02T00:00:00Z")
NEXT = ("--from", "2026-03-01T00:00:00Z", "--count", "1")
SALTED = '0 3 * * * @win(after,2h) @seed(stable,salt="{host}") name=backup command=true\n'
NAMED = '0 3 * * * @win(after,2h) name=backup identity="{host}/backup" command=true\n'
MACHINE = '0 3 * * * @win(after,2h) @seed(stable,salt="{machine}") name=backup command=true\n'
PLAIN = "0 3 * * * @win(after,2h) name=backup command=true\n"
COMMANDS: dict[str, tuple[str, ...]] = {
    "forecast": ("forecast", "FILE", *DAY),
    "feed": ("feed", "FILE", *DAY),
    "tune": ("tune", "FILE", "--budget", "1", "--from", DAY[1], "--to", "1d"),
    "plan": ("plan", "FILE", "FILE", *DAY),
    "next": ("next", "--file", "FILE", *NEXT),
}


def ask(command: str, file: str, *options: str) -> CommandResult:
    return kron(*(file if word == "FILE" else word for word in COMMANDS[command]), *options)


def inventory(tmp_path: Path, *lines: str) -> tuple[str, str]:
    path = tmp_path / "hosts.txt"
    path.write_text("\n".join(lines))
    return ("--inventory", str(path))


def fleet(tmp_path: Path, name: str, **files: str) -> Path:
    folder = tmp_path / name
    for host, text in files.items():
        (folder / "hosts" / host).mkdir(parents=True)
        (folder / "hosts" / host / "jobs.kron").write_text(text)
    inventory(folder, *(f"{host} hosts/{host}/*.kron" for host in files))
    return folder


def seconds(answer: CommandResult) -> list[str]:
    assert answer.code == 0, answer.err
    return [row["chosen_time"] for row in answer.json]
