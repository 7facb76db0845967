"""Prepare a result page for the parsers: visible tree and the markup that identifies block pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from lxml import etree

from browsers.model import Snapshot
from scraper.html.dom import parsing
from scraper.html.dom.xpath import Element, element_selector, text_of
from scraper.html.page import page_tree
from scraper.text.sanitize import clean_line
from scraper.urls import is_web_url, join_url, split_url

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


def text_lines(block: Element, without: Element | None = None, *, skips_links: bool = False) -> Iterator[str]:
    """Yield the lines of text in a block, without the element `without`, and perhaps without the links in it."""
    text = ""
    walker = etree.iterwalk(block, events=("start", "end"))
    for event, element in walker:
        is_left_out = element is without or (skips_links and element.tag == "a" and element is not block)
        if element.tag in _BLOCKS or is_left_out:
            if text := text.strip():
                yield text
            text = ""
        if event == "end":
            text += "" if element is block else element.tail or ""
        elif is_left_out:
            walker.skip_subtree()
        else:
            text += element.text or ""
    if text := text.strip():
        yield text


_WITHOUT_TEXT = (
    "script",
    "style",
    "svg",
    "noscript",
    "template",
    "link",
    "meta",
    "iframe",
    "object",
    "canvas",
    "select",
)
# Hidden fields belong to the form data.
_HIDDEN = element_selector("//*[@data-x-hidden][not(self::input)]")
_TITLE = element_selector("//title[not(ancestor::svg)]")
_VISIBLE_CHARS = 3_000
_SCRIPT_CHARS = 20_000
_IDS = etree.XPath("//@id")
_CLASSES = etree.XPath("//@class")
_TEST_IDS = etree.XPath("//@data-testid")
_ADDRESSES = etree.XPath("//script/@src | //iframe/@src | //form/@action | //img/@src | //meta[@http-equiv]/@content")
_BOXES = element_selector("//input[@name='q' or @name='query' or @name='wd' or @name='p' or @name='text'][@value]")
_MAX_BOXES, _MIN_QUERY, _MAX_QUERY = 8, 3, 500
_SCRIPTS = element_selector("//script[not(@src)]")


@dataclass(frozen=True, slots=True)
class BlockPageEvidence:
    """Markup of a page that identifies block pages."""

    title: str = ""
    ids: frozenset[str] = frozenset()
    """Values of the attributes `id` and `data-testid`."""
    classes: frozenset[str] = frozenset()
    addresses: str = ""
    """URLs of scripts, frames, forms and images and targets of `http-equiv`, as written.

    One per line, cut to 2,000 characters each.
    """
    scripts: str = ""
    """First characters of the inline scripts."""
    opening: str = ""
    """First characters of the visible text, without the query."""


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Result page of an engine. `root` is None if the page has no readable text."""

    root: Element | None
    url: str
    host: str
    """Without `www.`."""
    status: int
    redirects: tuple[str, ...] = ()
    evidence: BlockPageEvidence = field(default_factory=BlockPageEvidence)

    def absolute(self, address: str | None) -> str:
        """Resolve an address against the URL of the page; return "" if the result is not an http(s) URL."""
        joined = join_url(self.url, address or "")
        return joined if is_web_url(joined) else ""


def snapshot_text(snapshot: Snapshot) -> str:
    """Return the HTML of a snapshot; if it has none, decode its body as UTF-8."""
    return snapshot.html or snapshot.body.decode("utf-8", "replace")


def build_result_page(snapshot: Snapshot) -> ResultPage:
    """Parse a snapshot, collect the markup that identifies block pages, and remove invisible elements."""
    root = parsing.parse_html(snapshot_text(snapshot)).root
    parts = split_url(snapshot.url)
    return ResultPage(
        root,
        snapshot.url,
        (parts.hostname or "").removeprefix("www.") if parts else "",
        snapshot.status,
        tuple(hop.location for hop in snapshot.hops),
        BlockPageEvidence() if root is None else _prepare(root),
    )


def _prepare(root: Element) -> BlockPageEvidence:
    """Return the evidence of a page, and reduce the page to its visible elements."""
    title = next((one_line(text_of(element), 300) for element in _TITLE(root)), "")
    scripts, left = [], _SCRIPT_CHARS
    for script in _SCRIPTS(root):
        scripts.append((script.text or "")[:left])
        left -= len(scripts[-1])
        if left <= 0:
            break
    ids = frozenset((*_values(_IDS, root), *_values(_TEST_IDS, root)))
    classes = frozenset(name for value in _values(_CLASSES, root) for name in value.split())
    addresses = "\n".join(address[:2_000] for address in _values(_ADDRESSES, root))
    # A query in the search box for "429" or "captcha" must not match a block page.
    queries = [one_line(box.get("value") or "", _MAX_QUERY) for box in _BOXES(root)[:_MAX_BOXES]]
    _remove_invisible(root)
    body = root.find("body")
    visible = text_of(body if body is not None else root)[: _VISIBLE_CHARS * 4]
    opening = " ".join(visible.split())[:_VISIBLE_CHARS]
    for query in queries:
        if len(query) >= _MIN_QUERY:
            title, opening = (re.sub(re.escape(query), "", text, flags=re.IGNORECASE) for text in (title, opening))
    return BlockPageEvidence(title.strip(), ids, classes, addresses, "\n".join(scripts), opening.strip())


def _values(select: Any, root: Element) -> list[str]:
    return [str(value) for value in cast("list[Any]", select(root))]


def _remove_invisible(root: Element) -> None:
    """Remove elements without text and elements that the browser marked as hidden."""
    page_tree.inline_shadow_roots(root)
    for element in _HIDDEN(root):
        if element.getparent() is not None and element.tag not in {"html", "body"}:
            parsing.remove(element)
    etree.strip_elements(root, *_WITHOUT_TEXT, with_tail=False)
    parsing.flatten_deep_elements(root)
