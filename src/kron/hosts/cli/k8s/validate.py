"""kron k8s validate: what is wrong with KronJobs, of files or of a cluster, and what is unlikely to be meant."""

import json
from collections.abc import Iterator

import click

from kron.adapters.system_now import system_now
from kron.hosts.cli.k8s.cluster import NAME_OR_FILE, Cluster, Name, Reach, ask, reaching
from kron.hosts.cli.k8s.documents import (
    CLUSTER,
    OPTIONAL_FILES,
    Document,
    Documents,
    Told,
    print_told,
    read_documents,
    tell,
)
from kron.rules.finding import Finding
from kron.rules.kronjob.kronjob import KIND
from kron.rules.kronjob.reading import read_kronjob
from kron.rules.kronjob.warnings import unknown_fields, warn
from kron.rules.lint import Linter


@click.command()
@NAME_OR_FILE
@OPTIONAL_FILES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of findings.")
@reaching
def validate(
    which: Name | None, files: tuple[str, ...], kubeconfig: str | None, context: str | None, *, as_json: bool
) -> None:
    """Check the KronJobs of files, without a cluster, or one or all of a cluster.

    Documents of other kinds are passed over. Exit 0 no error, 1 errors found, 2 wrong usage or an unreadable file.
    """
    if files and which is not None:
        raise click.UsageError("give either the name of a KronJob of the cluster or -f FILE")
    documents = read_documents(files) if files else ask(Reach(kubeconfig, context), lambda it: _of_cluster(it, which))
    linter = Linter(system_now())
    kronjobs = [document for document in documents.found if document.is_kronjob]
    told = [*documents.wrong, *(tell(document, found) for document in kronjobs for found in _check(document, linter))]
    spoken_of = {document.file for document in kronjobs} | {each.file for each in documents.wrong}
    for file in dict.fromkeys(files):
        if file not in spoken_of:
            told.append(Told(file, 0, "", Finding("warning", "file", f"has no {KIND}")))
    if as_json:
        click.echo(json.dumps([each.to_dict() for each in told], ensure_ascii=False, indent=1))
    else:
        print_told(told)
    failed = any(each.finding.level == "error" for each in told)
    click.get_current_context().exit(2 if documents.wrong else int(failed))


async def _of_cluster(cluster: Cluster, which: Name | None) -> Documents:
    if which is not None:
        return Documents([Document(CLUSTER, 0, await cluster.kronjob(which))])
    return Documents([Document(CLUSTER, 0, given) async for given in cluster.kronjobs()])


def _check(document: Document, linter: Linter) -> Iterator[Finding]:
    found = read_kronjob(document.data)
    yield from found if isinstance(found, list) else warn(found, linter)
    yield from unknown_fields(document.data)
