"""Pages with modal dialogs, inert parts, tables and long parts before the main one."""

from __future__ import annotations

from tests.site.catalogue import fixed

_CRATES = "".join(f"<div>Crate {n} <button>Open {n}</button> <a href='#c{n}'>Owner {n}</a></div>" for n in range(120))
_SMALL = "<style>div { line-height: 8px; font-size: 7px } button { font-size: 7px; height: 10px; padding: 0 }</style>"
_MAIN = f"<main><h1>Store</h1>{_CRATES}</main>"
_BEGIN = "<button>Begin</button>"
MODALS = {
    "native": f"{_MAIN}<dialog id=d aria-label='Stock check'>{_BEGIN}</dialog><script>d.showModal()</script>",
    "aria": f"{_MAIN}<div role=dialog aria-modal=true style='position:fixed;top:90px;left:90px'>{_BEGIN}</div>",
    "first": f"<div role=alertdialog aria-modal=true style='position:fixed;top:9px'>{_BEGIN}</div>{_MAIN}",
    "overlay": f"{_MAIN}<div style='position:fixed;inset:0;background:#0008'><div><button>Begin</button></div></div>",
    "inert": f"<div inert>{_MAIN}</div><section><button>Begin</button></section>",
}
"""Pages by name that can only be used through their button "Begin"."""
_NAV = "<nav>" + "".join(f"<a href='/n{n}'>Part {n}</a> <b>Note {n}</b> " for n in range(400)) + "</nav>"
_TABLES = """<h1>Stock</h1><table><caption>Goods</caption><tr><th>Item<th>Price<th>Left</tr>
<tr><td>Rope 10 m<td>12<td>3</tr><tr><td>Sail<td><td>1</tr><tr><td><a href='#a'>Anchor</a><td>90<td>7</tr></table>
<div role=table><div role=row><span role=cell>Mast</span><span role=cell>800</span></div></div>
<table><tr><td><table><tr><td>Inner<td>5</tr></table></td><td>Outer</td></tr></table>
<table><tr><td>Only one cell</td></tr></table><p>After</p>
<button onclick="document.querySelector('table').insertAdjacentHTML('beforeend', '<tr><td>Oar<td>40</tr>')">
Add</button>"""

_FIXED = f"<div style='position:fixed;inset:0;background:#fff'>{_MAIN}</div>"

PAGES = (
    *(fixed(f"/acting/modal-{name}", f"a modal dialog: {name}", _SMALL + body) for name, body in MODALS.items()),
    fixed("/acting/fixed-page", "a page in a fixed box", _FIXED),
    fixed("/acting/long-navigation", "a long navigation before the main part", _NAV + "<main><p>Prices</p></main>"),
    fixed("/acting/tables", "tables", _TABLES),
)
