"""A process of another user has that user's ids only and cannot regain others, or it is not started."""

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kron.adapters.process.procfs import read_stat
from tests.adapters.process.recorded_runner import UNPRIVILEGED_USER, living, needs_root, until

pytestmark = needs_root

ROOT = Path(__file__).parents[3]


async def test_all_ids_and_groups_are_the_users(tmp_path: Path) -> None:
    user = pwd.getpwnam(UNPRIVILEGED_USER)

    async with living(tmp_path) as runner:
        status = await runner.says("cat", "/proc/self/status", user=UNPRIVILEGED_USER)
        found = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)

        assert found["Uid"].split() == [str(user.pw_uid)] * 4
        assert found["Gid"].split() == [str(user.pw_gid)] * 4
        assert {int(gid) for gid in found["Groups"].split()} == {*os.getgrouplist(UNPRIVILEGED_USER, user.pw_gid)}
        assert {int(found[f"Cap{kind}"], 16) for kind in ("Prm", "Eff", "Amb")} == {0}


async def test_a_group_of_its_own_replaces_the_users(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        assert await runner.says("id", "-gn", user=UNPRIVILEGED_USER, group="daemon") == "daemon\n"
        assert await runner.says("id", "-un", user=UNPRIVILEGED_USER, group="daemon") == "nobody\n"
        assert await runner.says("id", "-gn", group="daemon") == "daemon\n"


PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.mark.skipif(shutil.which("python3", path=PATH) is None, reason="NEEDS python3 WHERE EVERYBODY FINDS IT")
async def test_a_process_cannot_regain_privileges(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "for call in (lambda: os.setuid(0), lambda: os.setresuid(-1, 0, -1), lambda: os.setgid(0),\n"
        "             lambda: os.setgroups([0]), lambda: open('/etc/shadow')):\n"
        "    try:\n"
        "        call()\n"
        "        print('it worked')\n"
        "    except PermissionError:\n"
        "        print('refused')\n"
    )

    async with living(tmp_path) as runner:
        assert await runner.says("python3", "-c", code, user=UNPRIVILEGED_USER) == "refused\n" * 5


async def test_the_environment_is_that_of_the_user(tmp_path: Path) -> None:
    user = pwd.getpwnam(UNPRIVILEGED_USER)

    async with living(tmp_path) as runner:
        text = await runner.says("sh", "-c", 'echo "$USER $LOGNAME $HOME"; pwd', user=UNPRIVILEGED_USER)

        name, folder = UNPRIVILEGED_USER, user.pw_dir if Path(user.pw_dir).exists() else "/"
        assert text == f"{name} {name} {user.pw_dir}\n{folder}\n"


async def test_the_spawner_itself_has_no_rights_left_and_cannot_be_looked_into(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        started = await runner.started(runner.start("sleep", "1000", user=UNPRIVILEGED_USER))
        known = read_stat(started.pid)
        assert known is not None
        spawner = known.parent

        status = Path(f"/proc/{spawner}/status").read_text("ascii")
        assert f"Uid:\t{pwd.getpwnam(UNPRIVILEGED_USER).pw_uid}\t" in status
        # Its user may end it, but neither trace it nor take its descriptors.
        assert (await runner.run("ls", f"/proc/{spawner}/fd", user=UNPRIVILEGED_USER)).exit_code == 2
        assert (await runner.run("cat", f"/proc/{spawner}/environ", user=UNPRIVILEGED_USER)).exit_code == 1


async def test_dev_stdout_and_dev_stderr_can_be_opened(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "echo out >> /dev/stdout; echo err >> /dev/stderr", user=UNPRIVILEGED_USER)

        assert (await runner.ended(run_id)).exit_code == 0
        assert runner.output(run_id).only("stdout").text() == b"out\n"
        assert runner.output(run_id).only("stderr").text() == b"err\n"


async def test_an_output_file_is_made_as_the_user_and_for_the_user_alone(tmp_path: Path, public_folder: Path) -> None:
    user = pwd.getpwnam(UNPRIVILEGED_USER)
    os.chown(public_folder, user.pw_uid, user.pw_gid)

    async with living(tmp_path) as runner:
        written = await runner.run("echo", "hello", user=UNPRIVILEGED_USER, umask=0, stdout=f"file:{public_folder}/log")
        refused = await runner.run("echo", "hello", user=UNPRIVILEGED_USER, stdout=f"file:{tmp_path}/log")
        found = (public_folder / "log").stat()

        assert written.exit_code == 0, written
        assert (found.st_uid, found.st_mode & 0o777) == (user.pw_uid, 0o600)
        assert refused.not_started == f"output file {tmp_path}/log: Permission denied"


async def test_no_user_can_reach_the_output_folder(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        tmp_path.chmod(0o755)
        run_id = runner.start("ls", str(runner.output_folder), user=UNPRIVILEGED_USER)

        assert (await runner.ended(run_id)).exit_code == 2
        assert runner.output_folder.stat().st_mode & 0o777 == 0o700


async def test_several_users_have_spawners_of_their_own(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_ids = {user: runner.start("sleep", "1000", user=user) for user in ("", UNPRIVILEGED_USER, "daemon")}
        started = [await runner.started(run_id) for run_id in run_ids.values()]
        parents = {known.parent for one in started if (known := read_stat(one.pid))}

        assert len(parents) == 3

        for run_id in run_ids.values():
            runner.runner.kill(run_id)
            assert (await runner.ended(run_id)).signal == "SIGKILL"
        await until(lambda: not any((known := read_stat(one.pid)) and known.is_alive for one in started))


def test_a_host_without_root_may_name_its_own_user_only() -> None:
    """Only root can try this: it becomes another user first, and asks the code that drops privileges."""
    code = (
        "import os, sys; sys.path.append(sys.argv[1])\n"
        "from kron.adapters.process.privilege import PrivilegeError, drop_privileges\n"
        "os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\n"
        "print(drop_privileges('nobody', '').name)\n"
        "try: drop_privileges('daemon', '')\n"
        "except PrivilegeError as error: print(error)\n"
    )
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(ROOT / "src")], capture_output=True, text=True, check=True
    )

    assert said.stdout == "nobody\nmay not become the user daemon: Operation not permitted\n", said.stderr
