"""kron next: nominal and chosen times, any count, from any instant."""

import json

import pytest

from tests.cli.kron_runner import kron, kron_on_a_terminal, kron_process

BACKUP = "0 0 * * * @win(after,3h) @seed(stable,salt=backup)"
FIELDS = [
    "identity", "period_id", "period_key", "nominal_time", "window_start", "window_end", "window_mode", "chosen_time",
    "timezone", "distribution", "seed_strategy", "salt", "seed_hash", "constraints_applied", "attempts", "reason",
    "algorithm_version", "tzdata_version",
]  # fmt: skip


def test_json_is_one_array_of_decisions_with_the_documented_fields_in_order() -> None:
    answer = kron(
        "next", BACKUP, "--identity", "prod/db-backup", "--from", "2026-02-28T12:00:00Z", "--count", "3", "--json"
    )

    assert answer.code == 0
    assert [list(decision) for decision in answer.json] == [FIELDS] * 3
    assert answer.err == ""


def test_the_second_is_the_published_one() -> None:
    answer = kron(
        "next", BACKUP, "--identity", "prod/db-backup", "--from", "2026-02-28T12:00:00Z", "--count", "1", "--json"
    )

    assert answer.json[0]["chosen_time"] == "2026-03-01T02:32:20Z"


def test_the_first_period_is_strictly_after_the_instant_asked_for() -> None:
    answer = kron("next", "0 0 * * *", "--from", "2026-03-01T00:00:00Z", "--count", "1", "--json")

    assert answer.json[0]["nominal_time"] == "2026-03-02T00:00:00Z"


def test_a_period_without_an_allowed_second_has_null_and_a_reason() -> None:
    answer = kron("next", "0 0 * * * @only(hours=5)", "--from", "2026-03-01T00:00:00Z", "--count", "1", "--json")

    assert answer.code == 0
    assert answer.json[0]["chosen_time"] is None
    assert answer.json[0]["reason"] == "the only second is not allowed"


def test_an_instant_without_offset_is_read_in_the_zone_of_the_job() -> None:
    answer = kron("next", "* * * * * @tz(Asia/Tokyo)", "--from", "2026-03-01 09:00", "--count", "1", "--json")

    assert answer.json[0]["nominal_time"] == "2026-03-01T00:01:00Z"


def test_ten_periods_are_shown_unless_asked_otherwise() -> None:
    answer = kron("next", "0 0 * * *", "--json")

    assert len(answer.json) == 10


def test_a_span_shows_every_period_in_it() -> None:
    answer = kron("next", "0 */6 * * *", "--from", "2026-03-01T00:00:00Z", "--for", "2d", "--json")

    assert len(answer.json) == 8


def test_times_are_shown_in_utc_and_in_the_zone_of_the_job() -> None:
    answer = kron("next", "0 9 * * * @tz(Europe/Paris)", "--from", "2026-03-01T00:00:00Z", "--count", "1")

    assert "2026-03-01T08:00:00Z" in answer.out
    assert "Sun 2026-03-01 09:00:00 +01:00" in answer.out


def test_data_alone_goes_to_standard_output_without_colour() -> None:
    answer = kron_process("next", "0 9 * * * @win(after,1h)", "--count", "2", "--json")

    assert answer.code == 0
    assert len(json.loads(answer.out)) == 2
    assert "\x1b" not in answer.out


def test_colour_appears_on_a_terminal() -> None:
    shown = kron_on_a_terminal("next", "0 9 * * *", "--count", "2")

    assert "\x1b[1m" in shown


def test_a_long_preview_shows_its_progress_on_a_terminal() -> None:
    shown = kron_on_a_terminal("next", "* * * * *", "--count", "30000", "--summary")

    assert "deciding" in shown
    assert "30000" in shown


def test_a_long_span_shows_its_progress_although_its_length_is_not_known() -> None:
    shown = kron_on_a_terminal("next", "* * * * *", "--for", "30d", "--summary", "--from", "2026-01-01T00:00:00Z")

    assert "deciding" in shown
    assert "periods        43200" in shown
    assert "Traceback" not in shown


def test_the_summary_counts_periods_and_draws_where_they_fall() -> None:
    answer = kron("next", "* * * * * @win(after,1h)", "--count", "2000", "--summary", "--from", "2026-01-01T00:00:00Z")

    assert "periods        2000" in answer.out
    assert "unschedulable  0" in answer.out
    assert "█" in answer.out


def test_jobs_of_a_file_are_shown_together_in_order_of_chosen_time() -> None:
    answer = kron("next", "--file", "examples/jobs.kron", "--for", "2d", "--from", "2026-03-01T00:00:00Z", "--json")

    chosen = [decision["chosen_time"] for decision in answer.json]
    assert chosen == sorted(chosen)
    assert len({decision["identity"] for decision in answer.json}) == 5


def test_posix_is_refused_what_it_does_not_have() -> None:
    answer = kron("next", "*/15 * * * *", "--dialect", "posix")

    assert answer.code == 2
    assert "write 0,15,30,45" in answer.err


def test_no_occurrence_in_the_calendar_is_the_answer_no() -> None:
    answer = kron("next", "0 0 * * *", "--from", "9999-12-31T23:59:00Z")

    assert answer.code == 1
    assert answer.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("next",),
        ("next", "0 0 * * *", "--file", "examples/jobs.kron"),
        ("next", "0 0 * * *", "--count", "0"),
        ("next", "0 0 * * *", "--count", "2", "--for", "1h"),
        ("next", "0 0 * * *", "--for", "soon"),
        ("next", "0 0 * * *", "--from", "yesterday"),
        ("next", "0 0 * * *", "--from", "2026-02-30 10:00"),
        ("next", "0 0 * * *", "--identity", "two\nlines"),
        ("next", "--file", "no-such-file.kron"),
        ("next", "--file", "examples"),
    ],
    ids=str,
)
def test_wrong_usage_exits_with_2_and_prints_nothing_on_standard_output(arguments: tuple[str, ...]) -> None:
    answer = kron(*arguments)

    assert answer.code == 2
    assert answer.out == ""
    assert answer.err


def test_a_sixth_field_is_named_as_what_it_is() -> None:
    answer = kron("next", "0 0 * * * *")

    assert answer.code == 2
    assert "must have exactly 5 fields, found 6" in answer.err


def test_a_span_without_a_period_says_so() -> None:
    answer = kron("next", "0 0 * * *", "--for", "1s", "--from", "2026-01-01T00:00:01Z")

    assert (answer.code, answer.out) == (0, "no period in this span\n")


def test_json_is_whole_also_where_the_calendar_ends() -> None:
    line, start = "0 0 * * * @win(after,100h)", "9999-12-25T00:00:00Z"

    answer = kron("next", line, "--from", start, "--count", "9", "--json")

    assert answer.code == 0
    assert len(answer.json) == 2


def test_a_file_has_its_own_identities_and_its_own_dialect() -> None:
    assert kron("next", "--file", "examples/jobs.kron", "--identity", "x").code == 2
    assert kron("next", "--file", "examples/jobs.kron", "--dialect", "posix").code == 2
