"""Text of result pages: one line, without what a person does not see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from scraper.extract.dom.xpath import Element
from scraper.extract.text.sanitize import clean_line

MAX_TITLE = 400
MAX_SNIPPET = 2_000

BLOCKS = frozenset(
    "address article aside blockquote button caption center cite dd details dialog div dl dt fieldset figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section select table tbody td tfoot "
    "th thead tr ul br".split()
)
"""Elements that stand on lines of their own; `cite` and `button` do on all result pages."""

_ICONS = re.compile("[\ue000-\uf8ff]")
_ADDRESS = re.compile(
    r"^(?:https?://)?(?:[\w-]{1,63}\.)+[a-z]{2,24}(?::\d+)?(?:/\S*|\s*[›»>⟩·].*)?(?:\s*(?:\.\.\.|…))?"
    r"(?:\s+\d{4}-\d{1,2}-\d{1,2})?[\s-]*$",
    re.IGNORECASE,
)
_CRUMBS = re.compile(r"^.{0,80}\s[›»⟩]\s")


def tidy(text: str, limit: int = MAX_SNIPPET) -> str:
    """One clean line of bounded length."""
    return clean_line(_ICONS.sub("", text), limit)


def is_address(text: str) -> bool:
    """Whether a text is the address or the trail of breadcrumbs that engines print with a result."""
    return _ADDRESS.match(text) is not None or (len(text) < 200 and _CRUMBS.match(text) is not None)


def text_in(element: Element, limit: int = MAX_SNIPPET) -> str:
    """All text in an element on one line."""
    return tidy(" ".join(runs(element)), limit)


def runs(block: Element, without: Element | None = None) -> Iterator[str]:
    """The texts between line breaks in a block, in order; one element can be left out."""
    pieces: list[str] = []
    walker = etree.iterwalk(block, events=("start", "end"))
    for event, element in walker:
        broken = element.tag in BLOCKS or element is without
        if broken and (text := "".join(pieces)).strip():
            yield text.strip()
        if broken:
            pieces = []
        if event == "end":
            pieces.append("" if element is block else element.tail or "")
        elif element is without:
            walker.skip_subtree()
        else:
            pieces.append(element.text or "")
    if (text := "".join(pieces)).strip():
        yield text.strip()
