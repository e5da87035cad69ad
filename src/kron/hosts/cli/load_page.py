"""page(forecast, names) -> HTML: the load of a span on one page that needs nothing from elsewhere."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape

from kron.hosts.cli.load_style import SCRIPT, STYLE
from kron.instant import format_instant
from kron.rules.forecast import Collision, Forecast
from kron.rules.heat import Heat, days_by_hours, hours_by_minutes
from kron.rules.load import UNITS, Tally, instant_of

_POINTS = 600  # of the curve; of those that fall together the highest is drawn
_WIDTH, _HEIGHT = 1000, 160
_NAMES = 200  # of those in a collision
_FIRST = 3  # of them that are seen at once


def page(found: Forecast) -> str:
    """Return the whole page."""
    return "".join(_parts(found))


def _parts(found: Forecast) -> Iterator[str]:
    begin, end = format_instant(found.span.since), format_instant(found.span.until)
    policy = f"default-src 'none'; style-src {_digest(STYLE)}; script-src {_digest(SCRIPT)}"
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<title>Load from {begin} to {end}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>Load</h1><p>After <time>{begin}</time> until <time>{end}</time>, in UTC.</p>"
    )
    yield from _figures(found)
    yield from _curve(found)
    yield (
        '<fieldset id="shown"><legend>The maps show</legend>'
        '<label><input type="radio" name="shown" id="chosen" checked> chosen times</label>'
        '<label><input type="radio" name="shown" id="nominal"> nominal times, before spreading</label></fieldset>'
    )
    for heat in (hours_by_minutes(found), days_by_hours(found)):
        if heat is not None:
            yield from _map(heat)
    yield from _collisions(found.collisions)
    yield f"</main><script>{SCRIPT}</script></body></html>\n"


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _figures(found: Forecast) -> Iterator[str]:
    load = found.load
    facts = {
        "jobs": f"{found.jobs:,}",
        "runs": f"{load.chosen.total:,}",
        "periods without a second": f"{load.unschedulable:,}",
    }
    if found.known:
        facts["at once, at most"] = f"{load.active.count:,}"
        facts["at once, on average"] = f"{found.mean_active:.3g}"
    yield "<dl>" + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items()) + "</dl>"
    yield '<table class="plain"><caption>Most starts</caption><thead><tr><th scope="col">in one</th>'
    yield '<th scope="col">nominal</th><th scope="col">chosen</th></tr></thead><tbody>'
    for unit, before in load.nominal.peaks.items():
        cells = "".join(
            f"<td>{peak.count:,} <small>{peak.to_dict(UNITS[unit])['at'] or ''}</small></td>"
            for peak in (before, load.chosen.peaks[unit])
        )
        yield f'<tr><th scope="row">{unit}</th>{cells}</tr>'
    yield "</tbody></table>"


def _curve(found: Forecast) -> Iterator[str]:
    """Yield both series as areas over the span."""
    nominal, chosen = (_coarse(found.series(tally)) for tally in (found.load.nominal, found.load.chosen))
    top = max([*nominal, *chosen, 1])
    first, last = (format_instant(instant_of(at * UNITS[found.unit])) for at in (found.buckets[0], found.buckets[-1]))
    label = (
        f"Starts in each {found.unit}: nominal at most {_most(found.load.nominal):,}, "
        f"chosen at most {_most(found.load.chosen):,}"
    )
    yield (
        f'<figure><figcaption>Starts in each {found.unit}: <span class="key n">nominal</span>, '
        f'<span class="key c">chosen</span>; the highest is {top:,}</figcaption>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f'<path class="c" d="{_area(chosen, top)}"/><path class="n" d="{_area(nominal, top)}"/></svg>'
        f'<p class="axis"><time>{first}</time><time>{last}</time></p></figure>'
    )


def _most(tally: Tally) -> int:
    return max(tally.series.values(), default=0)


def _coarse(values: list[int]) -> list[int]:
    size = -(-len(values) // _POINTS)
    return [max(values[at : at + size]) for at in range(0, len(values), size)]


def _area(values: list[int], top: int) -> str:
    step = _WIDTH / len(values)
    line = "".join(
        f"V{_HEIGHT - value * (_HEIGHT - 4) / top:.4g}H{(place + 1) * step:.5g}" for place, value in enumerate(values)
    )
    return f"M0 {_HEIGHT}{line}V{_HEIGHT}Z"


def _map(heat: Heat) -> Iterator[str]:
    tops = [max((count for row in cells for count in row), default=0) for cells in (heat.nominal, heat.chosen)]
    yield (
        f'<section><h2>{heat.title}</h2><div class="scroll" tabindex="0" role="region" aria-label="{heat.title}">'
        f'<table class="heat"><thead><tr><td></td>'
    )
    yield "".join(f'<th scope="col">{name.rstrip(":")}</th>' for name in heat.columns)
    yield "</tr></thead><tbody>"
    for name, nominal, chosen in zip(heat.rows, heat.nominal, heat.chosen, strict=True):
        yield f'<tr><th scope="row">{name.rstrip(":")}</th>'
        for column, before, after in zip(heat.columns, nominal, chosen, strict=True):
            levels = f"n{_level(before, tops[0])} c{_level(after, tops[1])}"
            place = f"{name} {column}" if not name.endswith(":") else f"{name}{column}"
            title = f"{place.rstrip(':')} — {after:,} chosen, {before:,} nominal"
            yield f'<td class="{levels}" title="{title}"><b>{_short(after)}</b><i>{_short(before)}</i></td>'
        yield "</tr>"
    yield '</tbody></table></div><output class="cell">Arrow keys go from cell to cell.</output></section>'


def _short(count: int) -> str:
    """Return a count that fits a cell; its title has all of it."""
    if count < 1000:
        return str(count or "")
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def _level(count: int, top: int) -> int:
    return -(-count * 8 // top) if count else 0


def _collisions(collisions: tuple[Collision, ...]) -> Iterator[str]:
    yield "<section><h2>Worst collisions</h2>"
    if not collisions:
        yield "<p>No two jobs start in the same second.</p></section>"
        return
    yield '<table class="plain"><thead><tr><th scope="col">second</th><th scope="col">starts</th>'
    yield '<th scope="col">of</th></tr></thead><tbody>'
    for at, who in collisions:
        items = "".join(
            f"<li>{escape(each.label)} <small>{escape(each.identity)}</small></li>" for each in who[:_NAMES]
        )
        left = f"<li>and {len(who) - _NAMES:,} more</li>" if len(who) > _NAMES else ""
        first = ", ".join(escape(each.label) for each in who[:_FIRST])
        more = f" and {len(who) - _FIRST:,} more" if len(who) > _FIRST else ""
        yield (
            f'<tr><th scope="row">{format_instant(at)}</th><td>{len(who):,}</td><td><details>'
            f"<summary>{first}{more}</summary><ul>{items}{left}</ul></details></td></tr>"
        )
    yield "</tbody></table></section>"
