"""kron k8s convert: CronJobs to KronJobs and back, with a warning for each field that is lost."""

from pathlib import Path

from kron.adapters.kubernetes.manifests import read_manifests
from tests.cli.kron_runner import kron
from tests.cli.manifests import GOOD, good, written
from tests.kronjob.kronjob_documents import TEMPLATE, document
from tests.kronjob.test_conversion import cronjob

POLICY = """
  policy:
    concurrency: allow
    deadline: 1h  # a CronJob without startingDeadlineSeconds starts however late
"""


def test_a_cronjob_becomes_a_kronjob_with_a_word_on_its_deadline(tmp_path: Path) -> None:
    answer = kron("k8s", "convert", "-f", written(tmp_path, cronjob()))

    assert (answer.code, answer.err) == (0, "")
    assert POLICY in answer.out
    (found,) = read_manifests(answer.out)
    assert (found["apiVersion"], found["kind"]) == ("kron.io/v1alpha1", "KronJob")
    assert found["spec"]["jobTemplate"] == TEMPLATE


def test_lost_fields_are_listed_and_the_exit_code_is_1(tmp_path: Path) -> None:
    file = good(tmp_path, "a")

    answer = kron("k8s", "convert", "-f", file)

    assert answer.code == 1
    assert answer.err.splitlines() == [
        f"{file}: document 1: prod/a: warning: spec.window: is lost: a CronJob cannot say it",
        f"{file}: document 1: prod/a: warning: spec.seed: is lost: a CronJob cannot say it",
    ]
    assert read_manifests(answer.out)[0]["spec"]["startingDeadlineSeconds"] == 600


def test_a_loss_can_be_accepted(tmp_path: Path) -> None:
    assert kron("k8s", "convert", "--lossy", "-f", good(tmp_path, "a")).code == 0


def test_documents_keep_their_order_and_others_pass(tmp_path: Path) -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    file = written(tmp_path, other, cronjob(), document())

    text, data = (kron("k8s", "convert", "-f", file, *more) for more in ((), ("--json",)))

    assert [each["kind"] for each in data.json] == ["ConfigMap", "KronJob", "CronJob"]
    assert read_manifests(text.out) == data.json
    assert data.json[0] == other


def test_of_an_invalid_document_nothing_is_printed(tmp_path: Path) -> None:
    wrong = [cronjob(concurrencyPolicy="Never"), cronjob(startingDeadlineSeconds="x"), document(gap="x")]

    answer = kron("k8s", "convert", "-f", written(tmp_path, document(**GOOD), *wrong))

    assert (answer.code, answer.out) == (2, "")
    assert [line.split(": ")[4] for line in answer.err.splitlines()] == [
        "spec.policy.concurrency",
        "spec.startingDeadlineSeconds",
        "spec.gap",
    ]
