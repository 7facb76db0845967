"""Parse results from an RSS feed, as Google News and Bing provide it."""

from __future__ import annotations

from dataclasses import replace

from lxml import etree

from browsers.model import Snapshot
from scraper.engines.common import result_page
from scraper.engines.common.result_page import snapshot_text
from scraper.engines.common.result_rows import unwrap_redirect
from scraper.engines.model import EngineOutcome, EngineResponse, EngineResult
from scraper.html.dom import parsing
from scraper.html.dom.xpath import Element, element_selector
from scraper.text.date_parsing import parse_date
from scraper.urls import is_web_url

_MAX_ITEMS = 200
"""Items. Google News returns 100."""

_ITEMS = element_selector("//item")
_PROBE = 2_000


def parse_rss(snapshot: Snapshot) -> EngineResponse | None:
    """Parse the results of a feed; return None if the response is not a feed."""
    feed = _parsed(snapshot_text(snapshot))
    if feed is None:
        return None
    items = _ITEMS(feed)[:_MAX_ITEMS]
    found = enumerate(filter(None, map(_result, items)), 1)
    results = tuple(replace(result, rank=rank) for rank, result in found)
    if items and not results:
        return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
    return EngineResponse(EngineOutcome.OK if results else EngineOutcome.NONE, results=results)


def _parsed(text: str) -> Element | None:
    """Parse a feed without resolving entities or loading anything."""
    if "<rss" not in text[:_PROBE] or parsing.is_binary(text):
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    try:
        root: Element | None = etree.fromstring(text.strip().encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None
    return root if root is not None and root.tag == "rss" else None


def _result(item: Element) -> EngineResult | None:
    url = unwrap_redirect(_text(item, "link"))
    title = result_page.one_line(_text(item, "title"), result_page.MAX_TITLE)
    if not title or not is_web_url(url):
        return None
    publisher = item.find("source")
    name = result_page.one_line(publisher.text or "", result_page.MAX_TITLE) if publisher is not None else ""
    home = (publisher.get("url") or "") if publisher is not None else ""
    return EngineResult(
        rank=0,
        title=title,
        url=url,
        snippet=_snippet(_text(item, "description"), title.removesuffix(f" - {name}"), name),
        date=parse_date(_text(item, "pubDate")),
        source=name or None,
        source_url=home if is_web_url(home) else None,
    )


def _snippet(description: str, title: str, publisher: str) -> str:
    """Return the text of an item beyond title and publisher, or the titles of related articles."""
    root = parsing.parse_html(description).root if description else None
    if root is None:
        return ""
    lines = [result_page.element_text(element) for element in root.iter("li")] or [result_page.element_text(root)]
    repeated = {title, publisher, f"{title} {publisher}", ""}
    return result_page.one_line(" · ".join(line for line in lines if line not in repeated))


def _text(item: Element, name: str) -> str:
    return (item.findtext(name) or "").strip()
