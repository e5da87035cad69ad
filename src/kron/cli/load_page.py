"""render_load_page(forecast) -> the load of a span as one HTML page that needs nothing else."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape

from kron.forecast.forecast import Collision, Forecast
from kron.forecast.heat import HeatMap, days_by_hours, hours_by_minutes
from kron.forecast.load import UNITS, StartCounts, from_epoch_second
from kron.instant import format_instant

_RULES = """
:root{--ink:#1c2430;--paper:#fff;--soft:#5b6675;--line:#d8dee7;--panel:#f5f7fa;--n:#b4552d;--c:#1f6fb2;--on:#fff;
--l1:#dceaf7;--l2:#b9d5ef;--l3:#93bfe5;--l4:#6aa6d9;--l5:#3a77b6;--l6:#27629f;--l7:#1d5690;--l8:#0d3a6b}
@media(prefers-color-scheme:dark){:root{--ink:#e5eaf1;--paper:#12161c;--soft:#a0abba;--line:#303945;--panel:#1a2029;
--n:#e08a5c;--c:#5aa9ea;--on:#0b1118;--l1:#17283b;--l2:#1b3a58;--l3:#1f4f7a;--l4:#27669d;--l5:#4a90c9;--l6:#5f9fd4;--l7:#8fc1ea;
--l8:#c9e3f9}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:78rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem;margin:.5rem 0 0}h2{font-size:1.1rem;margin:2rem 0 .5rem}small{color:var(--soft)}
dl{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0}
dl div{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1rem}
dt{color:var(--soft);font-size:.85rem}dd{margin:0;font-size:1.3rem;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.plain{margin:1rem 0}.plain caption{text-align:left;font-weight:600}
.plain th,.plain td{text-align:left;vertical-align:top;padding:.3rem 1rem .3rem 0;border-bottom:1px solid var(--line)}
.plain tbody th{font-weight:400}.plain ul{margin:.25rem 0;padding-left:1.2rem}.plain li{overflow-wrap:anywhere}
.plain td small{display:block}
figure{margin:1.5rem 0}figcaption{margin-bottom:.4rem}
svg{display:block;width:100%;height:10rem;background:var(--panel);border:1px solid var(--line)}
path.n{fill:none;stroke:var(--n);stroke-width:1.5;vector-effect:non-scaling-stroke}path.c{fill:var(--c);opacity:.8}
.key::before{content:"";display:inline-block;width:.8em;height:.8em;margin-right:.3em}
.key.n::before{background:var(--n)}.key.c::before{background:var(--c)}
.axis{display:flex;justify-content:space-between;margin:.2rem 0;color:var(--soft);font-size:.8rem}
fieldset{border:1px solid var(--line);border-radius:.5rem;display:flex;flex-wrap:wrap;gap:.25rem 1.5rem}
.scroll{overflow:auto;max-height:80vh;border:1px solid var(--line)}
.heat{border-collapse:separate;border-spacing:1px;font-size:11px;line-height:15px}
.heat th{font-weight:400;color:var(--soft);padding:0 3px;background:var(--paper);white-space:nowrap}
.heat thead th{position:sticky;top:0;min-width:1.9em}.heat tbody th{position:sticky;left:0;text-align:right}
.heat td{text-align:center;height:17px;min-width:17px;background:var(--panel)}
.heat b,.heat i{font-weight:400;font-style:normal}.heat i{display:none}
.heat td.at{outline:2px solid var(--ink);outline-offset:-1px}
@LEVELS@
main:has(#nominal:checked) .heat b{display:none}main:has(#nominal:checked) .heat i{display:inline}
output.cell{display:block;min-height:1.5em;color:var(--soft);font-size:.85rem}
:focus-visible{outline:2px solid var(--c);outline-offset:2px}
"""

_NOMINAL = "main:has(#nominal:checked) "


def _levels() -> str:
    """Return the colours of the cells: those of chosen times, and over them those of nominal times, if asked for."""
    rules = [f"{_NOMINAL}.heat td{{background:var(--panel);color:inherit}}"]
    for level in range(1, 9):
        colours = f"background:var(--l{level})" + (";color:var(--on)" if level > 4 else "")
        rules += [f".heat .c{level}{{{colours}}}", f"{_NOMINAL}.heat .n{level}{{{colours}}}"]
    return "".join(rules)


STYLE = _RULES.replace("@LEVELS@", _levels())

# The cell that the pointer or the arrow keys are at is told below its map; titles tell it without any script, too.
SCRIPT = """
document.querySelectorAll("section:has(.heat)").forEach(section => {
  const rows = [...section.querySelectorAll(".heat tbody tr")].map(row => [...row.querySelectorAll("td")]);
  const told = section.querySelector("output");
  let current = null, y = 0, x = 0;
  const show = (row, column) => {
    if (current) current.classList.remove("at");
    y = row; x = column; current = rows[y][x];
    current.classList.add("at");
    told.textContent = current.title;
  };
  const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
  section.querySelector(".scroll").addEventListener("keydown", event => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const row = current ? y + move[0] : 0, column = current ? x + move[1] : 0;
    show(Math.min(Math.max(row, 0), rows.length - 1), Math.min(Math.max(column, 0), rows[0].length - 1));
    current.scrollIntoView({block: "nearest", inline: "nearest"});
  });
  section.addEventListener("pointerover", event => {
    const cell = event.target.closest("tbody td");
    const row = rows.findIndex(cells => cells.includes(cell));
    if (row >= 0) show(row, rows[row].indexOf(cell));
  });
});
"""


_POINTS = 600  # of the curve; of those that fall together the highest is drawn
_WIDTH, _HEIGHT = 1000, 160
_NAMES = 200  # of those in a collision
_FIRST = 3  # of them that are seen at once


def render_load_page(found: Forecast) -> str:
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
    first, last = (
        format_instant(from_epoch_second(at * UNITS[found.unit])) for at in (found.buckets[0], found.buckets[-1])
    )
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


def _most(tally: StartCounts) -> int:
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


def _map(heat: HeatMap) -> Iterator[str]:
    tops = [max((count for row in cells for count in row), default=0) for cells in (heat.nominal, heat.chosen)]
    yield (
        f'<section><h2>{heat.title}</h2><div class="scroll" tabindex="0" role="region" aria-label="{heat.title}">'
        f'<table class="heat"><thead><tr><td></td>'
    )
    yield "".join(f'<th scope="col">{name.rstrip(":")}</th>' for name in heat.columns)
    yield "</tr></thead><tbody>"
    for name, names, nominal, chosen in zip(heat.rows, heat.names, heat.nominal, heat.chosen, strict=True):
        yield f'<tr><th scope="row">{name.rstrip(":")}</th>'
        for cell, before, after in zip(names, nominal, chosen, strict=True):
            levels = f"n{_level(before, tops[0])} c{_level(after, tops[1])}"
            title = f"{cell} — {after:,} chosen, {before:,} nominal"
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
