"""Pages made of frames: same site, other site, hidden, nested, written by script."""

from __future__ import annotations

import html as entities

from aiohttp import web

from tests.site.catalogue import built, fixed
from tests.site.hosts import TRACKERS, origin, other_origin
from tests.site.markup import page, script_string
from tests.site.prose import paragraphs


def _frames(request: web.Request) -> str:
    refused = f'<iframe src="{origin(request, TRACKERS[0])}/frame-hidden"></iframe>'
    body = (
        paragraphs("frames", 0, 10)
        + refused * 25
        + '<iframe src="/frame?name=frames&from=10&to=20"></iframe>'
        + f'<iframe src="{other_origin(request)}/frame?name=frames&from=20&to=30"></iframe>'
        + '<iframe src="about:blank"></iframe><iframe src="/frame-hidden" style="display:none"></iframe>'
        + '<iframe src="/frame-hidden" width="1" height="1" style="visibility:hidden"></iframe>'
    )
    return page("Frames", body)


def _frame(request: web.Request) -> str:
    query = request.query
    return page("Frame", paragraphs(query["name"], int(query["from"]), int(query["to"])))


def _inner(request: web.Request) -> str:
    inner = f'<iframe src="{other_origin(request)}/frame?name=frames-nested&from=10&to=15"></iframe>'
    return page("Inner", paragraphs("frames-nested", 5, 10) + inner)


_NESTED = paragraphs("frames-nested", 0, 5) + '<iframe src="/frames-nested/inner"></iframe>'

_LATE = f"""<div id="place"></div><script>setTimeout(() => {{
  const frame = document.createElement('iframe');
  frame.srcdoc = {script_string(page("Late", paragraphs("frame-late", 0, 10)))};
  document.getElementById('place').append(frame);
}}, 300)</script>"""

_SRCDOC = f'<iframe srcdoc="{entities.escape(paragraphs("frame-srcdoc", 5, 10))}"></iframe>'

PAGES = (
    built("/frames", "frames of refused hosts, of this site, of another, empty and hidden", _frames, marks=30),
    built("/frame", "one such frame", _frame, example="/frame?name=frame&from=0&to=5"),
    fixed("/frame-hidden", "what stands in a hidden frame", page("Advertisement", "<p>HIDDEN-FRAME-TEXT</p>")),
    fixed("/frames-nested", "a frame in a frame, the inner one of another site", page("Nested", _NESTED), marks=15),
    built("/frames-nested/inner", "the frame in between", _inner),
    fixed("/frame-late", "a frame that a script adds after 0.3 s", page("Late frame", _LATE), marks=10),
    fixed(
        "/frame-srcdoc",
        "a frame whose HTML stands in an attribute",
        page("Srcdoc", paragraphs("frame-srcdoc", 0, 5) + _SRCDOC),
        marks=10,
    ),
)
