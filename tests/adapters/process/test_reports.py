"""Reports of a burst are passed on in batches and in order."""

from pathlib import Path

from kron.adapters.process.runner import ProcessRunner
from kron.adapters.process.spawner_client import ProcessExit, SpawnerReport, SpawnRequest
from kron.jobfile.host_job import Command
from kron.rules.job_record import RunHandle
from tests.adapters.process.recorded_runner import until


async def test_while_others_wait_to_be_started_news_is_gathered(tmp_path: Path) -> None:
    heard: list[str] = []

    runner = ProcessRunner(
        tmp_path / "output",
        started=lambda many: heard.append(f"started {len(many)}"),
        ended=lambda many: heard.append(f"ended {len(many)}"),
    )
    await runner.open()
    runner.start_many([SpawnRequest("waits", Command(("/does/not/exist",)))])
    for number in range(20):
        runner.on_report(SpawnerReport([RunHandle(f"run-{number}", 1, 1)], [ProcessExit(f"run-{number}", exit_code=0)]))
    assert heard == []
    await until(lambda: "ended 1" in heard or "ended 21" in heard)
    await runner.close()

    assert heard[0] == "started 20"
    assert heard[1:] in (["ended 20", "ended 1"], ["ended 21"])


async def test_without_a_burst_news_is_passed_on_at_once(tmp_path: Path) -> None:
    heard: list[str] = []

    runner = ProcessRunner(
        tmp_path / "output",
        started=lambda many: heard.extend(each.run_id for each in many),
        ended=lambda _: None,
    )
    await runner.open()
    runner.on_report(SpawnerReport([RunHandle("run", 1, 1)]))
    assert heard == ["run"]
    await runner.close()
