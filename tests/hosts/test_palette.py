"""The colours of pages have enough contrast, in light and in dark (WCAG 2.1, AA)."""

import re
from importlib.resources import files

import pytest

KROND = files("kron.web").joinpath("static", "kron.css").read_text("utf-8")
FORECAST = files("kron.web").joinpath("static", "forecast.css").read_text("utf-8")
TEXT, SHAPE = 4.5, 3.0  # contrast that words, and that what is drawn, need at least
OF_KROND = (
    *((word, back, TEXT) for word in ("text", "faint", "link") for back in ("page", "card")),
    *((kind, f"{kind}-back", TEXT) for kind in ("good", "bad", "odd", "busy")),
    *((sign, "card", TEXT) for sign in ("good", "bad")),
    ("page", "link", TEXT),  # the button that does it
    *(("focus", back, SHAPE) for back in ("page", "card")),
    *((drawn, "card", SHAPE) for drawn in ("mark", "odd", "busy", "shut")),
    ("mark", "band", SHAPE),
)
OF_LOADS = (
    *((word, back, TEXT) for word in ("ink", "soft") for back in ("paper", "panel")),
    *((("ink" if level < 5 else "on"), f"l{level}", TEXT) for level in range(1, 9)),  # numbers in cells
    *((drawn, "panel", SHAPE) for drawn in ("n", "c")),
)
PAGES = {"krond": (KROND, OF_KROND), "forecast": (FORECAST, OF_LOADS)}


def schemes(css: str) -> list[dict[str, str]]:
    """Return the colours of a style by name, for light and for dark."""
    found = re.findall(r":root ?\{([^}]*)\}", css)
    return [{name: _long(colour) for name, colour in re.findall(r"--([\w-]+): ?(#[0-9a-f]+)", each)} for each in found]


def _long(colour: str) -> str:
    return "#" + "".join(2 * digit for digit in colour[1:]) if len(colour) == 4 else colour


def light_of(colour: str) -> float:
    """Return the relative luminance of #rrggbb."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, light = sorted((light_of(one), light_of(other)))
    return (light + 0.05) / (dark + 0.05)


def test_black_on_white_has_all_contrast_there_is() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_text_has_enough_contrast(page: str, scheme: int) -> None:
    css, pairs = PAGES[page]
    colours = schemes(css)[scheme]

    found = {(front, back, least): round(contrast(colours[front], colours[back]), 2) for front, back, least in pairs}

    assert {pair: ratio for pair, ratio in found.items() if ratio < pair[2]} == {}


@pytest.mark.parametrize("page", PAGES)
def test_both_schemes_have_the_same_colours_none_of_them_seen_through(page: str) -> None:
    css, _ = PAGES[page]
    light, dark = schemes(css)

    assert light.keys() == dark.keys() == set(re.findall(r"var\(--([\w-]+)\)", css))
    assert {len(colour) for colour in [*light.values(), *dark.values()]} == {7}
