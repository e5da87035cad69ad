"""Random TOML documents, from a writer that records the line of every key."""

from dataclasses import dataclass, field

from hypothesis import strategies as st

from kron.jobfile.toml_syntax import Path

BARE = st.sampled_from(["a", "b", "jobs", "x-1", "0", "_"])
AWKWARD = st.sampled_from(["a b", "", "#", "]", "=", '"', "\\", "é", "\n", "[x]", "'"])
KEYS = BARE | AWKWARD
SCALARS = ["1", "-2.5e3", "true", "1979-05-27 07:32:00", "inf", "0xff", '"plain"', "'lit # ] } , ='", '"\\"#\\\\"']
LONG = ['"""\nx = 1\n[y]\n"" # \\" """', "'''\nk = '' \n]]\n'''", '"""a"""""', "'''b''''", '""""q"""']
ARRAYS = [
    "[]",
    "[1, 2]",
    '["a", "]"]',
    "[\n  1, # k = 2\n\n  2,\n]",
    "[[1], [[]],\n[2]]",
    '[{a = 1, "b" = [2]},\n {c.d = 3}]',
]
FILLINGS = ["", "", "\n", "# k = 1\n", "   \n\t\n", "# [x]\n\n"]


@dataclass
class TomlWriter:
    """The text of a document so far, and the line of each of its keys."""

    text: str = ""
    lines: dict[Path, int] = field(default_factory=dict)

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def note(self, path: Path) -> None:
        self.lines.setdefault(path, self.line)


@st.composite
def documents(draw: st.DrawFn) -> TomlWriter:
    """Return a valid document: statements at the top, then tables and arrays of tables, no key twice."""
    writer = TomlWriter()
    taken: set[str] = set()
    for _ in range(draw(st.integers(0, 3))):
        _statement(draw, writer, (), taken)
    counts: dict[str, int] = {}
    for _ in range(draw(st.integers(0, 4))):
        writer.text += draw(st.sampled_from(FILLINGS))
        name = draw(KEYS)
        if draw(st.booleans()) or name in counts:
            if name in taken and name not in counts:
                continue
            taken.add(name)
            writer.note((name,))
            writer.text += f"[[ {spell(draw, name)}]]" + draw(st.sampled_from(["\n", " # x\n"]))
            counts[name] = counts.get(name, 0) + 1
            table: Path = (name, counts[name] - 1)
        elif name in taken:
            continue
        else:
            taken.add(name)
            second = draw(KEYS)
            writer.note((name,))
            writer.note((name, second))
            writer.text += f"[{spell(draw, name)} . {spell(draw, second)} ]\n"
            table = (name, second)
        inside: set[str] = set()
        for _ in range(draw(st.integers(0, 3))):
            _statement(draw, writer, table, inside)
    if draw(st.booleans()):
        writer.text = writer.text.replace("\n", "\r\n")
    return writer


def spell(draw: st.DrawFn, key: str) -> str:
    if key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key) and draw(st.booleans()):
        return key
    if "'" not in key and "\n" not in key and draw(st.booleans()):
        return f"'{key}'"
    escaped = key.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _statement(draw: st.DrawFn, writer: TomlWriter, table: Path, taken: set[str]) -> None:
    writer.text += draw(st.sampled_from(FILLINGS)) + draw(st.sampled_from(["", "  "]))
    if _key_and_value(draw, writer, table, taken, depth=0):
        writer.text += draw(st.sampled_from(["\n", " # k = [\n", "\n\n"]))


def _key_and_value(draw: st.DrawFn, writer: TomlWriter, table: Path, taken: set[str], depth: int) -> bool:
    names = draw(st.lists(KEYS, min_size=1, max_size=2))
    if names[0] in taken:
        writer.text = writer.text.rstrip(" ")
        return False
    taken.add(names[0])
    path = table
    for number, name in enumerate(names):
        path = (*path, name)
        writer.note(path)
        writer.text += (" . " if number else "") + spell(draw, name)
    writer.text += draw(st.sampled_from([" = ", "=", "\t= "]))
    kind = draw(st.sampled_from(["scalar", "scalar", "long", "array", "table"] if depth < 3 else ["scalar", "long"]))
    if kind == "table":
        writer.text += "{ "
        inside: set[str] = set()
        for number in range(draw(st.integers(0, 3))):
            before = writer.text
            writer.text += ", " if inside else ""
            if not _key_and_value(draw, writer, path, inside, depth + 1):
                writer.text = before
            assert number >= 0
        writer.text += " }"
    else:
        writer.text += draw(st.sampled_from({"scalar": SCALARS, "long": LONG, "array": ARRAYS}[kind]))
    return True
