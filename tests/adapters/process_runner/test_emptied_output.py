"""A job that empties its own output, as `> /dev/stderr` does: what was seen before is kept, and the place is marked."""

from pathlib import Path

import pytest

from kron.adapters.process_runner import index
from kron.adapters.process_runner.live_output import LiveOutput
from kron.adapters.process_runner.output_files import LiveFile, OutputFiles
from kron.adapters.process_runner.output_log import OutputLog
from kron.adapters.process_runner.slots import Slots
from kron.adapters.process_runner.syslog import Syslog
from tests.adapters.process_runner.world import living, settled, until, within_time

MARK = b"[krond: the job emptied its output here]\n"
LONG = b"a line of a long output\n" * 1000


class Written:
    """An execution whose files are written by hand, and looked at when the test says so."""

    def __init__(self, folder: Path, *, limit: int = 1 << 20) -> None:
        self._files = OutputFiles(folder)
        self._files.prepare()
        live = [LiveFile(f"0-0-{number}", "run", limit, stream) for number, stream in enumerate(("stdout", "stderr"))]
        self.paths = {file.stream: self._files.live / file.name for file in live}
        for path in self.paths.values():
            path.touch()
        self._files.write_journal(file.line() for file in live)
        self._time = 0
        self.begin()

    def begin(self) -> None:
        """Let a host look after it that knows nothing but the files."""
        slots = Slots(self._files)
        slots.load()
        self._output = LiveOutput(slots, "run", Syslog())

    def append(self, data: bytes, stream: str = "stdout") -> None:
        with self.paths[stream].open("ab") as file:
            file.write(data)

    def empty(self, data: bytes, stream: str = "stdout") -> None:
        """Write as `> /dev/stdout` does."""
        self.paths[stream].write_bytes(data)

    def look(self) -> None:
        self._time += 1
        self._output.grow(self._time)

    def finish(self) -> bytes:
        """Return all of it, when it is over."""
        assert self._output.finish(self._time + 1) is not None
        return self.text()

    def text(self) -> bytes:
        return OutputLog(self._files.folder, "run").read().text()

    def indexed(self) -> dict[str, int]:
        return index.load(self._files.index_of("run"), 0).sizes


@pytest.fixture
def output(tmp_path: Path) -> Written:
    return Written(tmp_path / "output")


@pytest.mark.parametrize("after", [b"", b"2\n", b"two\n", b"two and more\n"], ids=["nothing", "less", "equal", "more"])
def test_what_was_seen_before_is_kept_whatever_the_size_is_then(output: Written, after: bytes) -> None:
    output.append(b"one\n")
    output.look()
    output.empty(after)
    output.look()

    assert output.text() == output.finish() == b"one\n" + MARK + after


def test_what_follows_is_captured_as_ever(output: Written) -> None:
    output.append(b"one\n")
    output.look()
    output.empty(b"two\n")
    output.look()
    output.append(b"three\n")
    output.look()
    output.append(b"four\n")

    assert output.finish() == b"one\n" + MARK + b"two\nthree\nfour\n"


def test_it_may_be_emptied_again_and_again(output: Written) -> None:
    for number in (b"1\n", b"2\n", b"3\n"):
        output.empty(number)
        output.look()

    assert output.finish() == b"1\n" + MARK + b"2\n" + MARK + b"3\n"


def test_it_is_noticed_at_the_end_too(output: Written) -> None:
    output.append(b"one\n")
    output.look()
    output.empty(b"two\n")

    assert output.finish() == b"one\n" + MARK + b"two\n"


def test_a_line_that_had_no_end_gets_one_before_the_mark(output: Written) -> None:
    output.append(b"one")
    output.look()
    output.empty(b"two\n")
    output.look()

    assert output.finish() == b"one\n" + MARK + b"two\n"


def test_the_other_stream_is_not_touched_and_nothing_is_told_twice(output: Written) -> None:
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


def test_of_more_than_is_remembered_the_bytes_that_are_lost_are_counted(output: Written) -> None:
    output.append(LONG)
    output.look()
    output.empty(b"two\n" + LONG)
    output.look()

    text = output.finish()
    assert text == b"[krond: %d bytes dropped]\n" % len(LONG) + MARK + b"two\n" + LONG


def test_a_long_output_that_only_grows_is_as_it_was_written(output: Written) -> None:
    for _ in range(5):
        output.append(LONG)
        output.look()

    assert output.finish() == 5 * LONG


def test_what_krond_itself_drops_is_not_taken_for_an_emptied_file(tmp_path: Path) -> None:
    output = Written(tmp_path / "output", limit=4096)
    for _ in range(20):
        output.append(LONG)
        output.look()

    assert MARK not in output.finish()


def test_a_limit_holds_for_what_was_put_back_too(tmp_path: Path) -> None:
    output = Written(tmp_path / "output", limit=100)
    for number in range(50):
        output.empty(b"%d\n" % number)
        output.look()

    text = output.finish()
    assert len(text) < 200
    assert text.startswith(b"0\n")
    assert text.endswith(b"49\n")


def test_a_host_that_comes_back_goes_on_where_the_index_ends(output: Written) -> None:
    output.append(b"one\n")
    output.look()
    output.empty(b"two\n")
    output.look()
    output.begin()
    output.append(b"three\n")

    assert output.finish() == b"one\n" + MARK + b"two\nthree\n"


def test_a_host_that_comes_back_to_an_emptied_file_counts_what_is_missing(output: Written) -> None:
    output.append(b"one and two\n")
    output.look()
    output.begin()
    output.empty(b"3\n")

    assert output.finish() == b"[krond: 12 bytes dropped]\n" + MARK + b"3\n"


def test_a_file_that_somebody_removed_counts_as_dropped(output: Written) -> None:
    output.append(b"one\n")
    output.look()
    output.paths["stdout"].unlink()
    output.look()

    assert output.indexed()["stdout"] == 0


def test_a_real_shell_loses_nothing_that_was_seen(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            script = "echo one; while ! test -e go; do sleep 0.05; done; echo two > /dev/stdout"
            run_id = world.start("sh", "-c", script, cwd=str(tmp_path))
            await until(lambda: world.runner.files.index_of(run_id).exists())
            (tmp_path / "go").touch()
            await settled(world, run_id)

            assert world.output(run_id).text() == b"one\n" + MARK + b"two\n"

    within_time(body())
