"""Reader of web pages that were requested as documents, with the same result as `fetch`, and of saved pages.

A browser saves a page as MHTML (RFC 2557), with its style sheets, shadow roots and frames.
"""

from collections.abc import Iterator
from dataclasses import replace
from email.message import Message

from lxml import etree

from browsers.http.charset import decode
from browsers.model import Snapshot
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.office_markup import remove_internal_links
from scraper.extract import reader
from scraper.html.dom.parsing import Element, collect_names, parse_html
from scraper.html.page import hidden_elements
from scraper.text.sanitize import clean_line

warm_up = reader.warm_up
_BASE_URL = "http://file.invalid/"
_MAX_FACT_CHARS = 500
_DEGRADED_WARNING = "The page is larger or more complex than the limits: its end may be missing."


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return the main content of a page."""
    html = decode(data, request.media_type if "html" in request.media_type else "text/html")
    return _read_page(html, request.url or _BASE_URL)


def _read_page(html: str, url: str) -> ParsedDocument:
    document = reader.read(Snapshot(url, url, 200, media_type="text/html", html=html), without={"read_key_facts"})
    markdown = remove_internal_links(document.markdown, _BASE_URL) if url == _BASE_URL else document.markdown
    warnings = (_DEGRADED_WARNING,) if document.degraded else ()
    return ParsedDocument("html", markdown, title=document.title, author=document.author, warnings=warnings)


def find_saved_page(message: Message) -> Message | None:
    """Return the HTML part of a saved page; None for an email, which has a recipient, or HTML without an address."""
    page = None if message["To"] else next(_parts(message, "text/html"), None)
    return page if page is not None and page["Content-Location"] else None


def read_saved_page(message: Message, page: Message) -> ParsedDocument:
    """Return the main content of a saved page, below its address and date."""
    sheets = {name: _decode(part) for part in _parts(message, "text/css") for name in _names(part)}
    frames = {name: part for part in _parts(message, "text/html") if part is not page for name in _names(part)}
    url = "".join(str(page["Content-Location"]).split())
    tree = _parse(page, sheets)
    if tree is not None:
        _insert_frames(tree, frames, sheets)
    html = "" if tree is None else etree.tostring(tree, encoding="unicode", method="html")
    facts = (clean_line(fact, _MAX_FACT_CHARS) for fact in (url, str(message["Date"] or "")))
    parsed = _read_page(html, url)
    return replace(parsed, format="mhtml", markdown=f"Saved from {', '.join(filter(None, facts))}\n\n{parsed.markdown}")


def _parts(message: Message, media_type: str) -> Iterator[Message]:
    return (part for part in message.walk() if part.get_content_type() == media_type)


def _names(part: Message) -> tuple[str, str]:
    """Return the values with which `src` and `href` name a part."""
    return f"cid:{str(part['Content-ID'] or '').strip(' <>')}", "".join(str(part["Content-Location"] or "").split())


def _decode(part: Message) -> str:
    payload = part.get_payload(decode=True)
    return decode(payload if isinstance(payload, bytes) else b"", str(part["Content-Type"] or ""))


def _parse(part: Message, sheets: dict[str, str]) -> Element | None:
    """Return the tree of an HTML part, with its style sheets inside and its shadow roots in the standard form."""
    tree = parse_html(_decode(part)).root
    for element in () if tree is None else list(tree.iter("template", "link")):
        if mode := element.get("shadowmode"):
            element.set("shadowrootmode", mode)
        elif (sheet := sheets.get(element.get("href") or "")) is not None and element.get("rel") == "stylesheet":
            element.tag, element.text = "style", sheet.replace("</", "<\\/")
    return tree


def _insert_frames(tree: Element, frames: dict[str, Message], sheets: dict[str, str]) -> None:
    """Replace each frame by the visible content of its part, also nested ones; pages of network errors are left out."""
    places = list(tree.iter("iframe"))
    while places:
        place = places.pop()
        part = frames.pop(place.get("src") or "", None)
        inner = None if part is None or "chrome-error:" in _names(part)[1] else _parse(part, sheets)
        body = None if inner is None else inner.find("body")
        if inner is None or body is None:
            continue
        hidden_elements.remove_styled(inner, collect_names(inner).attributes)
        etree.strip_elements(inner, "style", with_tail=False)
        del place[:]
        place.tag, place.text = "div", body.text
        place.extend(list(body))
        places += place.iter("iframe")
