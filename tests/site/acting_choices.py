"""Choices that are drawn by their labels, controls below drawings, and cards with several links."""

from __future__ import annotations

from tests.site.catalogue import fixed
from tests.site.markup import page

_LOG = """<p id="log">log: nothing</p><script>
const say = (what) => { document.getElementById('log').textContent = 'log: ' + what; };
document.addEventListener('change', ({target}) => say(target.name + ' ' + (target.files ? 'file' : target.checked)));
</script>"""

_CLIPPED = "position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip:rect(0,0,0,0)"
_HIDDEN = {
    "none": "display:none",
    "clipped": _CLIPPED,
    "transparent": "position:absolute;opacity:0",
    "away": "position:absolute;left:-9999px",
    "invisible": "visibility:hidden;position:absolute",
    "cut": "position:absolute;clip-path:inset(50%)",
}
HIDDEN_CHOICES = tuple(_HIDDEN)
_CHOICES = (
    "".join(
        f'<label style="display:block"><input type=checkbox name={name} style="{style}"><b>Around {name}</b></label>'
        f'<input type=radio id=r-{name} name=radio-{name} style="{style}"><label for=r-{name}>Beside {name}</label>'
        for name, style in _HIDDEN.items()
    )
    + """<label><input type=checkbox name=attribute hidden>Attribute</label>
<div style="position:relative;width:60px;height:24px"><input type=checkbox name=switch aria-label=Switch
style="position:absolute;opacity:0;width:60px;height:24px"><span style="position:absolute;inset:0;background:#ccc"
onclick="say('switched')"></span></div><label>Scan <input type=file name=scan style="display:none"></label>"""
)

_OVER = "position:absolute;inset:0;opacity:0"
_DRAWN = f"""<div style="position:relative;width:200px;height:40px"><span>Port</span><label for=dock>Dock</label>
<input id=dock style="{_OVER}" oninput="say('dock ' + value)"></div>
<b id=fee>Fee</b><div style="position:relative;width:200px;height:20px"><input type=range aria-labelledby=fee
style="position:absolute;clip:rect(0 0 0 0);width:100%;height:100%"
onchange="event.stopPropagation(); say('fee ' + value)"></div>
<label for=county>County</label><div><select id=county style="display:none"></select><div style="width:200px"
id=box><a id=shown>Essex</a><ul id=counties hidden><li>Essex</li><li>Kent</li></ul></div></div>
<label for=tint>Tint</label><select id=tint style="position:absolute;width:1px;height:20px;opacity:0"><option>Red
</select><button onclick="tints.hidden = false">Red</button><ul id=tints hidden onclick="say('tint ' +
event.target.textContent)"><li role=option>Teal</li></ul>
<label>Bare</label> <input><label for=mail>Mail</label><button id=mail role=switch onclick="say('mail')"></button>
<label for=star>★<span style="{_CLIPPED}">2 stars</span></label><input type=radio id=star name=star style="{_CLIPPED}">
<label><input type=checkbox name=night style="display:none"><i style="display:inline-block;width:40px;height:20px">
</i></label><span>Night</span><input type=checkbox aria-hidden=true style="position:absolute;opacity:0">
<label for=lost>Lost label</label><p>Crew</p><div style="position:relative;width:200px;height:30px">
<input role=combobox style="{_OVER}" aria-expanded=false onclick="crews.hidden = false"></div>
<ul id=crews hidden onclick="say('crew ' + event.target.textContent)"><li role=option>Two</li></ul>
<span id=find>Find</span><input role=combobox aria-labelledby=find aria-controls=hits onclick="hits.innerHTML =
'<li role=option onclick=say(innerText)>Rope</li>'"><ul id=hits role=listbox aria-labelledby=find></ul>
<div id=kinds style="cursor:pointer;width:200px">Kinds</div><div id=all hidden><label><input type=checkbox name=sail>
Sail</label><label><input type=checkbox name=motor>Motor</label></div><div role=tabpanel tabindex=0 aria-label=Tides>
High water at noon</div><pre tabindex=0>{"Low water. " * 9}</pre><input type=date aria-label=Day value=2026-12-01
onchange="say('day ' + value)"><script>
box.onclick = () => {{ counties.hidden = !counties.hidden; }};
counties.onclick = (event) => {{ shown.textContent = event.target.textContent; say('county ' + shown.textContent); }};
kinds.onclick = () => {{ all.hidden = !all.hidden; }};</script>"""

