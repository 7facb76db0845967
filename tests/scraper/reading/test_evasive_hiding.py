"""Text that a page hides from people and from detectors of hidden text; visible text must be kept."""

from __future__ import annotations

import asyncio
import re

import pytest

from scraper.model import ReadRequest
from scraper.services import Services
from scraper.settings import Settings
from tests.browsers.egress.wire import served

pytestmark = pytest.mark.browser

HOST = "guile.example"
WORDS = "and eight more words of the same plain kind"
FILL = f"<p>{'The ferry leaves the harbour at noon, with lemons and two bicycles. ' * 12}</p>"
# A constructed style sheet is not in the markup: only the browser knows what it hides.
SHEET = """<script>
const sheet = new CSSStyleSheet();
sheet.replaceSync('.none{display:none}.small{font-size:0}');
document.adoptedStyleSheets = [sheet];
</script>"""
HIDDEN = f"<p class=small>HIDDEN {WORDS}</p>"

STYLES = {
    "white": "color:oklch(1 0 0)",
    "white-by-function": "color:color(srgb 1 1 1)",
    "white-by-lab": "color:lab(100 0 0)",
    "nearly-white": "color:color-mix(in srgb, white 99%, black)",
    "clear-by-hue": "color:oklch(0 0 0 / 0)",
    "filled-with-nothing": "-webkit-text-fill-color:transparent",
    "filled-white": "-webkit-text-fill-color:white",
    "see-through-on-white": "background:white;-webkit-background-clip:text;color:transparent",
    "colour-fades-not-opacity": "opacity:0;transition:color 1s",
    "clip-of-one-pixel": "position:absolute;clip:rect(1px,1px,1px,1px)",
    "inset-from-the-right": "clip-path:inset(0 100% 0 0)",
    "inset-from-both-sides": "clip-path:inset(0 50%)",
    "inset-in-pixels": "clip-path:inset(9999px)",
    "clip-rect": "clip-path:rect(0 0 0 0)",
    "clip-box": "clip-path:xywh(0 0 0 0)",
    "clip-path": "clip-path:path(&quot;M0 0&quot;)",
    "mask-of-no-size": "mask:linear-gradient(#000,#000) no-repeat;mask-size:0 0",
    "fixed-to-the-right": "position:fixed;left:200vw",
    "fixed-below": "position:fixed;top:200vh",
}
SEEN_STYLES = {
    "dark-mode": "background:oklch(0.145 0 0);color:oklch(0.985 0 0)",
    "light-mode": "background:oklch(0.985 0 0);color:oklch(0.145 0 0)",
    "filled-black": "color:white;-webkit-text-fill-color:black",
    "half-clipped": "clip-path:inset(0 40% 0 0)",
    "clip-of-a-box": "position:absolute;clip:rect(0px,900px,90px,0px)",
    "clip-but-in-the-flow": "clip:rect(0,0,0,0)",
    "pale-but-there": "opacity:.4",
    "fades-in": "opacity:0;transition:opacity 1s",
    "bar-at-the-foot": "position:fixed;bottom:0",
}
NESTED = {
    "pale-in-pale": ('<div style="opacity:.2"><div style="opacity:.2"><p style="opacity:.2">@</p></div></div>', False),
    "letters-of-a-picture": (
        '<h2 style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">'
        "<span>@</span></h2>",
        True,
    ),
    "drawn-white": ("<svg width=400 height=30><text y=20 fill=white>@</text></svg>", False),
    "drawn-with-nothing": ("<svg width=400 height=30><text y=20 fill=none>@</text></svg>", False),
    "drawn-in-outline": ("<svg width=400 height=30><text y=20 fill=none stroke=black>@</text></svg>", True),
    "far-to-the-right": ("<div style='overflow-x:hidden'><p style='position:relative;left:99999px'>@</p></div>", False),
    "next-in-a-row": (
        "<div style='overflow-x:auto;white-space:nowrap;width:600px'><span style='display:inline-block;"
        "width:3000px'>first</span> <span>@</span></div>",
        True,
    ),
}


