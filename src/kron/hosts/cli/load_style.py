"""STYLE and SCRIPT of the page of a load: light and dark, a phone's width, and arrow keys in the maps."""

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
