"""Tests of job file discovery: by name, by directory, each file once."""

from pathlib import Path

import pytest

from kron.adapters.files.job_files import LoadedJobs, detect_format, load_jobs
from kron.jobfile.job_file import FileFormat, HostInfo

HERE = HostInfo("web1", "m", "Europe/Paris")
TOML = '[jobs.a]\nschedule = "@daily"\ncommand = "true"\n'
LINE = "@daily name=b command=true\n"
CRONTAB = "@daily true\n"
SYSTEM = "@daily root true\n"


def load(*configs: Path | str, form: FileFormat | None = None) -> LoadedJobs:
    return load_jobs([str(config) for config in configs], form=form, permissions=False, here=HERE)


def files(loaded: LoadedJobs) -> list[str]:
    assert not loaded.unreadable
    return [Path(job.file).name for job in loaded.job_set.jobs]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with a file of each form, and others that are none."""
    (tmp_path / "cron.d").mkdir()
    (tmp_path / "sub.toml").mkdir()
    contents = {
        "z.toml": TOML,
        "a.kron": LINE,
        "m.crontab": CRONTAB,
        "cron.d/mine": SYSTEM,
        "cron.d/mine.bak": "garbage",
        "notes.txt": "garbage",
        ".hidden.toml": "garbage",
        "z.toml~": "garbage",
    }
    for name, text in contents.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/etc/krond.toml", FileFormat.TOML),
        ("jobs.kron", FileFormat.LINES),
        ("ann.crontab", FileFormat.CRONTAB),
        ("/etc/crontab", FileFormat.SYSTEM_CRONTAB),
        ("/etc/../etc/crontab", FileFormat.SYSTEM_CRONTAB),
        ("/srv/cron.d/backup", FileFormat.SYSTEM_CRONTAB),
        ("/srv/cron.d/backup.toml", FileFormat.TOML),
        ("/srv/cron.d/backup.bak", None),
        ("/srv/crontab", None),
        ("jobs.txt", None),
        ("toml", None),
    ],
)
def test_the_form_follows_from_the_name(path: str, form: FileFormat | None) -> None:
    assert detect_format(path) is form


def test_a_directory_means_its_files_of_known_endings_and_its_cron_d(folder: Path) -> None:
    assert files(load(folder)) == ["a.kron", "m.crontab", "z.toml", "mine"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A directory of directories, with some that are not read."""
    names = [
        "z.toml", "web/b.kron", "web/a.toml", "web/cron.d/mine", "web/cron.d/inner/a.toml", "web/deep/er/c.crontab",
        "db/x.toml", ".git/hidden.toml", "old.bak/x.toml", "new~/x.toml", "#web#/x.toml", "web.dpkg-old/x.toml",
        "web/x.toml~", "web/x.toml.orig", "web/#x.toml#",
    ]  # fmt: skip
    texts = {".kron": LINE, ".crontab": CRONTAB, "": SYSTEM}
    for name in names:
        (tmp_path / "jobs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "jobs" / name).write_text(texts.get(Path(name).suffix, TOML), "utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "y.toml").write_text(TOML, "utf-8")
    (tmp_path / "jobs" / "link").symlink_to(tmp_path / "elsewhere")
    return tmp_path / "jobs"


def test_a_directory_means_all_directories_below_it_files_before_directories(tree: Path) -> None:
    found = [str(Path(job.file).relative_to(tree)) for job in load(tree).job_set.jobs]

    assert found == ["z.toml", "db/x.toml", "web/a.toml", "web/b.kron", "web/cron.d/mine", "web/deep/er/c.crontab"]


def test_the_identity_of_a_nested_job_has_the_path_of_its_own_file(tree: Path) -> None:
    identities = [job.identity for job in load(tree).job_set.jobs]

    assert identities[:2] == [f"{tree}/z.toml:a", f"{tree}/db/x.toml:a"]


