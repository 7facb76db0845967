"""Fields that make something else of a text, forms that are not sent, orders that change, and dialogs."""

from __future__ import annotations

from tests.site.catalogue import fixed
from tests.site.markup import page

_LOG = """<p id="log">log: nothing</p><script>
const say = (what) => { document.getElementById('log').textContent = 'log: ' + what; };
</script>"""

_FIELDS = """<label>Weight <input type=number step=0.5></label> <label>Name <input maxlength=4></label>
<label>Keys <input id=keys></label> <label>Phone <input id=phone></label> <label>Digits <input id=digits></label>
<label>Upper <input style="text-transform:none" oninput="this.value = this.value.toUpperCase()"></label>
<label>Filter <input onkeyup="say('kept ' + this.value)"></label><div tabindex=0 id=pad aria-label="Pad">Pad</div>
<form id=code onsubmit="return false">Code <input maxlength=1 aria-label="Digit"><input maxlength=1><input maxlength=1>
<input maxlength=1></form><form id=plain>Other <input maxlength=1 aria-label="First"><input maxlength=1></form><script>
let typed = '';
keys.oninput = () => { keys.value = typed; };
keys.onkeydown = ({key}) => { typed = key === 'Backspace' ? '' : key.length === 1 ? typed + key : typed; };
phone.oninput = () => { phone.value = phone.value.replace(/\\D/g, '').replace(/^(\\d{3})(\\d+)/, '($1) $2'); };
digits.oninput = () => { digits.value = digits.value.replace(/\\D/g, ''); };
pad.onkeydown = (event) => say('pad ' + event.key);
for (const box of code.querySelectorAll('input')) box.oninput = () => {
  box.nextElementSibling?.focus();
  say('code ' + [...code.querySelectorAll('input')].map((one) => one.value).join(''));
};
</script>"""

_FORMS = """<form onsubmit="event.preventDefault(); say('joined')"><label>Mail <input type=email required></label>
<label>Age <input type=number min=18></label><button>Join</button></form>
<form onsubmit="event.preventDefault(); say('found')"><label>Words <input required pattern="[a-z]+"></label></form>
<form id=hidden onsubmit="event.preventDefault(); say('hidden')"><input name=lost required style="display:none">
<button>Keep</button></form>
<form id=scripted><label>Town <input required></label>
<button type=button onclick="scripted.reportValidity()">Check</button></form>
<form novalidate onsubmit="event.preventDefault(); say('own check')"><label>Tax <input required></label>
<button>Own</button></form><form onsubmit="event.preventDefault(); say('agreed')">
<label><input type=checkbox required> Terms</label><button>Agree</button></form>"""

_ROWS = "<ul id=rows><li>Brass 80</li><li>Tin 15</li><li>Oil 40</li></ul>"
_SORT = "const sorted = [...rows.children].sort((a, b) => a.textContent.split(' ')[1] - b.textContent.split(' ')[1])"
_ORDERS = (
    _ROWS
    + """<div id=cards><a href=#a>Alpha</a><a href=#b>Beta</a><a href=#c>Gamma</a></div>
<table id=table><tbody><tr><td>One</td><td>1</td></tr><tr><td>Two</td><td>2</td></tr></tbody></table>
<button onclick="SORT; rows.append(...sorted)">Move rows</button>
<button onclick="cards.prepend(cards.lastElementChild)">Move cards</button>
<button onclick="table.tBodies[0].append(table.rows[0])">Move cells</button>
<button onclick="rows.style.cssText = 'display:flex;flex-direction:column-reverse'">Turn rows</button>
<button onclick="rows.insertBefore(rows.lastElementChild, rows.firstElementChild)">Move last</button>"""
).replace("SORT", _SORT)

_DIALOGS = """<button onclick="setTimeout(() => say('deleted ' + confirm('Delete it?')), 900)">Delete</button>
<button onclick="say('name ' + prompt('Name?', 'Draft 3'))">Rename</button>
<button onclick="say('sure ' + confirm('Sure?'))">Ask</button>
<button onclick="fetch('/acting/basic').then((answer) => say('status ' + answer.status))">Locked</button>
<a href="/acting/basic">Staff rooms</a>"""

PAGES = tuple(
    fixed(f"/acting/{name}", description, page(f"Acting {name}", _LOG + body))
    for name, description, body in (
        ("fields", "fields that make something else of a text", _FIELDS),
        ("blocked-forms", "forms that the browser does not send", _FORMS),
        ("orders", "controls that change the order of lines", _ORDERS),
        ("late-dialogs", "dialogs that come late or have a proposed answer", _DIALOGS),
    )
)
