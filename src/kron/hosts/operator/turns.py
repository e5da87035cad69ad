"""Turns: what waits, in a queue for each namespace; the namespaces have their turns one after the other."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


class Turns(Generic[_Item]):
    """A tenant with five thousand items waits for its own items, and delays another tenant by one of them."""

    def __init__(self) -> None:
        self._queues: OrderedDict[str, OrderedDict[Hashable, _Item]] = OrderedDict()  # the next namespace first
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def get(self, namespace: str, key: Hashable) -> _Item | None:
        """Return an item that waits, None if there is none of this key."""
        queue = self._queues.get(namespace)
        return None if queue is None else queue.get(key)

    def put(self, namespace: str, key: Hashable, item: _Item) -> None:
        """Let an item wait behind those of its namespace; one of the same key is replaced and keeps its place."""
        queue = self._queues.setdefault(namespace, OrderedDict())
        self._size += key not in queue
        queue[key] = item

    def drop(self, namespace: str, key: Hashable) -> bool:
        """Forget an item; return whether there was one."""
        queue = self._queues.get(namespace)
        if queue is None or key not in queue:
            return False
        del queue[key]
        self._size -= 1
        if not queue:
            del self._queues[namespace]
        return True

    def next(self, is_allowed: Callable[[str], bool] = lambda _namespace: True) -> str | None:
        """Return the namespace whose turn it is among those that are allowed, None if nothing of them waits."""
        return next(filter(is_allowed, self._queues), None)

    def first(self, namespace: str) -> _Item:
        """Return the item of a namespace that has waited longest."""
        return next(iter(self._queues[namespace].values()))

    def take(self, namespace: str) -> tuple[Hashable, _Item]:
        """Remove and return the item of a namespace that has waited longest; its next one comes after the others'."""
        queue = self._queues.pop(namespace)
        found = queue.popitem(last=False)
        self._size -= 1
        if queue:
            self._queues[namespace] = queue
        return found

    def shorten(self) -> None:
        """Forget the oldest item of the namespace with the most."""
        longest = max(self._queues, key=lambda namespace: len(self._queues[namespace]))
        self.drop(longest, next(iter(self._queues[longest])))

    def clear(self) -> None:
        """Forget everything."""
        self._queues.clear()
        self._size = 0
