"""Tests of reading output: complete, while it is written, by lines and as JSON."""

from pathlib import Path

import pytest

from kron.adapters.process.output import OutputLog
from kron.adapters.process.run_log import LogRecord, RunLog, log_path
from kron.adapters.process.spool import Spool
from tests.adapters.process.recorded_runner import living, settled, until


async def test_following_yields_everything_once(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "for i in $(seq 1 30); do echo $i; sleep 0.05; done")
        await runner.started(run_id)
        log = OutputLog(runner.output_folder, run_id)
        parts = []

        def is_over() -> bool:
            output = log.follow()
            parts.append(output.text())
            return output.is_final

        await until(is_over)

        assert b"".join(parts) == b"".join(b"%d\n" % number for number in range(1, 31))
        assert len([part for part in parts if part]) > 2


async def test_lines_carry_time_and_stream_and_json_has_text(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "printf 'caf\\303\\251 \\377\\nrest'; sleep 0.5; echo ' of it'")
        await settled(runner, run_id)
        output = runner.output(run_id)
        first, second = output.lines()
        found = output.to_json()

        assert bytes(second).endswith(b"Z stdout rest of it\n")
        assert first.time == second.time
        assert [row["text"] for row in found["lines"]] == ["café �", "rest of it"]
        assert {key: found[key] for key in ("run_id", "bytes", "dropped")} == {
            "run_id": run_id, "bytes": 19, "dropped": 0,
        }  # fmt: skip


async def test_an_id_of_any_characters_is_a_name(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("echo", "hello", run_id="../a b/.é.log")
        await settled(runner, run_id)

        assert runner.output(run_id).text() == b"hello\n"


async def test_output_is_whole_at_any_moment_around_the_end(tmp_path: Path) -> None:
    """The collector moves bytes from a spool file to the log while a reader reads both."""

    async with living(tmp_path) as runner:
        for _ in range(10):
            run_id = runner.start("echo", "hello")
            await runner.ended(run_id)
            said = {runner.output(run_id).text()}

            def is_final(run_id: str = run_id, said: set[bytes] = said) -> bool:
                output = runner.output(run_id)
                said.add(output.text())
                return output.is_final

            while not is_final():
                pass

            assert said == {b"hello\n"}


def logged(folder: Path, *records: tuple[bytes, int]) -> OutputLog:
    log, position = RunLog(log_path(folder, "run"), 1 << 20), 0
    for time, (data, dropped) in enumerate(records):
        position += len(data) + dropped
        log.append(LogRecord("stdout", time, len(data), dropped, position), data)
    return OutputLog(folder, "run")


@pytest.mark.parametrize(
    ("size", "text", "skipped"),
    [
        (100, b"one\n[krond: 5 bytes dropped]\ntwo\nthree\n", 0),
        (10, b"two\nthree\n", 4),
        (8, b"o\nthree\n", 6),
        (6, b"three\n", 8),
        (0, b"", 14),
    ],
)
def test_a_tail_has_the_last_bytes_and_says_how_many_are_before_it(
    tmp_path: Path, size: int, text: bytes, skipped: int
) -> None:
    tail = logged(tmp_path, (b"one\n", 0), (b"two\n", 5), (b"three\n", 0)).tail(size)

    assert tail.skipped == skipped
    assert tail.text().removeprefix(b"[krond: 5 bytes dropped]\n") == text


@pytest.mark.parametrize(
    ("size", "text", "skipped"),
    [
        (100, b"one\n[krond: 2 bytes dropped]\ntwo\nthree\n", 0),
        (10, b"two\nthree\n", 4),
        (6, b"three\n", 8),
        (3, b"ee\n", 11),
        (0, b"", 14),
    ],
)
def test_a_tail_of_output_that_is_not_collected_yet_counts_what_is_before_it(
    tmp_path: Path, size: int, text: bytes, skipped: int
) -> None:
    log = logged(tmp_path, (b"one\n", 0))
    spool = Spool("0", "run", "stdout", limit=10)
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / spool.name).write_bytes(b"one\n??two\nthree\n")
    (tmp_path / "spools").write_text(spool.line())

    tail = log.tail(size)

    assert tail.skipped == skipped
    assert tail.text().removeprefix(b"[krond: 2 bytes dropped]\n") == text


def test_a_stream_of_blocks_is_the_whole_text(tmp_path: Path) -> None:
    log = logged(tmp_path, (b"x" * 3_000_000, 0), (b"y", 7), (b"", 2))

    blocks = list(log.stream())

    assert max(map(len, blocks)) <= 1 << 20
    assert b"".join(blocks) == log.read().text()
    assert log.read().text().endswith(b"x\n[krond: 7 bytes dropped]\ny\n[krond: 2 bytes dropped]\n")


def test_following_goes_on_after_the_log_was_compacted(tmp_path: Path) -> None:
    path = log_path(tmp_path, "run")
    log, follower = RunLog(path, 12), OutputLog(tmp_path, "run")
    said = b""
    for number in range(10, 60):
        log.append(LogRecord("stdout", number, 3, 0, 3 * number), b"%d\n" % number)
        said += follower.follow().text()
        if number % 7 == 0:
            log.compact()

    assert said == b"".join(b"%d\n" % number for number in range(10, 60))
