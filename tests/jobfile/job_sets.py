"""Builders with defaults: texts of any form become a JobSet on a host with a known environment."""

from kron.jobfile.host_job import HostJob
from kron.jobfile.job_file import FileFormat, HostInfo, JobFile
from kron.jobfile.reader import JobSet, read_job_set

HERE = HostInfo(host="web1", machine="0123456789abcdef", timezone="Europe/Paris")
PATHS = {
    "toml": "/etc/krond/jobs.toml",
    "kron": "/etc/krond/jobs.kron",
    "crontab": "/var/spool/ann.crontab",
    "system-crontab": "/etc/crontab",
}


def source(text: str, form: str = "toml", path: str = "") -> JobFile:
    whole = path or PATHS[form]
    return JobFile(whole.rpartition("/")[2], whole, FileFormat(form), text)


def read(text: str, form: str = "toml", here: HostInfo = HERE) -> JobSet:
    return read_job_set([source(text, form)], here)


def jobs(text: str, form: str = "toml", here: HostInfo = HERE) -> dict[str, HostJob]:
    """Return the jobs of a text without errors, by name."""
    found = read(text, form, here)
    assert [str(finding) for finding in found.findings if finding.level == "error"] == []
    return {job.name: job for job in found.jobs}


def job(keys: str, defaults: str = "") -> HostJob:
    """Return the job of a TOML table; what it needs and does not say is added."""
    return jobs(table(keys, defaults))["x"]


def table(keys: str, defaults: str = "") -> str:
    required = {"schedule": 'schedule = "0 3 * * *"', "command": 'command = "true"'}
    lines = [line for key, line in required.items() if not any(word.startswith(key) for word in keys.split("\n"))]
    return "\n".join([f"[defaults]\n{defaults}" if defaults else "", "[jobs.x]", keys, *lines])


def complaints(text: str, form: str = "toml", here: HostInfo = HERE) -> list[str]:
    """Return what is said about a text, without the name of the file."""
    return [str(finding).partition(":")[2] for finding in read(text, form, here).findings]
