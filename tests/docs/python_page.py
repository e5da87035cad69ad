"""The pages of Python names and of errors, from signatures and docstrings."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from types import ModuleType

import kron
from kron import errors, testing
from kron.rules.contract import Contract
from tests.docs.markdown import code, codes, paragraph, prose, table

_ALIAS = "Alias for field number"
_QUALIFIED = re.compile(r"\b(?:[a-z_]\w*\.)+(?=\w)")
_LONGEST = 100  # characters of a signature on one line


def python_page() -> Iterator[str]:
    """Yield the lines of the page of public names."""
    intro = (
        "Everything on this page is public: a change of it is a major version. "
        "[The library](../library.md) explains how these names are used together."
    )
    yield from ("# Python names", "", paragraph(intro), "")
    yield from _module(kron, "What services and programs import.")
    yield from _module(testing, "What tests import.")


def errors_page() -> Iterator[str]:
    """Yield the lines of the page of errors."""
    intro = (
        "Kron raises only errors of this tree on purpose. `name` of an error is the name of its class and is stable, "
        "the message is for people, and `details` is a mapping for programs. All are imported from `kron.errors`, "
        "`KronError` also from `kron`."
    )
    yield from ("# Errors", "", paragraph(intro), "")
    yield from table(
        ("error", "is a", "raised when", "`details`"),
        (
            (
                code(each.__name__),
                codes(base.__name__ for base in each.__bases__),
                _summary(each),
                codes(_details(each)),
            )
            for each in error_classes()
        ),
    )


def error_classes() -> list[type[errors.KronError]]:
    """Return the whole tree, each class directly after those above it."""

    def below(one: type[errors.KronError]) -> Iterator[type[errors.KronError]]:
        yield one
        for other in one.__subclasses__():
            if other.__name__ in vars(errors):
                yield from below(other)

    return list(below(errors.KronError))


def _details(error: type[errors.KronError]) -> list[str]:
    """Return the keywords that the constructor hands to the root of the tree."""
    if "__init__" not in vars(error):
        return _details(error.__bases__[0]) if error.__bases__[0] is not Exception else []
    tree = ast.parse(textwrap.dedent(inspect.getsource(error.__init__)))
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__"
    ]
    return [keyword.arg for call in calls for keyword in call.keywords if keyword.arg]


def _module(module: ModuleType, purpose: str) -> Iterator[str]:
    yield from (f"## {module.__name__}", "", purpose, "")
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        yield from (f"### {code(name)}", "")
        if inspect.isclass(value):
            yield from _class(name, value)
        elif callable(value):
            yield from ("```text", _signature(name, value), "```", "", *_documented(value))
        else:
            yield from (_constant(value), "")


def _class(name: str, cls: type) -> Iterator[str]:
    if issubclass(cls, Enum):
        yield from (*_documented(cls), f"Members: {codes(cls.__members__)}.", "")
        return
    shown = f"class {name}({cls.__bases__[0].__name__})" if issubclass(cls, Exception) else _signature(name, cls)
    yield from ("```text", shown, "```", "", *_documented(cls))
    members = {each: _summary(inspect.getattr_static(cls, each)) for each in sorted(vars(cls)) if each[0] != "_"}
    if any(members.values()):
        yield from table(("member", "does"), ((_member(cls, each), text) for each, text in members.items() if text))
    if fields := [each for each, text in members.items() if not text]:
        yield from (f"Attributes: {codes(fields)}.", "")


def _member(cls: type, name: str) -> str:
    member = inspect.getattr_static(cls, name)
    if isinstance(member, classmethod | staticmethod) or inspect.isfunction(member):
        return code(_signature(name, getattr(cls, name), is_method=inspect.isfunction(member)))
    return code(name)


def _signature(name: str, value: object, *, is_method: bool = False) -> str:
    """Return a signature as its caller needs it: short names, short defaults, no `self`."""
    assert callable(value)
    signature = inspect.signature(value)
    parameters = [each.replace(default=_default(each.default)) for each in signature.parameters.values()]
    given = parameters[1:] if is_method else parameters
    returned = signature.return_annotation
    result = "" if inspect.isclass(value) or returned is inspect.Signature.empty else f" -> {_short(_type(returned))}"
    called = f"async {name}" if inspect.iscoroutinefunction(value) else name
    texts = [_short(str(each)) for each in given]
    kinds = [each.kind for each in given]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        texts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    line = f"{called}({', '.join(texts)}){result}"
    if len(line) <= _LONGEST or is_method:
        return line
    return "\n".join([f"{called}(", *(f"    {text}," for text in texts), f"){result}"])


def _default(value: object) -> object:
    """Return a default that is printed in one word."""
    if isinstance(value, Contract):
        return value.name
    return value.value if isinstance(value, Enum) else value


def _type(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _short(text: str) -> str:
    return _QUALIFIED.sub("", text).replace("<factory>", "…")


def _documented(value: object) -> Iterator[str]:
    for block in (inspect.getdoc(value) or "").split("\n\n"):
        if block.startswith(">>> "):
            yield from ("```pycon", *block.splitlines(), "```", "")
        else:
            yield from (prose(block), "")


def _summary(member: object) -> str:
    value = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    text = (
        (inspect.getdoc(value) or "").split("\n\n")[0] if isinstance(value, type | property) or callable(value) else ""
    )
    return "" if text.startswith(_ALIAS) else prose(text)


def _constant(value: object) -> str:
    if isinstance(value, tuple):
        return f"A tuple of {len(value)} checks, which an adapter of your own has to pass."
    return "The version of the distribution."