_COVERS = """<style>.card { position: relative; padding: 20px; width: 300px }
.card a::after { content: ''; position: absolute; inset: 0 }
.ripple { position: relative } .ripple::before { content: ''; position: absolute; inset: 0 }
.icon::before { content: 'x'; display: inline-block } .wrap { position: relative; display: inline-block }
.drawing { position: absolute; inset: 0 } .veil { position: relative; width: 200px }
.veil::after { content: ''; position: absolute; inset: 0; background: #fffc }</style>
<div class=card><p>The weir is closed.</p><a href="#w" onclick="say('read on')">Read on</a></div>
<button class=ripple onclick="say('ordered')">Order</button>
<button aria-label=Dismiss onclick="say('dismissed')"><i class=icon></i></button>
<span class=wrap onclick="say('wrapped')"><button>Wrapped</button><span class=drawing></span></span>
<label class=ripple><input type=checkbox name=agreed> Agreed</label><div id=host></div>
<div style="position:relative;width:200px">
<button style="width:200px;height:60px" onclick="say('badge')">Messages</button>
<b style="position:absolute;left:80px;top:10px;width:40px;height:40px;background:red">5</b></div>
<span class=wrap><button style="width:20px;height:20px" aria-label=Near onclick="say('near')" id=near></button>
<i style="position:absolute;inset:-9px" onclick="near.click()"></i></span><x-slot><b>Slotted</b></x-slot>
<div class=veil><button onclick="say('veiled')">Veiled</button></div>
<div style="position:relative"><button onclick="say('below')">Below</button>
<div style="position:absolute;inset:0">A text that lies over it</div></div><script>
const root = host.attachShadow({mode: 'closed'});
root.innerHTML = '<style>button{position:relative}button::after{content:"";position:absolute;inset:0}</style>' +
  '<button>Shadow</button>';
root.lastElementChild.onclick = () => say('shadow');
const around = document.querySelector('x-slot').attachShadow({mode: 'closed'});
around.innerHTML = '<button><slot></slot></button>';
around.firstChild.onclick = () => say('slotted');
</script>"""

_PICTURE = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
_CARDS = (
    "".join(
        f"<div><a href='#{name}'><img alt='{name}' src='{_PICTURE}' width=40 height=40></a><h3><a href='#{name}'>{name}"
        f"</a></h3><button onclick=\"say('bought {name}')\">Buy</button></div>"
        for name in ("Tin", "Oil lamp stand", "Oil lamp", "Brass")
    )
    + "<section aria-label=Deck><button onclick=\"say('deck')\">Up</button></section>"
    "<section aria-label=Hold><button onclick=\"say('hold')\">Up</button></section>"
    "<span onclick=\"say('label')\">Town</span><input aria-label=Town oninput=\"say('town')\">"
    + f"<a href='#whole'><img alt=Whole src='{_PICTURE}' width=40 height=40><h3>Whole</h3></a>"
    + "<table><tr><td>Rope</td><td><button onclick=\"say('row rope')\">Order</button></td></tr>"
    "<tr><td>Sail</td><td><button onclick=\"say('row sail')\">Order</button></td></tr></table>"
    "<p>Left</p><button onclick=\"say('left')\">Go</button><p>Right</p><button onclick=\"say('right')\">Go</button>"
    "<script>onhashchange = () => say('at ' + location.hash)</script>"
)

PAGES = tuple(
    fixed(f"/acting/{name}", description, page(f"Acting {name}", _LOG + body))
    for name, description, body in (
        ("choices", "choices that are drawn by their labels", _CHOICES),
        ("drawn", "fields that a page draws itself", _DRAWN),
        ("covers", "controls below drawings, and below what covers them", _COVERS),
        ("cards", "cards with several links and equal buttons", _CARDS),
    )
)
