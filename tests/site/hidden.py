"""Forty-three kinds of markup with text, most of it invisible to a person, and some more.

Each has one marker: `HIDDEN-nn` if a person would not see it, and `SHOWN-nn` if a person would.
`/hidden/manifest.json` lists the markers with the names of the kinds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aiohttp import web

from tests.site.catalogue import Page, fixed
from tests.site.markup import page

_DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


@dataclass(frozen=True, slots=True)
class Carrier:
    """One way to include text; `@` in its markup is the position of the marker."""

    name: str
    markup: str
    seen: bool = False


CARRIERS = (
    Carrier("a plain paragraph", "<p>@</p>", seen=True),
    Carrier("display: none", '<div style="display:none">@</div>'),
    Carrier("the hidden attribute", "<p hidden>@</p>"),
    Carrier("hidden until found", '<p hidden="until-found">@</p>'),
    Carrier("visibility: hidden", '<p style="visibility:hidden">@</p>'),
    Carrier("opacity 0", '<p style="opacity:0">@</p>'),
    Carrier("opacity 0.01", '<p style="opacity:.01">@</p>'),
    Carrier("an ancestor with opacity 0", '<div style="opacity:0"><div><p>@</p></div></div>'),
    Carrier("font size 0", '<span style="font-size:0">@</span>'),
    Carrier("font size 1 px", '<span style="font-size:1px">@</span>'),
    Carrier("off the left side", '<div style="position:absolute;left:-9999px">@</div>'),
    Carrier("indented off the side", '<div style="text-indent:-9999px;overflow:hidden">@</div>'),
    Carrier("colour of the background", '<div style="background:#fff;color:#fff">@</div>'),
    Carrier("nearly the colour of the background", '<div style="background:#ffffff;color:#fefefe">@</div>'),
    Carrier("transparent colour", '<div style="color:transparent">@</div>'),
    Carrier("colour with alpha 0", '<div style="color:rgba(0,0,0,0)">@</div>'),
    Carrier("a box of no size that clips", '<div style="width:0;height:0;overflow:hidden">@</div>'),
    Carrier(
        "for screen readers only",
        '<span style="position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)">@</span>',
    ),
    Carrier("clip-path of everything", '<div style="clip-path:inset(100%)">@</div>'),
    Carrier("scaled to nothing", '<div style="transform:scale(0)">@</div>'),
    Carrier(
        "under another box",
        '<div style="position:relative">@<div style="position:absolute;inset:0;background:#fff"></div></div>',
    ),
    Carrier("max-height 0 that clips", '<div style="max-height:0;overflow:hidden">@</div>'),
    Carrier("a comment", "<!-- @ -->"),
    Carrier("a template", "<template>@</template>"),
    Carrier("noscript with scripts on", "<noscript>@</noscript>"),
    Carrier("a script of data", '<script type="application/json">"@"</script>'),
    Carrier("the alt text of a picture", f'<img alt="@" width="20" height="20" src="{_DOT}">', seen=True),
    Carrier("a title attribute", '<a title="@" href="#">link</a>'),
    Carrier("an aria-label", '<p aria-label="@">labelled</p>'),
    Carrier("aria-hidden but visible", '<p aria-hidden="true">@</p>', seen=True),
    Carrier("a description in the metadata", '<meta name="description" content="@">'),
    Carrier("closed details", "<details><summary>Unfold</summary>@</details>", seen=True),
    Carrier("content-visibility: hidden", '<div style="content-visibility:hidden">@</div>'),
    Carrier("far down the page", '<div style="height:5000px"></div><p>@</p>', seen=True),
    Carrier("faded in when scrolled to", '<p class="fade" style="opacity:0;transition:opacity .3s">@</p>', seen=True),
    Carrier("content before an element", "<style>.before::before{content:'@'}</style><p class=before>x</p>", seen=True),
    Carrier("a declared shadow root", '<div><template shadowrootmode="open"><p>@</p></template></div>', seen=True),
    Carrier("a child without a slot", '<div><template shadowrootmode="open"><p>host</p></template>@</div>'),
    Carrier("inside a canvas", "<canvas width=20 height=20>@</canvas>"),
    Carrier("the title of a drawing", '<svg width="20" height="20"><title>@</title></svg>'),
    Carrier("a hidden field", '<input type="hidden" value="@">'),
    Carrier("an option of a list", "<select><option>first</option><option>@</option></select>", seen=True),
    Carrier("print only", "<style>@media screen{.print{display:none}}</style><p class=print>@</p>"),
)

_TAGGED = "".join(chr(0xE0000 + ord(letter)) for letter in "tagged words")

MORE_CARRIERS = (
    Carrier("off the top", '<div style="position:fixed;top:-500px">@</div>'),
    Carrier("moved away", '<div style="transform:translateX(-5000px)">@</div>'),
    Carrier("blurred away by a filter", '<div style="filter:opacity(0)">@</div>'),
    Carrier("masked", '<div style="mask-image:linear-gradient(transparent,transparent)">@</div>'),
    Carrier("black on black of an ancestor", '<div style="background:#000"><p style="color:#000">@</p></div>'),
    Carrier("white on black", '<div style="background:#000"><p style="color:#fff">@</p></div>', seen=True),
    Carrier("line height 0 that clips", '<div style="line-height:0;overflow:hidden;height:0">@</div>'),
    Carrier("clip-path circle of 0", '<div style="clip-path:circle(0)">@</div>'),
    Carrier("zoomed away", '<div style="zoom:0.01">@</div>'),
    Carrier("a closed dialog", "<dialog>@</dialog>"),
    Carrier("an open dialog", '<dialog open style="position:static">@</dialog>', seen=True),
    Carrier("a closed popover", "<div popover>@</div>"),
    Carrier(
        "a scrolling box, below its edge",
        '<div style="height:40px;overflow:auto"><div style="height:300px"></div>@</div>',
        seen=True,
    ),
    Carrier("display: contents", '<div style="display:contents"><p>@</p></div>', seen=True),
    Carrier(
        "visible inside invisible",
        '<div style="visibility:hidden"><p style="visibility:visible">@</p></div>',
        seen=True,
    ),
    Carrier("a collapsed table row", '<table><tr style="visibility:collapse"><td>@</td></tr></table>'),
    Carrier("a text area", "<textarea>@</textarea>", seen=True),
    Carrier("a drawing's text", '<svg width="300" height="30"><text y="20">@</text></svg>', seen=True),
    Carrier("an inert part", "<div inert>@</div>", seen=True),
    Carrier("an object's fallback", f'<object data="{_DOT}" type="image/gif">@</object>'),
    Carrier("definitions of a drawing", '<svg width="300" height="30"><defs><text y="20">@</text></defs></svg>'),
)


def marker(number: int, carrier: Carrier) -> str:
    """Return the marker word of a carrier."""
    return f"{'SHOWN' if carrier.seen else 'HIDDEN'}-{number:02}"


def _sections(carriers: tuple[Carrier, ...], first: int) -> str:
    return "\n".join(
        f'<section data-carrier="{number}">'
        # `@media` is the only at-sign that is not a placeholder.
        + carrier.markup.replace("@media", "\0").replace("@", marker(number, carrier)).replace("\0", "@media")
        + "</section>"
        for number, carrier in enumerate(carriers, first)
    )


def _list(carriers: tuple[Carrier, ...]) -> str:
    """Return a list in which each record contains one carrier."""
    marked = re.findall(r'<section data-carrier="\d+">(.*?)</section>', _sections(carriers, 1), re.DOTALL)
    return "".join(
        f'<div class="item"><h2><a href="/item/{number}">Item {number} of the list</a></h2>'
        f"{markup}<p>A thing for every day of the week.</p></div>"
        for number, markup in enumerate(marked, 1)
    )


# Simulate the effect of scrolling on the faded paragraph.
_FADE = """<script>const watch = new IntersectionObserver(seen => seen.forEach(one => {
  if (one.isIntersecting) one.target.style.opacity = '1';
}));
document.querySelectorAll('.fade').forEach(p => watch.observe(p));</script>"""


def _document(carriers: tuple[Carrier, ...], first: int, extra: str = "") -> str:
    style = "<style>body{background:#fff;color:#000}</style>"
    body = f"<h1>What can be seen</h1>{_sections(carriers, first)}{extra}"
    return page("What can be seen", body, style)


async def _manifest(request: web.Request) -> web.Response:
    rows = [
        {
            "n": number,
            "name": carrier.name,
            "marker": marker(number, carrier),
            "seen": carrier.seen,
            "page": "/hidden" if number <= len(CARRIERS) else "/hidden/more",
        }
        for number, carrier in enumerate(CARRIERS + MORE_CARRIERS, 1)
    ]
    return web.json_response(rows)


_CHARACTERS = (
    f"<p>TAGS-[{_TAGGED}]-END</p><p>ZERO-[wo\u200brd jo\u2060in\ufeffed so\u00adft]-END</p>"
    "<p>BIDI-[safe \u202egnp.exe\u202c name \u2066isolated\u2069]-END</p><p>FILL-[\u3164\u115f\uffa0]-END</p>"
    "<p>KEEP-[\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 "
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f]-END</p>"
    "<p>SELECT-[a\ufe0fb\U000e0101c]-END</p>"
)

PAGES = (
    fixed("/hidden", "43 ways of carrying text, 34 of them unseen", _document(CARRIERS, 1)),
    fixed("/hidden/more", "more of them", _document(MORE_CARRIERS, len(CARRIERS) + 1, _FADE)),
    fixed("/hidden/list", "a list with one of the 43 ways in each record", page("Things", _list(CARRIERS))),
    Page("/hidden/manifest.json", "each way: number, name, marker, whether a person sees it", _manifest),
    fixed(
        "/hidden/characters",
        "characters that do not show: tags, zero width, direction",
        page("Characters", _CHARACTERS),
    ),
    fixed(
        "/hidden-parts",
        "an article with a few hidden parts",
        page(
            "Hidden parts",
            "".join(f"<p>MARK-hidden-parts-{i} is in plain sight of every passer-by on the quay.</p>" for i in range(5))
            + '<div class="gone">HIDDEN-PART-1</div><div style="visibility:hidden">HIDDEN-PART-2</div>'
            "<div hidden>HIDDEN-PART-3</div><div style='opacity:0'>HIDDEN-PART-4</div>"
            "<div style='position:absolute;left:-9999px'>HIDDEN-PART-5</div>"
            "<noscript>HIDDEN-PART-6</noscript>"
            + "".join(f"<p>MARK-hidden-parts-{i} is in plain sight as well, further down.</p>" for i in range(5, 10)),
        ),
        marks=10,
    ),
)