def test_directories_that_are_left_out_and_not_hidden_get_a_notice(tree: Path) -> None:
    found = {str(Path(each.file).relative_to(tree)): (each.level, each.message) for each in load(tree).findings}

    backup = ("notice", "is ignored: its name is that of a backup")
    assert found == {
        "#web#": backup,
        "link": ("notice", "is ignored: it is a link to a directory"),
        "new~": backup,
        "old.bak": backup,
        "web.dpkg-old": backup,
        "web/cron.d/inner": ("notice", "is ignored, as cron does: it is a directory in cron.d"),
    }


def test_a_link_to_a_directory_is_read_if_it_is_given_itself(tree: Path) -> None:
    assert files(load(tree / "link")) == ["y.toml"]


def test_a_file_that_is_a_link_is_read_as_before(tree: Path) -> None:
    (tree / "db" / "y.toml").symlink_to(tree.parent / "elsewhere" / "y.toml")

    assert files(load(tree / "db")) == ["x.toml", "y.toml"]


def test_a_name_that_cron_would_ignore_is_ignored_with_a_notice(folder: Path) -> None:
    (finding,) = load(folder / "cron.d").findings

    assert (finding.level, Path(finding.file).name) == ("notice", "mine.bak")


def test_a_directory_named_cron_d_may_be_given_itself(folder: Path) -> None:
    assert files(load(folder / "cron.d")) == ["mine"]


def test_several_may_be_given_and_each_file_counts_once(folder: Path) -> None:
    assert files(load(folder / "z.toml", folder / "a.kron", folder / "cron.d" / ".." / "z.toml")) == [
        "z.toml",
        "a.kron",
    ]


def test_the_form_of_a_single_file_may_be_said(folder: Path) -> None:
    file = folder / "notes.txt"
    file.write_text(SYSTEM, "utf-8")

    (job,) = load(file, form=FileFormat.SYSTEM_CRONTAB).job_set.jobs
    assert job.command.user == "root"


def test_the_identity_has_the_absolute_normalised_path_and_keeps_links(folder: Path) -> None:
    (folder / "link").symlink_to(folder / "cron.d")

    (job,) = load(folder / "link" / "." / ".." / "z.toml").job_set.jobs

    assert job.identity == f"{folder}/z.toml:a"
    assert job.file == str(folder / "link" / ".." / "z.toml")


def test_the_same_file_by_two_names_has_two_identities(folder: Path) -> None:
    (folder / "link").symlink_to(folder)

    loaded = load(folder / "link" / "z.toml", folder / "z.toml")

    assert [job.identity for job in loaded.job_set.jobs] == [f"{folder}/link/z.toml:a", f"{folder}/z.toml:a"]


@pytest.mark.parametrize("name", ["gone.toml", "notes.txt", "a\0.toml", "x" * 300 + ".toml"])
def test_an_unreadable_path_is_an_error(folder: Path, name: str) -> None:
    loaded = load(f"{folder}/{name}")

    assert loaded.unreadable
    assert not loaded.ok
    assert [finding.field for finding in loaded.findings] == ["file"]


def test_a_file_beyond_the_bound_is_refused(folder: Path) -> None:
    with (folder / "z.toml").open("ab") as file:
        file.truncate(17 * 1024 * 1024)

    (finding,) = load(folder / "z.toml").findings

    assert finding.message.startswith("is larger than")


def test_a_path_without_a_file_is_reported_missing_whatever_its_name(tmp_path: Path) -> None:
    loaded = load_jobs([str(tmp_path / "krnod")])

    (finding,) = loaded.findings
    assert (loaded.unreadable, finding.message) == (True, "cannot be read: No such file or directory")


def test_a_hidden_file_of_a_known_ending_is_ignored_with_a_notice(folder: Path) -> None:
    found = {Path(finding.file).name: finding for finding in load(folder).findings}

    assert (found[".hidden.toml"].level, found[".hidden.toml"].message) == (
        "notice",
        "is ignored: its name begins with a dot",
    )


def test_a_file_named_cron_d_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "cron.d").write_text("garbage", "utf-8")

    assert load(tmp_path).findings == ()


def test_a_name_with_a_line_break_stays_on_one_line(tmp_path: Path) -> None:
    (tmp_path / "a\nb.toml").write_text("[jobs.a]", "utf-8")

    assert [str(finding).count("\n") for finding in load(tmp_path / "a\nb.toml").findings] == [0, 0, 0]
