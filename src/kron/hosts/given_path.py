"""GivenPath: a path of the command line; an empty one, as of a variable that is not set, is wrong usage."""

from typing import Any

import click


class GivenPath(click.Path):
    """A path that is not empty: Python takes an empty one for the current directory, and nobody means that."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a path must not be empty", param, ctx)
        return super().convert(value, param, ctx)
