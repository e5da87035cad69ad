"""kron k8s convert -f FILE: CronJobs as KronJobs, and KronJobs as CronJobs."""

import json
from typing import Any

import click

from kron.errors import InvalidDefinitionError
from kron.hosts.cli.k8s.documents import FILES, Document, Told, end_with, read_documents, tell
from kron.rules.finding import Finding, finding_of
from kron.rules.kronjob.conversion import ASSUMED_DEADLINE, CRON_JOB, Converted, to_cronjob, to_kronjob
from kron.rules.kronjob.reading import read_kronjob

_COMMENT = "a CronJob without startingDeadlineSeconds starts however late"


@click.command()
@FILES
@click.option("--lossy", is_flag=True, help="Exit 0 also if a CronJob cannot say everything that the KronJob says.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of documents.")
@click.option("--kubeconfig", hidden=True, expose_value=False)  # as the others take, so that one set of flags fits all
@click.option("--context", hidden=True, expose_value=False)
def convert(files: tuple[str, ...], *, lossy: bool, as_json: bool) -> None:
    """Print the CronJobs of files as KronJobs, and the KronJobs as CronJobs; other documents are printed as they are.

    What a CronJob cannot say is listed on standard error. Exit 0 nothing is lost, 1 something is, 2 wrong usage or an
    invalid document, of which nothing is printed.
    """
    documents = read_documents(files)
    wrong: list[Told] = documents.wrong
    converted = []
    for document in documents.found:
        try:
            converted.append(_converted(document, wrong))
        except InvalidDefinitionError as error:
            wrong.append(tell(document, finding_of(error, file="", line=0)))
    if wrong:
        end_with(wrong)
    if as_json:
        click.echo(json.dumps([each.document for each in converted], ensure_ascii=False, indent=1))
    else:
        click.echo("---\n".join(_text(each) for each in converted), nl=False)
    for document, each in zip(documents.found, converted, strict=True):
        for field in each.lost:
            lost = Finding("warning", field, "is lost: a CronJob cannot say it")
            click.secho(str(tell(document, lost)), fg="yellow", err=True)
    click.get_current_context().exit(int(any(each.lost for each in converted) and not lossy))


def _converted(document: Document, wrong: list[Told]) -> Converted:
    if document.data.get("kind") == CRON_JOB:
        found = to_kronjob(document.data)
        errors = read_kronjob(found.document)
    elif document.is_kronjob:
        errors = read_kronjob(document.data)
        found = Converted(document.data) if isinstance(errors, list) else to_cronjob(document.data)
    else:
        return Converted(document.data)
    if isinstance(errors, list):
        wrong += [tell(document, error) for error in errors]
    return found


def _text(converted: Converted) -> str:
    from kron.hosts.manifests import write_manifest  # the other commands do without its library

    text = write_manifest(converted.document)
    if not converted.assumes_deadline:
        return text
    spec: Any = converted.document["spec"]
    line = f"\n  policy:\n    concurrency: {spec['policy']['concurrency']}\n    deadline: {ASSUMED_DEADLINE}"
    return text.replace(line, f"{line}  # {_COMMENT}", 1)
