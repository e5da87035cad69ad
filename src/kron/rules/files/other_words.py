"""What people call the keys of a job and of [krond] elsewhere or in haste: answered with the right one, not taken."""

from collections.abc import Mapping
from types import MappingProxyType

_JOB = {
    "the name of the table, [jobs.NAME]": "name",
    "schedule": "cron expression when at every interval calendar on_calendar",
    "timezone": "tz zone time_zone cron_tz",
    "gap or repeated": "dst",
    "window": "win jitter splay delay random_delay randomized_delay spread",
    "distribution": "dist",
    "concurrency": "overlap concurrency_policy concurrencypolicy singleton",
    "concurrency, deadline or suspend": "policy",
    "deadline": "starting_deadline startingdeadlineseconds misfire_grace_time",
    "suspend": "enabled disabled enable disable active paused pause suspended",
    "identity": "id key",
    "description": "desc comment doc title",
    "command": "cmd exec execute run script program args argv task",
    "stdin": "input",
    "user": "uid username run_as runas owner",
    "group": "gid groups",
    "cwd": "workdir work_dir working_dir working_directory workingdirectory dir directory chdir pwd",
    "env": "environment environ variables vars environment_variables",
    "limits": "rlimits rlimit ulimit ulimits resources",
    "timeout": "time_limit max_runtime max_duration runtime",
    "grace": "kill_after stop_timeout",
    "stdout": "output log logfile",
    "retries": "attempts max_retries retry_count",
    "retry_delay": "backoff retry_interval retry_after",
    "on_failure": "mailto mail notify on_error on_fail onfailure",
    "ping": "url healthcheck heartbeat healthchecks webhook",
}
_KROND = {
    "state": "state_dir statedir directory dir data",
    "listen": "port address addr bind host http web url",
    "token_file": "token secret password",
    "retention": "retain history keep",
    "output_retention": "logs output keep_output",
    "max_active": "max_jobs max_running concurrency parallel workers slots jobs",
    "timezone": "tz zone time_zone",
    "slack": "tolerance lateness",
    "drain_timeout": "grace stop_timeout shutdown_timeout timeout",
}


def _by_word(words: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({word: meant for meant, others in words.items() for word in others.split()})


OF_A_JOB = _by_word(_JOB)
OF_KROND = _by_word(_KROND)
