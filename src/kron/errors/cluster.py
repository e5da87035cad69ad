"""Errors of talking with a cluster."""

from kron.errors.tree import KronError, printable, shown

_HINTS = {401: ": the token or certificate has expired, or is of another cluster"}
_LONGEST = 2_000  # characters of the server's words: a refusal that lists many fields still fits


class ApiError(KronError):
    """The API server did not do what it was asked to."""


class ApiRefusedError(ApiError):
    """The API server answered, and said no."""

    def __init__(
        self, *, code: int, reason: str, message: str, retry_after: float | None = None, causes: tuple[str, ...] = ()
    ) -> None:
        text = printable(message[:_LONGEST]) or f"HTTP {code} {shown(reason)}".rstrip()
        text += _HINTS.get(code, "")
        super().__init__(text, code=code, reason=reason, retryAfter=retry_after, causes=list(causes))
        self.code = code
        self.reason = reason
        self.retry_after = retry_after
        self.causes = causes


class ApiUnreachableError(ApiError):
    """The API server gave no answer that could be understood, or could not be asked."""

    def __init__(self, *, server: str, reason: str) -> None:
        super().__init__(f"API server {shown(server)}: {shown(reason)}", server=server, reason=reason)


class AnswerTooLongError(ApiUnreachableError):
    """The API server's answer is longer than the caller wants to keep in memory; the rest was not read."""

    def __init__(self, *, server: str, longest: int) -> None:
        super().__init__(server=server, reason=f"its answer has more than {longest:,} bytes")


class ApiMalformedError(ApiUnreachableError):
    """The API server's answer has not the shape that answers have."""


class KubeconfigError(KronError):
    """Which cluster is meant, or as whom, cannot be read."""

    def __init__(self, *, path: str, field: str, reason: str, fix: str) -> None:
        place = ": ".join(shown(part) for part in (path, field) if part)
        super().__init__(f"{place}: {shown(reason)}; {fix}", path=path, field=field, reason=reason, fix=fix)
