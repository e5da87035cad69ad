"""kron k8s validate and convert: what is wrong with KronJobs, and KronJobs made of CronJobs or the other way round."""

from collections.abc import Iterator

import click

from kron.adapters.system_time import system_now
from kron.cli.k8s.documents import (
    CLUSTER,
    FILES,
    OPTIONAL_FILES,
    DocumentFinding,
    Documents,
    ManifestDocument,
    at_document,
    read_documents,
)
from kron.cli.k8s.queries import (
    NAME_OR_FILE,
    ClusterOptions,
    ClusterQueries,
    KronJobName,
    cluster_options,
    query_cluster,
)
from kron.console.output import exit_with_findings, print_findings, print_json
from kron.errors import InvalidDefinitionError
from kron.errors.diagnostics import Diagnostic, diagnostic_of
from kron.kronjob.conversion import CRON_JOB, Conversion, to_cronjob, to_kronjob
from kron.kronjob.kronjob import KIND
from kron.kronjob.parser import lint_kronjob, parse_kronjob, unknown_fields
from kron.rules.lint import Linter


@click.command()
@NAME_OR_FILE
@OPTIONAL_FILES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of findings.")
@cluster_options
def validate(
    which: KronJobName | None, files: tuple[str, ...], kubeconfig: str | None, context: str | None, *, as_json: bool
) -> None:
    """Check KronJobs of manifest files or of a cluster.

    Without -f, checks one KronJob of the cluster, or all. Ignores documents of other kinds. Exit codes: 0 no error, 1
    errors found, 2 wrong usage or an unreadable file.
    """
    if files and which is not None:
        raise click.UsageError("give either the name of a KronJob of the cluster or -f FILE")
    documents = (
        read_documents(files)
        if files
        else query_cluster(ClusterOptions(kubeconfig, context), lambda it: _of_cluster(it, which))
    )
    linter = Linter(system_now())
    kronjobs = [document for document in documents.found if document.is_kronjob]
    findings = [
        *documents.wrong,
        *(at_document(document, found) for document in kronjobs for found in _check(document, linter)),
    ]
    spoken_of = {document.file for document in kronjobs} | {each.file for each in documents.wrong}
    for file in dict.fromkeys(files):
        if file not in spoken_of:
            findings.append(DocumentFinding(file, 0, "", Diagnostic("warning", "file", f"has no {KIND}")))
    exit_with_findings(findings, as_json=as_json, unusable=bool(documents.wrong))


async def _of_cluster(cluster: ClusterQueries, which: KronJobName | None) -> Documents:
    if which is not None:
        return Documents([ManifestDocument(CLUSTER, 0, await cluster.kronjob(which))])
    return Documents([ManifestDocument(CLUSTER, 0, given) async for given in cluster.kronjobs()])


def _check(document: ManifestDocument, linter: Linter) -> Iterator[Diagnostic]:
    found = parse_kronjob(document.data)
    yield from found if isinstance(found, list) else lint_kronjob(found, linter)
    yield from unknown_fields(document.data)


_COMMENT = "a CronJob without startingDeadlineSeconds starts however late"


@click.command()
@FILES
@click.option("--lossy", is_flag=True, help="Exit 0 even if a KronJob has fields that a CronJob lacks.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of documents.")
@click.option("--kubeconfig", hidden=True, expose_value=False)  # as the others take, so that one set of flags fits all
@click.option("--context", hidden=True, expose_value=False)
def convert(files: tuple[str, ...], *, lossy: bool, as_json: bool) -> None:
    """Convert CronJobs to KronJobs, and KronJobs to CronJobs.

    Prints other documents unchanged, and on standard error the fields that a CronJob lacks. Exit codes: 0 nothing is
    lost, 1 a field is lost, 2 wrong usage or an invalid document; then nothing is printed.
    """
    documents = read_documents(files)
    wrong: list[DocumentFinding] = documents.wrong
    converted = []
    for document in documents.found:
        try:
            converted.append(_converted(document, wrong))
        except InvalidDefinitionError as error:
            wrong.append(at_document(document, diagnostic_of(error, file="", line=0)))
    if wrong:
        exit_with_findings(wrong, unusable=True)
    if as_json:
        print_json([each.document for each in converted])
    else:
        click.echo("---\n".join(_text(each) for each in converted), nl=False)
    lost = [
        at_document(document, Diagnostic("warning", field, "is lost: a CronJob cannot say it"))
        for document, each in zip(documents.found, converted, strict=True)
        for field in each.lost_fields
    ]
    print_findings(lost)
    click.get_current_context().exit(int(bool(lost) and not lossy))


def _converted(document: ManifestDocument, wrong: list[DocumentFinding]) -> Conversion:
    if document.data.get("kind") == CRON_JOB:
        found = to_kronjob(document.data)
        errors = parse_kronjob(found.document)
    elif document.is_kronjob:
        errors = parse_kronjob(document.data)
        found = Conversion(document.data) if isinstance(errors, list) else to_cronjob(document.data)
    else:
        return Conversion(document.data)
    if isinstance(errors, list):
        wrong += [at_document(document, error) for error in errors]
    return found


def _text(converted: Conversion) -> str:
    from kron.adapters.kubernetes.manifests import write_manifest  # the other commands do without its library

    if not converted.assumes_deadline:
        return write_manifest(converted.document)
    return write_manifest(converted.document, {("spec", "policy", "deadline"): _COMMENT})
