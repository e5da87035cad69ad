"""Output that Kron does not keep: in a file of the job, in the host's own output, or discarded."""

from pathlib import Path

import pytest

from tests.adapters.process.recorded_runner import living, settled


async def test_a_file_is_appended_to_and_made_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "log"

    async with living(tmp_path) as runner:
        for word in ("one", "two"):
            await runner.run("sh", "-c", f"echo {word}; echo {word} >&2", stdout=f"file:{path}", stderr="stdout")

        assert path.read_text("utf-8") == "one\none\ntwo\ntwo\n"
        assert path.stat().st_mode & 0o777 == 0o600


async def test_discarded_output_is_nowhere(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "echo out; echo err >&2", stdout="discard")
        await settled(runner, run_id)

        assert runner.output(run_id).text() == b"err\n"


async def test_inherited_output_is_the_hosts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with living(tmp_path) as runner:
        await runner.run("sh", "-c", "echo out; echo err >&2", stdout="inherit", stderr="inherit")
    found = capfd.readouterr()

    assert (found.out, found.err) == ("out\n", "err\n")
