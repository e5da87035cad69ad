"""The contract `kron`: what a host logs of each period."""

import json

from kron import Decision
from kron.decision.decide import replay
from kron.hosts.krond.events import JobEvents
from kron.rules.events import Event
from tests.conformance.citing import clause
from tests.conformance.test_kron_periods import RFC_3339, eventful
from tests.engine.jobs.restartable_host import MINUTE, RestartableHost, lived


def events_of_an_eventful_life() -> list[Event]:
    """Return the events of a life with every outcome."""
    events: list[Event] = []

    async def story(host: RestartableHost) -> None:
        host.observers.append(JobEvents(events.append))
        host.runner.lasts = 25 * MINUTE
        await eventful(host)

    lived(story)
    return events


OUTCOMES = ("PeriodExecuted", "PeriodSkipped", "PeriodMissed", "PeriodUnschedulable")


@clause("shown.period", "outcome.one-each")
def test_of_each_period_the_log_has_its_id_its_times_and_its_outcome() -> None:
    rows = [event for event in events_of_an_eventful_life() if event.name in OUTCOMES]

    assert {event.name for event in rows} == set(OUTCOMES)
    for event in rows:
        fields = event.fields
        assert f"Period{str(fields['outcome']).capitalize()}" == event.name
        assert fields["period_id"] == fields["nominal_time"]
        assert RFC_3339.fullmatch(str(fields["nominal_time"]))
        if event.name == "PeriodUnschedulable":
            assert fields["chosen_time"] is None
        else:
            assert RFC_3339.fullmatch(str(fields["chosen_time"]))
            assert str(fields["chosen_time"]) >= str(fields["nominal_time"])


@clause("shown.reason")
def test_of_a_period_without_an_execution_the_log_has_the_reason() -> None:
    rows = [event for event in events_of_an_eventful_life() if event.name in OUTCOMES]

    reasons = {(str(event.fields["outcome"]), event.fields["reason"]) for event in rows}
    assert reasons == {
        ("executed", None),
        ("skipped", "active"),
        ("missed", "downtime"),
        ("unschedulable", "the only second is not allowed"),
    }
    assert all(event.fields["detail"] for event in rows if event.name != "PeriodExecuted")


@clause("shown.decision", "shown.replay", "seed.shown")
def test_every_decision_in_the_log_can_be_made_again_from_its_line_alone() -> None:
    events = events_of_an_eventful_life()
    lines = [json.dumps(dict(event.fields)) for event in events if event.name == "DecisionMade"]

    decisions = [Decision.from_json(line) for line in lines]

    assert [replay(decision) for decision in decisions] == decisions
    assert all(len(json.loads(line)["seed_hash"]) == 64 for line in lines)
    assert {json.loads(line)["distribution"]["name"] for line in lines} == {"uniform"}
    shown = {(decision.identity, decision.period_id) for decision in decisions}
    assert shown == {
        (event.fields["identity"], event.fields["period_id"]) for event in events if event.name in OUTCOMES
    }
