"""The public names of Kron: adding one is a decision, changing one is a major version."""

import inspect
from pathlib import Path

import kron

SURFACE = Path(__file__).with_name("public_surface.txt")


def surface() -> list[str]:
    """Return every public name with its signature, and the public members of every public class."""
    lines = []
    for name in sorted(kron.__all__):
        value = getattr(kron, name)
        if inspect.isclass(value):
            lines.append(f"class {name}({', '.join(base.__name__ for base in value.__bases__)})")
            lines += [f"    {line}" for line in members(value)]
        elif callable(value):
            lines.append(f"def {name}{inspect.signature(value)}")
        else:
            lines.append(f"{name}: {type(value).__name__}")
    return lines


def members(cls: type) -> list[str]:
    shown = ["__init__"] if "__init__" in vars(cls) and not issubclass(cls, Exception) else []
    shown += sorted(name for name in vars(cls) if not name.startswith("_"))
    lines = []
    for name in shown:
        member = inspect.getattr_static(cls, name)
        if isinstance(member, classmethod | staticmethod):
            lines.append(f"{type(member).__name__} {name}{inspect.signature(getattr(cls, name))}")
        elif inspect.isfunction(member):
            lines.append(f"def {name}{inspect.signature(member)}")
        else:
            lines.append(name)
    return lines


def test_the_public_surface_is_the_one_written_down() -> None:
    written = SURFACE.read_text("utf-8").splitlines()

    assert surface() == written, f"if this is meant, write it down: python -m {__name__}"


def test_every_public_name_can_be_imported_and_is_listed_by_dir() -> None:
    names = dir(kron)

    assert names == sorted(kron.__all__)
    assert all(hasattr(kron, name) for name in names)


if __name__ == "__main__":
    SURFACE.write_text("\n".join(surface()) + "\n", "utf-8")
