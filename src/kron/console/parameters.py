"""Types of options that several programs have: paths that are not empty, names, durations and addresses."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import click

from kron.errors import InvalidDefinitionError, InvalidDurationError, InvalidInstantError
from kron.instant import parse_duration
from kron.jobfile.settings import parse_listen
from kron.kronjob.kronjob import LONGEST_NAME, LONGEST_NAMESPACE, is_dns_label, is_dns_subdomain

CommandDecorator = Callable[[Callable[..., Any]], Any]  # an option or an argument, without its value


@contextmanager
def naming(option: str, hint: str = "") -> Iterator[None]:
    """Name the option in an error about the time or the duration that is its value."""
    try:
        yield
    except (InvalidInstantError, InvalidDurationError) as error:
        raise click.BadParameter(f"{error.message}{hint}", param_hint=option) from error


class NonEmptyPath(click.Path):
    """A path that is not empty: Python would read an empty one as the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a path must not be empty", param, ctx)
        if not (self.exists or self.readable or self.writable):  # nothing is asked of it: its disk may not answer
            return self.coerce_path_result(value)
        return super().convert(value, param, ctx)


class DnsName(click.ParamType):  # type: ignore[type-arg] # older versions of click have none
    """A text that something can be called."""

    def __init__(self, name: str, is_right: Callable[[object], bool], rule: str) -> None:
        self.name, self._is_right, self._rule = name, is_right, rule

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not self._is_right(value):
            self.fail(f"{value!r} must be at most {self._rule}", param, ctx)
        return str(value)


NAMESPACE_TYPE = DnsName("namespace", is_dns_label, f"{LONGEST_NAMESPACE} lower-case letters, digits or -")
NAME_TYPE = DnsName("name", is_dns_subdomain, f"{LONGEST_NAME} lower-case letters, digits, - or .")


class DurationType(click.ParamType):  # type: ignore[type-arg] # older versions of click have none
    """A duration in Go's form."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the duration that a text names."""
        if isinstance(value, timedelta):
            return value
        try:
            found = parse_duration(value)
        except InvalidDurationError as error:
            self.fail(error.message, param, ctx)
        return found


class AddressType(click.ParamType):  # type: ignore[type-arg] # likewise
    """Where to listen, as job files say it; `off` is no place."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return an address that can be bound, if it is one of this host."""
        try:
            found = parse_listen("listen", value)
        except InvalidDefinitionError:
            found = "off"
        if found == "off":
            self.fail(f"must be HOST:PORT or unix:/path, found {value!r}; write 127.0.0.1:8080", param, ctx)
        return found
