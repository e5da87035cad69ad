"""Output is read from files alone: all of it, as it comes, by lines and as JSON."""

from pathlib import Path

from kron.adapters.process_runner.output import OutputLog
from tests.adapters.process_runner.world import living, settled, until, within_time


def test_following_yields_everything_once(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", "for i in $(seq 1 30); do echo $i; sleep 0.05; done")
            await world.started(run_id)
            log = OutputLog(world.output_folder, run_id)
            parts = []

            def is_over() -> bool:
                output = log.follow()
                parts.append(output.text())
                return output.is_final

            await until(is_over)

            assert b"".join(parts) == b"".join(b"%d\n" % number for number in range(1, 31))
            assert len([part for part in parts if part]) > 2

    within_time(body())


def test_lines_carry_time_and_stream_and_json_has_text(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", "printf 'caf\\303\\251 \\377\\nrest'; sleep 0.5; echo ' of it'")
            await settled(world, run_id)
            output = world.output(run_id)
            first, second = output.lines()
            found = output.as_json()

            assert bytes(second).endswith(b"Z stdout rest of it\n")
            assert first.time == second.time
            assert [row["text"] for row in found["lines"]] == ["café �", "rest of it"]
            assert {key: found[key] for key in ("run_id", "bytes", "dropped")} == {
                "run_id": run_id, "bytes": 19, "dropped": 0,
            }  # fmt: skip

    within_time(body())


def test_an_id_of_any_characters_is_a_name(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("echo", "hello", run_id="../a b/.é.log")
            await settled(world, run_id)

            assert world.output(run_id).text() == b"hello\n"

    within_time(body())


def test_output_is_whole_at_any_moment_around_the_end(tmp_path: Path) -> None:
    """The collector moves bytes from a spool file to the log while a reader reads both."""

    async def body() -> None:
        async with living(tmp_path) as world:
            for _ in range(10):
                run_id = world.start("echo", "hello")
                await world.ended(run_id)
                said = {world.output(run_id).text()}

                def is_final(run_id: str = run_id, said: set[bytes] = said) -> bool:
                    output = world.output(run_id)
                    said.add(output.text())
                    return output.is_final

                while not is_final():
                    pass

                assert said == {b"hello\n"}

    within_time(body())
