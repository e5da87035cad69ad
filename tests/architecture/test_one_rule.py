"""A rule is decided in one module, and every field of a contract is read by code: the source is read as a tree."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from kron.rules.contract import Contract

SOURCE = Path(__file__).parents[2] / "src/kron"
INDEPENDENT = "theory/"  # the checker shares no rule with what it checks, so that it cannot share a mistake either
VERDICT, RESULTS, COMPARISON = "rules/verdict.py", "rules/job_record.py", "rules/override.py"


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(INDEPENDENT):
            yield name, ast.parse(path.read_text("utf-8"))


def places(found: Iterable[tuple[str, ast.AST]]) -> list[str]:
    return [f"{name}:{getattr(node, 'lineno', 0)}" for name, node in found]


# --- the contract -----------------------------------------------------------------------------------------------------


def _is_contract(node: ast.expr) -> bool:
    """Whether an expression is a contract, by its name: `contract`, `self._contract`, `host.contract`, `preset`."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.lstrip("_") in ("contract", "preset")


def fields_read() -> set[str]:
    return {
        node.attr
        for name, tree in modules()
        if name != "rules/contract.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and _is_contract(node.value)
    }


def test_every_field_of_a_contract_is_read_by_code() -> None:
    assert {field.name for field in fields(Contract)} - fields_read() == set()


# --- lateness and overlap ---------------------------------------------------------------------------------------------


def _mentions(node: ast.AST, *names: str) -> bool:
    return any(
        (isinstance(each, ast.Attribute) and each.attr in names) or (isinstance(each, ast.Name) and each.id in names)
        for each in ast.walk(node)
    )


def _computes(node: ast.AST) -> bool:
    return any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add | ast.Sub) for each in ast.walk(node))


def _has_deadline(node: ast.AST) -> bool:
    """Whether an expression has the deadline of a policy in it."""
    return any(
        isinstance(each, ast.Attribute) and each.attr == "deadline" and _mentions(each.value, "policy")
        for each in ast.walk(node)
    )


def compared_deadlines(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what decides about lateness: comparisons with a deadline or slack, and instants minus a deadline."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and not _mentions(node, "ZERO"):
            has_slack = _computes(node) and _mentions(node, "slack") and _mentions(node, "chosen", "chosen_time")
            if has_slack or _has_deadline(node):
                yield node
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _has_deadline(node.right):
            yield node


def compared_concurrency(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield comparisons with a member of Concurrency."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(isinstance(each, ast.Attribute) and _mentions(each.value, "Concurrency") for each in sides):
                yield node


def test_lateness_is_decided_in_one_module() -> None:
    elsewhere = [(name, node) for name, tree in modules() if name != VERDICT for node in compared_deadlines(tree)]

    assert places(elsewhere) == []


def test_overlap_is_decided_in_one_module() -> None:
    elsewhere = [(name, node) for name, tree in modules() if name != VERDICT for node in compared_concurrency(tree)]

    assert places(elsewhere) == []


# --- results ----------------------------------------------------------------------------------------------------------

_FAILURES = frozenset({"FAILED", "TIMEOUT", "NOT_STARTED"})


def _results(node: ast.AST) -> set[str]:
    return {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "Result"
    }


def sets_of_failures(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield collections that have all failures and leave out some other result: those say what a failure is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Set | ast.Tuple | ast.List):
            named = set().union(*(_results(each) for each in node.elts)) if node.elts else set()
            if named >= _FAILURES:
                yield node


def test_which_results_are_failures_is_said_in_one_module() -> None:
    elsewhere = [(name, node) for name, tree in modules() if name != RESULTS for node in sets_of_failures(tree)]

    assert places(elsewhere) == []


# --- definitions ------------------------------------------------------------------------------------------------------

_DEFINITIONS = ("definition", "definition_hash")


def compared_definitions(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield comparisons of one definition with another one, by key or by hash."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            sides = [node.left, *node.comparators]
            if all(_mentions(each, *_DEFINITIONS, "key") for each in sides) and _mentions(node, *_DEFINITIONS):
                yield node


def test_whether_a_definition_changed_is_decided_in_one_module() -> None:
    comparing = {name for name, tree in modules() for _ in compared_definitions(tree)}

    # These say of which definition a recorded period is; nothing is closed or declared by that.
    assert comparing - {COMPARISON} == {"hosts/krond/commands/why.py", "rules/periods.py", "why/cluster.py"}


# --- the searches find what they look for -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "late = at - chosen > making.slack + policy.deadline",
        "late = SECOND * late > policy.deadline + slack",
        "late = SECOND * lateness(chosen, now) > policy.deadline",
        "expired = now - work.policy.deadline",
        "late = chosen + slack <= now",
    ],
)
def test_a_second_rule_of_lateness_is_found(line: str) -> None:
    assert list(compared_deadlines(ast.parse(line)))


@pytest.mark.parametrize("line", ["if policy.deadline != ZERO: ...", "span = slack + window + policy.deadline"])
def test_code_that_decides_nothing_about_lateness_is_left_alone(line: str) -> None:
    assert not list(compared_deadlines(ast.parse(line)))


def test_a_second_rule_of_overlap_is_found() -> None:
    assert list(compared_concurrency(ast.parse("is_over = active and concurrency is Concurrency.FORBID")))


@pytest.mark.parametrize(
    "line",
    ["is_same = record.definition == work.key", "if account.definition_hash != seen.definition_hash: ..."],
)
def test_a_second_comparison_of_definitions_is_found(line: str) -> None:
    assert list(compared_definitions(ast.parse(line)))


def test_a_second_set_of_failures_is_found() -> None:
    assert list(
        sets_of_failures(ast.parse("bad = (Result.FAILED, Result.TIMEOUT, Result.NOT_STARTED, Result.UNKNOWN)"))
    )
