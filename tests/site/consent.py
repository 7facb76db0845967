"""Pages with consent banners, and with boxes that look like them; each notes what was pressed."""

from __future__ import annotations

from aiohttp import web

from tests.site.catalogue import Page, fixed
from tests.site.markup import page
from tests.site.prose import paragraphs

_NOTE = """<p id="note">pressed: nothing</p><script>
var note = (what) => { document.getElementById('note').textContent = 'pressed: ' + what; };
const press = (what, close = true) => (event) => {
  if (!event.isTrusted) what = 'untrusted ' + what;
  note(what); if (close) event.target.getRootNode().querySelector('.box').remove();
};
const wire = (root) => {
  for (const one of root.querySelectorAll('[data-press]')) one.onclick = press(one.dataset.press);
};
</script>"""
_STYLE = "position:fixed;bottom:0;left:0;right:0;background:#eee;padding:20px;z-index:99"
_SHADE = '<div id="shade" style="position:fixed;inset:0;background:#0008;z-index:50"></div>'


def _box(text: str, buttons: str, style: str = _STYLE) -> str:
    return f'<div class="box" style="{style}"><p>{text}</p>{buttons}</div>'


def _button(label: str, what: str) -> str:
    return f'<button data-press="{what}">{label}</button>'


_ACCEPT = _button("Accept all", "accept")
_WIRE = "<script>wire(document)</script>"
_TALK = "We use cookies and similar tools for statistics."