def carriers() -> dict[str, tuple[str, bool]]:
    """Return markup with `@` in the place of the words, and True if the words are visible."""
    plain = {name: (f'<p style="{style}">@</p>', False) for name, style in STYLES.items()}
    seen = {name: (f'<p style="{style}">@</p>', True) for name, style in SEEN_STYLES.items()}
    return plain | seen | NESTED


def frame(style: str, words: str = f"HIDDEN {WORDS}") -> str:
    return f"<iframe style='{style}' width=300 height=200 srcdoc='<p>{words}</p>'></iframe>"


CONTROLS = ("lastElementChild", "firstChild", "nodeName", "nodeType", "shadowRoot", "nextSibling", "textContent")
PAGES = {
    "styles": "".join(
        f"<div>{markup.replace('@', f'{name}- {WORDS}')}</div>" for name, (markup, _) in carriers().items()
    ),
    "controls-inside": "".join(f"<form><input name={name}>{HIDDEN}</form>" for name in CONTROLS),
    "controls-after": f"{HIDDEN}<form><input name=previousElementSibling></form>",
    "controls-that-are-called": f"<form class=none>HIDDEN {WORDS}<input name=setAttribute>"
    f"<input name=checkVisibility></form><form class=small style='overflow:hidden'>HIDDEN {WORDS}"
    "<input name=getBoundingClientRect></form>",
    "names-of-the-document": f"{HIDDEN}<img name=body><img name=documentElement><img name=createRange>"
    "<form name=querySelectorAll></form><form name=scripts></form>",
    "frame-beside": frame("position:absolute;left:-9999px"),
    "frame-above": frame("position:absolute;top:-5000px"),
    "frame-of-a-liar": "<script>Element.prototype.checkVisibility = () => true;"
    "Element.prototype.getBoundingClientRect = () => ({width: 500, height: 300, right: 500, bottom: 300});"
    "</script>" + frame("visibility:hidden"),
    "frame-of-a-spy": "<p id=told></p><script>const set = Element.prototype.setAttribute;"
    "Element.prototype.setAttribute = function (...given) {"
    f" told.textContent = 'HIDDEN from nobody: {WORDS}'; return set.apply(this, given); }};</script>"
    + frame("", f"SEEN {WORDS}"),
    "closed-root": "<div id=host></div><script>host.attachShadow({mode: 'closed'}).innerHTML = "
    f"`<style>p {{font-size: 0}}</style><p>HIDDEN {WORDS}</p><h3>SEEN {WORDS}</h3>`;</script>",
    "closed-root-in-a-closed-root": "<script>customElements.define('x-part', class extends HTMLElement {"
    "constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML = this.getAttribute('more') ?"
    f" '<x-part></x-part>' : `<b style='opacity:0'>HIDDEN {WORDS}</b><p>SEEN {WORDS}</p>`; }}}});"
    "</script><x-part more=1></x-part>",
}
SEEN = {"frame-of-a-spy", "closed-root", "closed-root-in-a-closed-root"}


async def site(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()[1:]
    main = f"<main><h1>Guile</h1>{FILL}{PAGES.get(path, '')}{FILL}</main>"
    page = f"<!doctype html><title>Guile</title>{SHEET}{main}".encode()
    head = f"HTTP/1.1 200 x\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode() + page)
    await writer.drain()


async def test_text_hidden_by_tricks_is_not_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    data = str(tmp_path_factory.mktemp("data"))
    async with served(site) as port:
        hosts = {"SEARCH_MCP_DATA": data, "SEARCH_MCP_TEST_HOSTS": f"{HOST}=127.0.0.1:{port}"}
        async with Services.open(Settings.load(hosts, {})) as app:
            read = {}
            for name in PAGES:
                page = await app.fetcher.fetch(ReadRequest(f"http://{HOST}/{name}", render="browser", deadline_s=50))
                read[name] = page.document.markdown
    assert {name for name, text in read.items() if "two bicycles" not in text} == set()
    assert {name for name, text in read.items() if "HIDDEN" in text} == set()
    assert {name for name in SEEN if "SEEN" not in read[name]} == set()
    told = set(re.findall(r"([\w-]+)- ", read["styles"]))
    assert told & set(carriers()) == {name for name, (_, is_seen) in carriers().items() if is_seen}
