"""One tenant writes large documents, and the operator stays within the memory that it is shipped with."""

import gc
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.kubernetes.cache import ClusterCache
from kron.hosts.operator.deployment import RESOURCES
from kron.kronjob.snapshot import parse_job
from kron.kronjob.spec_fields import LONGEST_ERRORS, MAX_SPEC_BYTES, MAX_STATUS_BYTES
from tests.adapters.kubernetes.scripted_reflector import after
from tests.adapters.kubernetes.scripted_server import page, thing
from tests.attacks.api_server import kronjob, operating
from tests.hosts.operator.fake_cluster import STRICT
from tests.hosts.operator.replica import NOON

WORST = b'{"":{}},'  # as objects it takes more than thirty times as much memory
LIMIT = int(RESOURCES["limits"]["memory"].removesuffix("Mi"))  # MiB


def worst(size: int) -> bytes:
    """Return a template of about so many bytes."""
    return b'{"template":[' + (size // len(WORST)) * WORST + b"{}]}"


def kept_bytes(document: bytes) -> tuple[ClusterCache, int]:
    """Return a cache that has seen a KronJob, and how much memory that takes."""
    cache = ClusterCache(lambda: NOON, STRICT)
    cache.kronjobs.take(json.loads(kronjob("before", b"{}")))  # what is made once
    gc.collect()
    tracemalloc.start()
    try:
        cache.kronjobs.take(json.loads(document))
        gc.collect()
        return cache, tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(("size", "many", "state"), [(1_500_000, 12, "invalid"), (250_000, 60, "scheduled")])
def test_large_kronjobs_do_not_exceed_the_shipped_memory(tmp_path: Path, size: int, many: int, state: str) -> None:
    with operating(tmp_path, [kronjob(f"a{number}", worst(size)) for number in range(many)]) as found:
        assert found.highest_memory() < LIMIT
        assert found.number(f'kron_kronjobs{{state="{state}"}}') == many


def test_a_template_is_kept_as_its_json() -> None:
    template = worst(40_000)

    cache, size = kept_bytes(kronjob("a", template))

    assert cache.kronjobs.objects["greedy", "a"].kronjob is not None
    assert size < 1.5 * len(template)


def test_nothing_is_kept_of_a_spec_that_is_too_large() -> None:
    cache, size = kept_bytes(kronjob("a", b'"' + MAX_SPEC_BYTES * b"x" + b'"'))

    seen = cache.kronjobs.objects["greedy", "a"]
    assert seen.errors.startswith("spec: must have at most 256,000 bytes as JSON, found ")
    assert seen.job_spec is None
    assert size < 10_000


def test_a_status_that_only_a_forger_can_have_written_is_not_kept() -> None:
    document = json.loads(kronjob("a", b"{}"))
    document["status"] = {"handledPeriods": [{"periodID": MAX_STATUS_BYTES * "x"}]}

    _, size = kept_bytes(json.dumps(document).encode())

    assert size < 10_000


def test_the_errors_of_a_spec_are_cut() -> None:
    clauses = [f"date=never-{number}" for number in range(200)]

    cache, size = kept_bytes(kronjob("a", b"{}", constraints={"only": clauses, "avoid": clauses}))

    errors = cache.kronjobs.objects["greedy", "a"].errors
    assert len(errors) < LONGEST_ERRORS + 100
    assert errors.splitlines()[-1].endswith(" more errors")
    assert size < 4 * LONGEST_ERRORS


def test_annotations_and_owners_of_a_forged_job_are_not_kept() -> None:
    notes = {"kron.io/identity": f"ns/{'a' * 200_000}"}
    owner = {"kind": "KronJob", "controller": True, "uid": "u" * 200_000}
    metadata: dict[str, Any] = {"namespace": "ns", "name": "a", "uid": "1", "annotations": notes}

    job = parse_job({"metadata": {**metadata, "ownerReferences": [owner]}})

    assert (job.identity, len(job.owner)) == ("", 64)


def test_a_list_is_read_in_pages_of_few_bytes() -> None:
    large = thing("a", note="x" * 5_000_000)

    both = page(large, thing("b"))
    scripted = after(both, both, both, page(large, more="x"), page(thing("b")))

    limits = [limit for limit, watch in scripted.queries("limit", "watch") if watch is None]
    assert limits == ["500", "62", "7", "1", "2"]  # a single object is read, whatever its length
    assert scripted.store.known == {"a": "1", "b": "1"}


def test_a_list_is_read_in_pages_of_few_values() -> None:
    wide = thing("a", note=[[]] * 200_000)

    both = page(wide, thing("b"))
    scripted = after(both, both, both, page(wide, more="x"), page(thing("b")))

    limits = [limit for limit, watch in scripted.queries("limit", "watch") if watch is None]
    assert limits == ["500", "62", "7", "1", "2"]
    assert scripted.store.known == {"a": "1", "b": "1"}