_BOXES = {
    "bar": _box(_TALK, _ACCEPT + _button("Reject all", "refuse")) + _WIRE,
    "german": _box(
        "Wir verwenden Cookies für Statistik.",
        _button("Alle akzeptieren", "accept") + _button("Alle ablehnen", "refuse"),
    )
    + _WIRE,
    "japanese": _box("このサイトはクッキーを使用します。", _button("すべて許可", "accept") + _button("拒否", "refuse"))
    + _WIRE,
    "without-topic": _box("Choose what we may do.", _button("Allow all", "accept") + _button("Reject all", "refuse"))
    + _WIRE,
    "settings": _box(_TALK, _ACCEPT + '<button id="more">Cookie settings</button>')
    + """<script>wire(document); document.getElementById('more').onclick = () => {
      const box = document.querySelector('.box');
      box.innerHTML = '<p>Cookie settings for statistics</p>'
        + '<label><input type=checkbox checked id=stats>Statistics</label>'
        + '<button id=all>Accept all</button><button id=save>Save my choices</button>';
      document.getElementById('all').onclick = press('accept');
      document.getElementById('save').onclick = () => {
        note('saved ' + document.getElementById('stats').checked); box.remove();
      };
    };</script>""",
    "wall": _SHADE
    + _box(f"{_TALK} You must accept them to read this.", _ACCEPT)
    + _WIRE
    + "<style>body{overflow:hidden}</style>",
    "shadow": f"""<div id="host"></div><script>
      const root = document.getElementById('host').attachShadow({{mode: 'open'}});
      root.innerHTML = `{_box(_TALK, _ACCEPT + _button("Only necessary cookies", "refuse"))}`; wire(root);</script>""",
    "sliding": _box(
        _TALK, _ACCEPT + _button("Decline", "refuse"), _STYLE + ";transition:transform .3s;transform:translateY(200px)"
    )
    + "<script>wire(document); requestAnimationFrame(() => requestAnimationFrame(() => "
    "{ document.querySelector('.box').style.transform = 'none'; }));</script>",
    "stubborn": _box(_TALK, "<button onclick=\"note('refuse')\">Reject all</button>" + _ACCEPT) + _WIRE,
    "research": _box(
        "Our partners do audience research. Please check out our policy. We set cookies.",
        _ACCEPT + _button("Just load functional cookies", "refuse"),
    )
    + _WIRE,
    "notice": _box("This site uses cookies.", _button("Close", "close")).replace(
        'class="box"', 'class="box cookie-bar"'
    )
    + _WIRE,
    "closed": f"""<div id="host"></div><script>
      const root = document.getElementById('host').attachShadow({{mode: 'closed'}});
      root.innerHTML = `{_box(_TALK, _ACCEPT + _button("Reject all", "refuse"))}`; wire(root);</script>""",
    "returning": _box(_TALK, "<button onclick=\"note('refuse'); back()\">Reject all</button>" + _ACCEPT)
    + """<script>wire(document); const back = () => {
      const box = document.querySelector('.box'); box.remove(); setTimeout(() => document.body.append(box), 100);
    };</script>""",
    "options": """<div class="box" style="position:fixed;inset:0;background:#0008;z-index:99">
      <iframe src="/consent/options-frame" style="width:600px;height:300px;background:#fff"></iframe></div>
      <style>html{overflow:hidden}</style>""",
    "other-host": f"""<div class="box" style="{_STYLE}"><iframe src="http://other.example/consent/answer-frame"></iframe>
      </div><script>
      addEventListener('message', (event) => {{ note(event.data); document.querySelector('.box').remove(); }});
      </script>""",
    "other-wall": f"""<div class="box cookie-wall" style="{_STYLE}">
      <iframe src="http://other.example/consent/wall-frame"></iframe></div>""",
    "covered": _box(_TALK, _ACCEPT + _button("Reject all", "refuse"))
    + '<div id="news" style="position:fixed;inset:0;z-index:100">Our new season starts today.</div>'
    + """<script>wire(document);
      for (const one of document.querySelectorAll('.box button')) one.onclick = press(one.dataset.press);
      document.getElementById('news').onclick = () => note('news');</script>""",
    "late": f"""<button onclick="note('clicked')">Press</button><script>
      setTimeout(() => {{ document.body.insertAdjacentHTML('beforeend', `{
        _box(_TALK, _ACCEPT + _button("Reject all", "refuse"), "position:fixed;inset:0;background:#eee;z-index:99")
    }`); wire(document); }}, 1500);</script>""",
    "closed-twice": f"""<outer-box></outer-box><script>
      customElements.define('inner-box', class extends HTMLElement {{ constructor() {{
        super();
        const root = this.attachShadow({{mode: 'closed'}});
        root.innerHTML = `{_box(_TALK, _ACCEPT + _button("Reject all", "refuse"))}`; wire(root);
      }} }});
      customElements.define('outer-box', class extends HTMLElement {{ constructor() {{
        super();
        this.attachShadow({{mode: 'closed'}}).innerHTML = '<inner-box></inner-box>';
      }} }});</script>""",
    "not-loaded": """<button onclick="note('clicked')">Press</button><div class="box" style="position:fixed;inset:0">
      <iframe style="width:100%;height:100%" src="http://other.example/consent/answer-frame"></iframe></div>
      <iframe id="chat" style="position:fixed;right:0;bottom:0" src="http://third.example/"></iframe>""",
    "selected": _box("3 requests selected", _button("Accept all", "accept") + _button("Reject all", "refuse")) + _WIRE,
    "article": f'<div class="box" style="{_STYLE}"><main><h1>How sites ask for consent</h1>'
    f"{paragraphs('consent-inside', 0, 8)}<p>You may accept or reject cookies.</p></main>"
    f"{_ACCEPT}{_button('Reject all', 'refuse')}</div>" + _WIRE,
    "sign-in": _box("Sign in to read on. We use cookies.", '<input type="password"><button>Sign in</button>' + _ACCEPT)
    + _WIRE,
    "basket": _box("Your basket: 2 items. Check out now.", _button("Continue", "continue")) + _WIRE,
    "age": _box("Are you over 18? We use cookies.", _button("I agree", "accept") + _button("Deny", "refuse")) + _WIRE,
    "chat": _box("Chat with us, we are online.", _button("Close", "close")) + _WIRE,
    "header": '<div class="box" style="position:sticky;top:0">Cookies and cakes · <a href="#a">Accept offers</a></div>',
}
_FRAMES = {
    "options-frame": f"""<p>{_TALK}</p><button onclick="location='/consent/answer-frame'">Manage options</button>
      <button onclick="parent.note('accept')">Accept all</button>""",
    "answer-frame": f"""<p>{_TALK}</p><script>
      const tell = (what) => {{ try {{ parent.note(what); parent.document.querySelector('.box').remove(); }}
      catch {{ parent.postMessage(what, '*'); }} }};</script>
      <button onclick="tell('accept')">Accept all</button><button onclick="tell('refuse')">Reject all</button>""",
    "wall-frame": f"<p>{_TALK}</p><button onclick=\"parent.postMessage('accept', '*')\">Accept all</button>",
}
_ARTICLE = "<h2>How cookies work</h2><p>Sites ask for consent to set cookies. Readers accept or reject them.</p>"

PAGES: tuple[Page, ...] = tuple(
    fixed(
        f"/consent/{name}",
        "a page with a box above its text",
        page(f"Consent {name}", f"{_NOTE}<main>{_ARTICLE}{paragraphs(f'consent-{name}', 0, 8)}</main>{box}"),
    )
    for name, box in _BOXES.items()
)


async def _drawing(request: web.Request) -> web.Response:
    body = '<svg xmlns="http://www.w3.org/2000/svg"><text y="20">Drawn</text></svg>'
    return web.Response(text=body, content_type="image/svg+xml")


_REMOVED = {
    "no-root": "<script>document.documentElement.remove()</script>",
    "no-body": "<script>document.body.remove()</script>",
    # The page ends itself when the banner is refused, before the script for banners looks whether it has gone.
    "ends-itself": _box(_TALK, "<button onclick='document.documentElement.remove()'>Reject all</button>" + _ACCEPT),
    "empties-itself": _box(_TALK, _ACCEPT) + "<script>setInterval(() => document.body?.remove(), 1000)</script>",
}
PAGES += tuple(fixed(f"/consent/{name}", "a page without a body", page(name, body)) for name, body in _REMOVED.items())
PAGES += (Page("/consent/drawing", "a page without HTML", _drawing),)
PAGES += tuple(fixed(f"/consent/{name}", "a banner in a frame", page(name, body)) for name, body in _FRAMES.items())
