"""NAMESPACE, NAME: the types of options that name a namespace of a cluster, or an object."""

from collections.abc import Callable
from typing import Any

import click

from kron.rules.kronjob.names import LONGEST_NAME, LONGEST_NAMESPACE, is_name, is_namespace


class _Named(click.ParamType):  # type: ignore[type-arg] # older versions of click have none
    """A text that something can be called."""

    def __init__(self, name: str, is_right: Callable[[object], bool], rule: str) -> None:
        self.name, self._is_right, self._rule = name, is_right, rule

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not self._is_right(value):
            self.fail(f"{value!r} must be at most {self._rule}", param, ctx)
        return str(value)


NAMESPACE = _Named("namespace", is_namespace, f"{LONGEST_NAMESPACE} lower-case letters, digits or -")
NAME = _Named("name", is_name, f"{LONGEST_NAME} lower-case letters, digits, - or .")
