"""Problems: what the server cannot or will not do, in the log: each once a minute, however often it is asked."""

from collections.abc import Callable, Mapping

from kron.adapters.cluster.api import Document, Verb
from kron.adapters.cluster.resources import Resource
from kron.errors import ApiError, ApiRefusedError
from kron.hosts.operator.answers import Meaning, meaning
from kron.hosts.operator.log import WARNING, Log
from kron.hosts.operator.sender import Sender
from kron.rules.kronjob.crd import MISSING, PLURAL

_QUIET = 60.0  # seconds between two lines about the same problem
_CONFLICT = 409


class Problems:
    """Tells them."""

    def __init__(self, log: Log, monotonic: Callable[[], float]) -> None:
        self._log, self._monotonic = log, monotonic
        self._told: dict[str, float] = {}  # when a problem was told last

    def tell(self, resource: str, error: ApiError) -> None:
        """Tell what the server says; something else is another problem."""
        is_missing = resource == PLURAL and meaning(error) is Meaning.GONE
        text = MISSING if is_missing else error.message
        if self.is_news(f"{resource}: {text}"):
            self._log.write(WARNING, "problem", resource=resource, error=text)

    def tell_refusal(self, verb: str, resource: str, which: str, error: ApiError) -> None:
        """Tell what the server says to one of many writes; they differ in names, and not in what is wrong."""
        code = error.code if isinstance(error, ApiRefusedError) else 0
        if self.is_news(f"{verb} {resource} {code}"):
            self._log.write(WARNING, "problem", resource=resource, verb=verb, object=which, error=error.message)

    def is_news(self, what: str) -> bool:
        """Whether it was not told within the last minute, and is now."""
        now = self._monotonic()
        if now - self._told.get(what, -_QUIET) < _QUIET:
            return False
        self._told = {key: at for key, at in self._told.items() if now - at < _QUIET} | {what: now}
        return True


class ToldSender:
    """Asks an API server, and tells what it refuses for now: whoever asked only tries again."""

    def __init__(self, api: Sender, problems: Problems) -> None:
        self._api, self._problems = api, problems

    async def send(
        self,
        verb: Verb,
        resource: Resource,
        namespace: str,
        name: str = "",
        body: Document | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Document:
        """Return or raise what the API does."""
        try:
            return await self._api.send(verb, resource, namespace, name, body, query)
        except ApiError as error:
            is_conflict = isinstance(error, ApiRefusedError) and error.code == _CONFLICT
            if meaning(error) is Meaning.PASSING and not is_conflict:
                which = f"{namespace}/{name or (body or {}).get('metadata', {}).get('name', '')}"
                self._problems.tell_refusal(verb, resource.label, which, error)
            raise
