"""LANGUAGE: clauses on the cron language."""

from tests.conformance.clause import DECLARATIVE, DRAFT, EVERY, POLLING, Clause

_CRON = "Cron language"

LANGUAGE = (
    Clause("cron.posix", EVERY, _CRON, "Cron expressions of POSIX are accepted, and nothing that goes beyond them."),
    Clause(
        "cron.grammar",
        EVERY,
        _CRON,
        "A field is a star, or a list of numbers and ranges with commas between; a star is never part of a list.",
    ),
    Clause("cron.numbers-are-digits", EVERY, _CRON, "A number is one or more decimal digits, so that zeros may lead."),
    Clause("cron.blanks-around", EVERY, _CRON, "Blanks may stand before the first field and after the last."),
    Clause("cron.blanks-with-line-ends", (DRAFT,), _CRON, "Blanks are space, tab, line feed and carriage return."),
    Clause("cron.blanks", (POLLING, DECLARATIVE), _CRON, "Blanks are space and tab, and nothing else."),
    Clause(
        "cron.field-ranges",
        EVERY,
        _CRON,
        "Minutes go from 0 to 59, hours from 0 to 23, days from 1 to 31, months from 1 to 12, weekdays from 0 to 6.",
    ),
    Clause("cron.sunday-is-zero", EVERY, _CRON, "Weekday 0 is Sunday and weekday 6 is Saturday."),
    Clause("cron.five-fields", EVERY, _CRON, "An expression that has not exactly five fields is rejected."),
    Clause("cron.no-steps", EVERY, _CRON, "Steps are rejected."),
    Clause("cron.no-names", EVERY, _CRON, "Names of months and weekdays are rejected."),
    Clause("cron.no-macros", EVERY, _CRON, "Macros are rejected."),
    Clause("cron.no-quartz", EVERY, _CRON, "The tokens of Quartz are rejected: question mark, L, W and number sign."),
    Clause("cron.no-weekday-seven", EVERY, _CRON, "Weekday 7 is rejected."),
    Clause("cron.no-wrap-around", EVERY, _CRON, "A range whose start is above its end is rejected."),
    Clause("cron.in-range", EVERY, _CRON, "A value outside the range of its field is rejected."),
    Clause("cron.decimal-only", EVERY, _CRON, "Numbers with a sign, an exponent or in hexadecimal are rejected."),
    Clause("cron.never-matching", EVERY, _CRON, "An expression that no date can match is rejected."),
    Clause(
        "cron.day-or-weekday", EVERY, _CRON, "Where day and weekday are both restricted, a match of either suffices."
    ),
    Clause("cron.both-stars", EVERY, _CRON, "Where neither day nor weekday is restricted, every day matches."),
    Clause("cron.weekday-alone", EVERY, _CRON, "Where only the weekday is restricted, it alone decides."),
    Clause("cron.day-alone", EVERY, _CRON, "Where only the day of the month is restricted, it alone decides."),
)
