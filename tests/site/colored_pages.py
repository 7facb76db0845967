"""Pages of colored bands: the color of each pixel of a picture of the whole page is known."""

from __future__ import annotations

from tests.site.catalogue import fixed

BAND = 400
"""CSS pixels of a band."""
BANDS = 8
HEIGHT = BAND * BANDS
STICKY = (255, 0, 0)
"""Color of the header that stays in view, 40 pixels high."""


def color_of(band: int) -> tuple[int, int, int]:
    """Return the color of a band, from 0 at the top."""
    return (30 + 25 * band, (90 * band) % 200, 200 - 20 * band)


def _css(band: int) -> str:
    return "rgb({}, {}, {})".format(*color_of(band))


def _page(title: str, body: str, *, style: str = "", script: str = "") -> str:
    return (
        f"<!doctype html><meta charset=utf-8><title>{title}</title><style>* {{ margin: 0 }} {style}</style>{body}"
        f"<script>{script}</script>"
    )


_PLAIN = "".join(f'<div style="height:{BAND}px;background:{_css(band)}"></div>' for band in range(BANDS))
_LATE = "".join(f'<div class="band" style="height:{BAND}px" data-color="{_css(band)}"></div>' for band in range(BANDS))
_OBSERVED = """const watch = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) one.target.style.background = one.target.dataset.color;
});
document.querySelectorAll('.band').forEach((band) => watch.observe(band));"""
_FADE = """document.querySelectorAll('.band').forEach((band) => { band.style.background = band.dataset.color; });
const watch = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) one.target.style.opacity = 1;
});
document.querySelectorAll('.band').forEach((band) => watch.observe(band));"""
_HEADER = '<div style="{};top:0;left:0;width:100%;height:40px;background:rgb(255, 0, 0);z-index:9"></div>'

_SCROLLER = f'<div style="height:100%;overflow:auto">{_PLAIN}</div>'
_WHOLE_WINDOW = "html, body { height: 100%; overflow: hidden }"
_HIDDEN = ".band { opacity: 0; transition: opacity .6s }"

PAGES = (
    fixed("/colored/plain", "colored bands", _page("Bands", _PLAIN)),
    fixed("/colored/observed", "bands that an observer colors", _page("Observed", _LATE, script=_OBSERVED)),
    fixed("/colored/fade", "bands that fade in", _page("Fade", _LATE, style=_HIDDEN, script=_FADE)),
    fixed("/colored/sticky", "a sticky header", _page("Sticky", _HEADER.format("position:sticky") + _PLAIN)),
    fixed("/colored/fixed", "a fixed header", _page("Fixed", _HEADER.format("position:fixed") + _PLAIN)),
    fixed("/colored/inner", "bands in an element that scrolls", _page("Inner", _SCROLLER, style=_WHOLE_WINDOW)),
    fixed("/colored/wide", "a page that is too wide", _page("Wide", f'{_PLAIN}<div style="width:3000px">x</div>')),
)
