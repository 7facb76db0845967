"""Lists that are no `select` elements, file fields, windows of scripts, frame sets and documents."""

from __future__ import annotations

from aiohttp import web

from tests.site.catalogue import Page, fixed
from tests.site.markup import page
from tests.site.pdf import pdf

_LOG = """<p id="log">log: nothing</p><script>
const say = (what) => { document.getElementById('log').textContent = 'log: ' + what; };
document.addEventListener('change', ({target}) => target.files &&
  target.files[0].text().then((text) => say(target.files[0].name + ' ' + target.files[0].type + ' ' + text)));
</script>"""

_LISTS = """<span id=p>Position</span> <button role=combobox aria-labelledby=p aria-expanded=false id=b>None</button>
<div id=x role=listbox hidden><div role=option>Cook</div><div role=option aria-disabled=true>Master</div>
<div role=option>Mate</div></div>
<div><div id=plain tabindex=0 aria-label=Color style="cursor:pointer">Red</div><ul id=colors style="display:none">
<li>Red</li><li>Green</li></ul></div>
<label>Town <input id=town role=combobox></label><ul id=towns role=listbox></ul>
<button id=virtual aria-haspopup=listbox aria-label=Year>2000</button>
<div id=years style="height:100px;overflow:auto;display:none;position:relative"><div style="height:4000px"></div></div>
<button id=late aria-haspopup=menu>Menu</button><div id=menu role=menu></div>
<ul role=listbox aria-label=Open id=opened><li role=option>One</li><li role=option>Two</li></ul><script>
b.onclick = () => { x.hidden = !x.hidden; b.setAttribute('aria-expanded', !x.hidden); };
x.onclick = ({target}) => { b.textContent = target.textContent; b.onclick(); say('chose ' + b.textContent); };
plain.onclick = () => { colors.style.display = 'block'; };
colors.onclick = ({target}) => {
  plain.textContent = target.textContent; colors.style.display = 'none'; say('color ' + target.textContent);
};
const all = Array.from({length: 300}, (_, n) => 'Town ' + n).concat('Aarvik');
town.oninput = () => setTimeout(() => {
  const found = all.filter((one) => town.value && one.toLowerCase().includes(town.value.toLowerCase())).slice(0, 5);
  towns.innerHTML = found.map((one) => '<li role=option>' + one + '</li>').join('');
}, 200);
towns.onclick = ({target}) => { town.value = target.textContent; towns.innerHTML = ''; say('town ' + town.value); };
const paint = () => {
  years.querySelectorAll('[role=option]').forEach((one) => one.remove());
  const first = Math.floor(years.scrollTop / 20);
  for (let n = first; n < Math.min(first + 8, 60); n++) years.insertAdjacentHTML('beforeend',
    `<div role=option style="position:absolute;top:${n * 20}px;height:20px">${1960 + n}</div>`);
};
virtual.onclick = () => { years.style.display = 'block'; paint(); };
years.onscroll = paint;
years.firstElementChild.style.height = '1200px';
years.onclick = ({target}) => {
  virtual.textContent = target.textContent; years.style.display = 'none'; say('year ' + target.textContent);
};
late.onclick = () => setTimeout(() => { menu.innerHTML = '<div role=menuitem tabindex=-1>Copy</div>'; }, 400);
menu.onclick = ({target}) => { say('menu ' + target.textContent); menu.innerHTML = ''; };
opened.onclick = ({target}) => { target.setAttribute('aria-selected', 'true'); say('open ' + target.textContent); };
</script>
<label>Room <select onchange="say('room ' + this.value)"><optgroup label=Ground><option>Window</optgroup>
<optgroup label=Cellar disabled><option>Vault</optgroup></select></label>"""

_FILES = """<label>Scan <input type=file></label><label class=button>Photo<input type=file hidden></label>
<button onclick="const one = document.createElement('input'); one.type = 'file';
document.body.append(one); one.click()">Choose</button>
<div id=zone>Drop it here <input type=file aria-label=Drop style="opacity:0"></div><button>No file</button>
<label>Off <input type=file disabled></label>"""

_OPENERS = """<button onclick="window.open('/acting/found')">Plain</button>
<button onclick="setTimeout(() => window.open('/acting/found?later'), 300)">Later</button>
<button onclick="window.open('/acting/found'); say('did more')">More</button>
<button onclick="window.open('http://third.example/')">Away</button>
<a href="/acting/plan.pdf">Plan</a> <a href="/acting/frame-set">Frames</a>
<form method=post action="/acting/sent" target=_blank><input type=hidden name=method><button>Post</button></form>"""
_TALKING = """<button onclick="open('/acting/login-window', 'login', 'width=400')">Sized</button>
<button onclick="const one = window.open('');
setTimeout(() => { one.location = '/acting/login-window' }, 200)">Empty</button>
<button onclick="const one = window.open(''); one.document.write('<h1>Ticket</h1>');
one.document.close()">Written</button>
<button onclick="open('/acting/unframed', 'login', 'width=400')">Unframed</button>
<button onclick="const one = window.open(''); one.document.write('<form method=post action=/acting/sent>');
one.document.forms[0].submit()">Sent</button>
<script>addEventListener('message', (event) => say(event.data));</script>"""
_LOGIN_WINDOW = """<button onclick="opener.postMessage('signed in', '*'); close()">Allow</button>"""
_GROUPS = """<fieldset><legend>Deck</legend><label><input type=radio name=d>Upper</label></fieldset>
<fieldset><legend>Cabin</legend><label><input type=radio name=c>Inside</label>
<label><input type=radio name=c onchange="say('cabin upper')">Upper</label></fieldset>
<div role=group aria-label=Meals><button onclick="say('no meal')" aria-pressed=false>None</button>
<button onclick="this.ariaPressed = true; say('all meals')" aria-pressed=false>All</button></div>
<fieldset><legend>Extras</legend><label><input type=checkbox checked onchange="say('lost')">Dog</label></fieldset>
<label for=native>Berth</label> <select id=native style="display:none"></select><span id=shown role=combobox tabindex=0
onclick="berths.hidden = !berths.hidden">Any</span><ul id=berths role=listbox hidden
onclick="shown.textContent = event.target.textContent; this.hidden = true; say('berth ' + shown.textContent)">
<li role=option>Low</li><li role=option>High</li></ul>"""
_FRAMES = """<title>Frames</title><frameset cols='30%,70%'><frame src='/acting/found'>
<frame src='/acting/late-poll'></frameset>"""


async def _unframed(_: web.Request) -> web.Response:
    return web.Response(text=page("Unframed", "Alone"), content_type="text/html", headers={"X-Frame-Options": "DENY"})


async def _pdf(_: web.Request) -> web.Response:
    return web.Response(body=pdf(["Plan of the lock"]), content_type="application/pdf")


PAGES = (
    fixed("/acting/lists", "lists that are no select elements", page("Acting lists", _LOG + _LISTS)),
    fixed("/acting/files", "fields for files", page("Acting files", _LOG + _FILES)),
    fixed("/acting/openers", "windows of scripts, frame sets and documents", page("Acting openers", _LOG + _OPENERS)),
    fixed("/acting/talking", "windows to which the page talks", page("Acting talking", _LOG + _TALKING)),
    fixed("/acting/login-window", "a window that answers", page("Login window", _LOGIN_WINDOW)),
    Page("/acting/unframed", "a window that refuses frames", _unframed),
    fixed("/acting/groups", "groups of choices", page("Acting groups", _LOG + _GROUPS)),
    fixed("/acting/frame-set", "a frame set", _FRAMES),
    Page("/acting/plan.pdf", "a PDF", _pdf),
)
