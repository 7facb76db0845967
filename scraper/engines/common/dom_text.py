"""Text of elements on result pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from scraper.html.dom.xpath import Element
from scraper.text.sanitize import clean_line

MAX_TITLE = 400
"""Characters of a title."""
MAX_SNIPPET = 2_000
"""Characters of a snippet."""

_BLOCKS = frozenset(
    "address article aside blockquote button caption center cite dd details dialog div dl dt fieldset figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section select table tbody td tfoot "
    "th thead tr ul br".split()
)
"""Elements that start a new line; on result pages `cite` and `button` do too."""

_ICONS = re.compile("[\ue000-\uf8ff]")
_ADDRESS = re.compile(
    r"^(?:https?://)?(?:[\w-]{1,63}\.)+[a-z]{2,24}(?::\d+)?(?:/\S*|\s*[›»>⟩·].*)?(?:\s*(?:\.\.\.|…))?"
    r"(?:\s+\d{4}-\d{1,2}-\d{1,2})?[\s-]*$",
    re.IGNORECASE,
)
_CRUMBS = re.compile(r"^.{0,80}\s[›»⟩]\s")


def one_line(text: str, limit: int = MAX_SNIPPET) -> str:
    """Return one line without icons and control characters, cut to `limit`."""
    return clean_line(_ICONS.sub("", text), limit)


def is_address(text: str) -> bool:
    """Return True if a text is the URL or the breadcrumb trail of a result."""
    return _ADDRESS.match(text) is not None or (len(text) < 200 and _CRUMBS.match(text) is not None)


def element_text(element: Element, limit: int = MAX_SNIPPET) -> str:
    """Return the text of an element on one line."""
    return one_line(" ".join(text_lines(element)), limit)


def text_lines(block: Element, without: Element | None = None) -> Iterator[str]:
    """Yield the lines of text in a block, without the element `without`."""
    text = ""
    walker = etree.iterwalk(block, events=("start", "end"))
    for event, element in walker:
        if element.tag in _BLOCKS or element is without:
            if text := text.strip():
                yield text
            text = ""
        if event == "end":
            text += "" if element is block else element.tail or ""
        elif element is without:
            walker.skip_subtree()
        else:
            text += element.text or ""
    if text := text.strip():
        yield text
