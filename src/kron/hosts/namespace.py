"""NAMESPACE: the type of options that name a namespace of a cluster."""

from typing import Any

import click

from kron.rules.kronjob.names import LONGEST_NAMESPACE, is_namespace


class _Namespace(click.ParamType):  # type: ignore[type-arg] # older versions of click have none
    """A text that a namespace can be called."""

    name = "namespace"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not is_namespace(value):
            self.fail(f"{value!r} must be at most {LONGEST_NAMESPACE} lower-case letters, digits or -", param, ctx)
        return str(value)


NAMESPACE = _Namespace()
