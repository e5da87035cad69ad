"""read_manifests(text) and write_manifest(data): YAML as Kubernetes reads it, to plain data and back."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, ClassVar

import yaml

from kron.errors import InvalidDefinitionError, display_text

_DEEPEST = 100
_MOST_VALUES = 1_000_000  # of a document with its aliases written out: more is a bomb, not a manifest
_WIDTH = 120
_OTHER_ENDS = frozenset("\x85\u2028\u2029")  # ends of lines in YAML, and not in Python's split
_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_NOT_OURS = (_INT, _FLOAT, "tag:yaml.org,2002:timestamp")
_NUMBERS = {
    _INT: re.compile(r"[-+]?(0b[01]+|0o?[0-7]+|0|[1-9][0-9]*|0x[0-9a-fA-F]+)$", re.ASCII),
    _FLOAT: re.compile(r"[-+]?((\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|\.(inf|Inf|INF))$|\.(nan|NaN|NAN)$"),
}


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # the library has no types
    """Reads what kubectl reads: no dates and no numbers to the base of 60, but 1e3 is a number; no key twice."""

    yaml_implicit_resolvers: ClassVar[Any] = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in _NOT_OURS]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 # the library's signature
        seen = set()
        for key, _ in getattr(node, "value", ()):
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if (key.tag, key.value) in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{key.value} is said twice", key.start_mark)
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep=deep)


class _Dumper(yaml.SafeDumper):  # type: ignore[misc] # the library has no types
    """Writes a text of several lines as such, and in quotes whatever any reader would take for something else."""


def _write_text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    if _OTHER_ENDS & set(text):
        style = '"'  # escaped: readers take them for ends of lines, or for a newline
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


for _tag, _pattern in _NUMBERS.items():
    _Loader.add_implicit_resolver(_tag, _pattern, list("-+0123456789."))
    _Dumper.add_implicit_resolver(_tag, _pattern, list("-+0123456789."))
_Dumper.add_representer(str, _write_text)


def read_manifests(text: str) -> list[Any]:
    """Return the documents of a text, YAML or JSON, without the empty ones, or raise InvalidDefinitionError."""
    try:
        if text.lstrip().startswith("{"):
            with suppress(json.JSONDecodeError):  # then it is YAML that looks like JSON
                return [_plain(json.loads(text))]
        return [_plain(found) for found in yaml.load_all(text, _Loader) if found is not None]
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise _wrong(f"{line}{error.problem or error}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _wrong(str(error) or "is nested too deeply") from error


def write_manifest(data: Any, comments: Mapping[tuple[str, ...], str] = MappingProxyType({})) -> str:
    """Return a document as YAML, its keys in their order; a comment stands behind the value of one line at its path."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    if not comments:
        return text
    lines, root = text.split("\n"), yaml.compose(text, _Loader)
    for path, comment in comments.items():
        lines[_line_of(root, path)] += f"  # {comment}"
    return "\n".join(lines)


def _line_of(node: Any, path: tuple[str, ...]) -> int:
    for name in path:
        node = next(value for key, value in node.value if key.value == name)
    line: int = node.start_mark.line
    return line


def _plain(value: Any) -> Any:
    """Return the value as JSON could have said it, no part of it shared."""
    left = iter(range(_MOST_VALUES))
    return _copied(value, left, 0)


def _copied(value: Any, left: Iterator[int], depth: int) -> Any:
    if next(left, None) is None or depth > _DEEPEST:
        raise _wrong(f"has more than {_MOST_VALUES} values, or is more than {_DEEPEST} levels deep")
    match value:
        case dict():
            return {_key(key): _copied(item, left, depth + 1) for key, item in value.items()}
        case list():
            return [_copied(item, left, depth + 1) for item in value]
        case float() if not math.isfinite(value):
            raise _wrong(f"{value} is no number that JSON has")
        case None | bool() | int() | float() | str():
            return value
    raise _wrong(f"{type(value).__name__} is no type that JSON has")


def _key(key: Any) -> str:
    return json.dumps(key) if isinstance(key, bool | int | float) else str(key)


def _wrong(reason: str) -> InvalidDefinitionError:
    return InvalidDefinitionError(field="file", found="", reason=display_text(reason), fix="write it as YAML or JSON")
