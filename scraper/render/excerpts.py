"""A page of which only what bears on a question is shown: its facts, its excerpts, a link to each."""

from __future__ import annotations

import re
from datetime import datetime

from scraper.extract.text.sanitize import clean_line
from scraper.model import Excerpt, Reading, ReadPage
from scraper.render import errors
from scraper.render.fetch import header, sealed_page
from scraper.render.fetch import page_object as whole_page_object
from scraper.render.paging import TextCut
from scraper.retrieval.text_fragments import link_to_quotation

PAGE_TOKENS = 130
"""A page's heading, header, facts and border, or its object's names, of common length."""

GAP = "[…]"
"""Something of the page is left out here."""

_NOTHING = "Nothing of this page found room in the answer; `fetch` reads it whole."

_MAX_URL = 2_000
_MAX_HEADING = 160
_MAX_ERROR = 500
_OF_OTHERS = ("start", "returned_chars", "total_chars", "next_start")
"""What says how to go on in a page that is given in parts."""
_BRACKETS = re.compile(r"[\[\]]")


def section(page: ReadPage, reading: Reading, region: str, now: datetime | None) -> str:
    """A page that was read: what we know of it, then its own words in their region."""
    shown = _whole(content(page, linked=True))
    parts = ["\n".join(header(reading, shown, now)), sealed_page(reading.document, shown, region)]
    return "\n\n".join(parts if page.excerpts else [parts[0], _NOTHING])


def failure(page: ReadPage) -> dict[str, object]:
    """A page that was not read, for programs; nothing for one that was."""
    return {} if isinstance(page.outcome, Reading) else errors.as_object(page.outcome)


def page_object(page: ReadPage, reading: Reading) -> dict[str, object]:
    """A page that was read, for programs: its text once, and where its parts stand."""
    whole = whole_page_object(reading, _whole(content(page, linked=False)))
    kept = {name: value for name, value in whole.items() if name not in _OF_OTHERS}
    return {
        **kept,
        "truncated": reading.truncated or _is_cut(page, reading),
        "excerpts": [
            {
                "start": excerpt.start,
                "end": excerpt.end,
                "heading": _shown_heading(excerpt),
                "url": _link(reading, excerpt),
            }
            for excerpt in page.excerpts
        ],
    }


def content(page: ReadPage, *, linked: bool) -> str:
    """The excerpts as one text, each under its headings; `linked`: these lead to it on the page."""
    if not isinstance(page.outcome, Reading):
        return ""
    parts: list[str] = []
    end = 0
    for excerpt in page.excerpts:
        if page.outcome.document.markdown[end : excerpt.start].strip():
            parts.append(GAP)
        parts += [part for part in (_label(page.outcome, excerpt, linked), excerpt.text) if part]
        end = excerpt.end
    if page.excerpts and page.outcome.document.markdown[end:].strip():
        parts.append(GAP)
    return "\n\n".join(parts)


def _label(reading: Reading, excerpt: Excerpt, linked: bool) -> str:
    heading = _shown_heading(excerpt)
    if linked and excerpt.fragment:
        return f"[{heading or 'on the page'}]({_link(reading, excerpt)})"
    return f"{heading}:" if heading else ""


def _link(reading: Reading, excerpt: Excerpt) -> str:
    return clean_line(link_to_quotation(reading.url, excerpt.fragment), _MAX_URL)


def _shown_heading(excerpt: Excerpt) -> str:
    return clean_line(_BRACKETS.sub("", excerpt.heading), _MAX_HEADING)


def _is_cut(page: ReadPage, reading: Reading) -> bool:
    shown = sum(excerpt.end - excerpt.start for excerpt in page.excerpts)
    return shown < len(reading.document.markdown.strip())


def _whole(text: str) -> TextCut:
    return TextCut(text, 0, len(text), len(text))
