"""A job that empties its own output, as `> /dev/stderr` does: what was seen before is kept, and the place is marked."""

import os
from pathlib import Path

import pytest

from kron.adapters.process.output import OutputLog
from kron.adapters.process.output_collector import RunOutput
from kron.adapters.process.spool import STREAMS, Spool, SpoolFiles, read_spools
from kron.adapters.process.syslog import Syslog
from tests.adapters.process.recorded_runner import living, settled, until

MARK = b"[krond: the job emptied its output here]\n"
LONG = b"a line of a long output\n" * 1000


class HandWrittenOutput:
    """A run whose spool files are written by hand, and looked at when the test says so."""

    def __init__(self, folder: Path, *, limit: int = 1 << 20) -> None:
        self.folder = folder
        self._files = SpoolFiles(folder)
        self._files.open()
        self._spools = []
        for stream in STREAMS:
            name, descriptor = self._files.take()
            os.close(descriptor)
            self._spools.append(Spool(name, "run", stream, limit))
        self._files.assign(self._spools)
        self.paths = {spool.stream: self._files.live / spool.name for spool in self._spools}
        self._time = 0
        self.begin()

    def begin(self) -> None:
        """Let a daemon look after it that knows nothing but the files."""
        self._run = RunOutput(self.folder, read_spools(self.folder), Syslog())

    def append(self, data: bytes, stream: str = "stdout") -> None:
        with self.paths[stream].open("ab") as file:
            file.write(data)

    def empty(self, data: bytes, stream: str = "stdout") -> None:
        """Write as `> /dev/stdout` does."""
        self.paths[stream].write_bytes(data)

    def look(self) -> None:
        self._time += 1
        self._run.collect(self._time)

    def finish(self) -> bytes:
        """Return all of it, when it is over."""
        assert self._run.finish(self._time + 1)
        return self.text()

    def text(self) -> bytes:
        return OutputLog(self.folder, "run").read().text()


@pytest.fixture
def output(tmp_path: Path) -> HandWrittenOutput:
    return HandWrittenOutput(tmp_path / "output")


@pytest.mark.parametrize("after", [b"", b"2\n", b"two\n", b"two and more\n"], ids=["nothing", "less", "equal", "more"])
def test_output_seen_before_is_kept_whatever_the_size_is_then(output: HandWrittenOutput, after: bytes) -> None:
    output.append(b"one\n")
    output.look()
    output.empty(after)
    output.look()

    assert output.text() == output.finish() == b"one\n" + MARK + after


def test_output_after_a_truncation_is_captured(output: HandWrittenOutput) -> None:
    output.append(b"one\n")
    output.look()
    output.empty(b"two\n")
    output.look()
    output.append(b"three\n")
    output.look()
    output.append(b"four\n")

    assert output.finish() == b"one\n" + MARK + b"two\nthree\nfour\n"


def test_a_file_may_be_truncated_many_times(output: HandWrittenOutput) -> None:
    for number in (b"1\n", b"2\n", b"3\n"):
        output.empty(number)
        output.look()

    assert output.finish() == b"1\n" + MARK + b"2\n" + MARK + b"3\n"


def test_a_truncation_at_the_end_is_noticed_too(output: HandWrittenOutput) -> None:
    output.append(b"one\n")
    output.look()
    output.empty(b"two\n")

    assert output.finish() == b"one\n" + MARK + b"two\n"


def test_a_line_that_had_no_end_gets_one_before_the_mark(output: HandWrittenOutput) -> None:
    output.append(b"one")
    output.look()
    output.empty(b"two\n")
    output.look()

    assert output.finish() == b"one\n" + MARK + b"two\n"


def test_the_other_stream_is_not_touched_and_no_loss_is_marked_twice(output: HandWrittenOutput) -> None:
    output.append(b"one\n")
    output.look()
    output.append(b"out\n")
    output.append(b"err\n", "stderr")
    output.look()
    output.append(b"more\n")
    output.empty(b"new\n", "stderr")
    output.look()

    assert sorted(output.text().splitlines()) == [MARK[:-1], b"err", b"more", b"new", b"one", b"out"]
    assert output.finish() == output.text()


def test_a_long_output_that_was_seen_is_kept_whole(output: HandWrittenOutput) -> None:
    output.append(LONG)
    output.look()
    output.empty(b"two\n" + LONG)
    output.look()

    assert output.finish() == LONG + MARK + b"two\n" + LONG


def test_a_long_output_that_only_grows_is_as_it_was_written(output: HandWrittenOutput) -> None:
    for _ in range(5):
        output.append(LONG)
        output.look()

    assert output.finish() == 5 * LONG


def test_output_that_krond_drops_is_not_taken_for_a_truncation(tmp_path: Path) -> None:
    output = HandWrittenOutput(tmp_path / "output", limit=4096)
    for _ in range(20):
        output.append(LONG)
        output.look()

    assert MARK not in output.finish()


def test_a_limit_holds_for_an_output_that_is_emptied_again_and_again(tmp_path: Path) -> None:
    output = HandWrittenOutput(tmp_path / "output", limit=100)
    for number in range(50):
        output.empty(b"%d\n" % number)
        output.look()

    text = output.finish()
    assert len(text) < 200
    assert text.startswith(b"0\n")
    assert text.endswith(b"49\n")


def test_a_host_that_comes_back_goes_on_where_the_log_ends(output: HandWrittenOutput) -> None:
    output.append(b"one\n")
    output.look()
    output.empty(b"two\n")
    output.look()
    output.begin()
    output.append(b"three\n")

    assert output.finish() == b"one\n" + MARK + b"two\nthree\n"


def test_a_host_that_comes_back_to_an_emptied_file_has_what_was_seen(output: HandWrittenOutput) -> None:
    output.append(b"one and two\n")
    output.look()
    output.begin()
    output.empty(b"3\n")

    assert output.finish() == b"one and two\n" + MARK + b"3\n"


def test_a_spool_file_that_someone_removed_costs_what_was_not_seen_of_it(output: HandWrittenOutput) -> None:
    output.append(b"one\n")
    output.look()
    output.paths["stdout"].unlink()
    output.append(b"err\n", "stderr")

    assert output.finish() == b"one\nerr\n"


async def test_a_real_shell_loses_nothing_that_was_seen(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        script = "echo one; while ! test -e go; do sleep 0.05; done; echo two > /dev/stdout"
        run_id = runner.start("sh", "-c", script, cwd=str(tmp_path))
        await until((runner.output_folder / f"{run_id}.log").exists)
        (tmp_path / "go").touch()
        await settled(runner, run_id)

        assert runner.output(run_id).text() == b"one\n" + MARK + b"two\n"
