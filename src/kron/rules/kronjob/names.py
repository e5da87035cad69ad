"""is_name(text) and is_namespace(text): what Kubernetes lets an object or a namespace be called (DNS-1123)."""

import re

LONGEST_NAME, LONGEST_NAMESPACE = 253, 63

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_NAMESPACE = re.compile(_LABEL, re.ASCII)


def is_name(found: object) -> bool:
    """Whether an object may have this name."""
    return isinstance(found, str) and _NAME.fullmatch(found) is not None and len(found) <= LONGEST_NAME


def is_namespace(found: object) -> bool:
    """Whether a namespace may have this name."""
    return isinstance(found, str) and _NAMESPACE.fullmatch(found) is not None and len(found) <= LONGEST_NAMESPACE
