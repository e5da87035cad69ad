"""Mistakes: what is wrong with the parts of a value, gathered, so that all of it can be told at once."""

from types import TracebackType

from kron.errors import KronError


class Mistakes:
    """Takes the errors of the blocks that it surrounds (`with mistakes:`); `tell` then raises the first of them."""

    __slots__ = ("errors",)

    def __init__(self) -> None:
        self.errors: list[KronError] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if isinstance(error, KronError):
            self.errors.append(error)
            return True
        return False

    def tell(self) -> None:
        """Raise the first error, if there is one, with the others beside it."""
        if self.errors:
            first, *others = (each for error in self.errors for each in error.all)
            first.others = tuple(others)
            raise first
