"""kron and kron k8s: the groups of all commands, and where each command is."""

import click

from kron._version import __version__
from kron.console.program import SETTINGS, DeferredGroup, ProgramGroup, configure_colour

_K8S_PACKAGE = "kron.cli.k8s"
_K8S_COMMANDS = {
    "next": ("Look", f"{_K8S_PACKAGE}.preview:next_", "kron k8s next -f kronjob.yaml --count 3"),
    "explain": ("Look", f"{_K8S_PACKAGE}.preview:explain", "kron k8s explain -f kronjob.yaml"),
    "why": ("Look", f"{_K8S_PACKAGE}.why:why", "kron k8s why prod/db-backup --at 2026-03-01T02:00:00Z"),
    "forecast": ("Look", f"{_K8S_PACKAGE}.preview:forecast", "kron k8s forecast --span 7d"),
    "validate": ("Files", f"{_K8S_PACKAGE}.validate:validate", "kron k8s validate -f kronjob.yaml"),
    "convert": ("Files", f"{_K8S_PACKAGE}.validate:convert", "kron k8s convert -f cronjob.yaml"),
}


@click.group(cls=DeferredGroup, table=_K8S_COMMANDS)
def k8s() -> None:
    """Check, preview and explain KronJobs of Kubernetes.

    Commands read manifests, or a cluster with the rights of your kubeconfig. They change nothing in the cluster.
    """


_PACKAGE = "kron.cli"
_COMMANDS = {
    "next": ("Look", f"{_PACKAGE}.next:next_", "kron next '0 3 * * * @win(after,2h)' --count 3"),
    "explain": (
        "Look",
        f"{_PACKAGE}.explain:explain",
        "kron explain '0 3 * * * @win(after,2h)' --identity prod/backup",
    ),
    "describe": ("Look", f"{_PACKAGE}.explain:describe", "kron describe '15 9 * * 1-5 @tz(Europe/Paris)'"),
    "forecast": ("Look", f"{_PACKAGE}.forecast:forecast", "kron forecast jobs.toml --to 30d"),
    "feed": ("Look", f"{_PACKAGE}.forecast:feed", "kron feed jobs.toml --format ics"),
    "lint": ("Files", f"{_PACKAGE}.job_files:lint", "kron lint jobs.toml"),
    "plan": ("Files", f"{_PACKAGE}.plan:plan", "kron plan jobs.toml new.toml --max-peak 5"),
    "tune": ("Files", f"{_PACKAGE}.tune:tune", "kron tune jobs.toml --budget 1 --per minute"),
    "import": ("Files", f"{_PACKAGE}.job_files:import_", ""),
    "run": ("Run", f"{_PACKAGE}.run:run", "kron run tasks:registrations --ledger tasks.db"),
    "simulate": ("Run", f"{_PACKAGE}.simulate:simulate", "kron simulate jobs.toml --days 3 --crashes 5 --verify"),
    "verify": ("Run", f"{_PACKAGE}.verify:verify", "kron verify trace.jsonl"),
    "k8s": ("Other", f"{_PACKAGE}.commands:k8s", ""),
    "completion": ("Other", "kron.console.program:completion", 'eval "$(kron completion bash)"'),
}


@click.group(cls=ProgramGroup, table=_COMMANDS, context_settings=SETTINGS)
@click.version_option(__version__, prog_name="kron")
@click.pass_context
def kron(context: click.Context) -> None:
    """Cron with windows: one exact, reproducible second for every period.

    A LINE is a cron expression with modifiers, in quotes:

    \b
      0 3 * * * @tz(Europe/Paris) @win(after,2h) @seed(daily,salt=prod)

    Exit codes: 0 success, 1 errors found or a limit exceeded, 2 wrong usage or invalid input. `next` and `explain` exit
    0 also for a period without an allowed second.
    """
    configure_colour(context)
