"""Functions that the worker processes run. Each imports its extractors when it runs.

The process that serves calls never loads the extractors, whose import takes .5 s of CPU: every call from the command
line would wait for it. Workers load them in advance. The classes of the results must be in modules that the server
loads: it accepts no others from a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from browsers.model import Snapshot
from scraper.model import Document, StructuredData

if TYPE_CHECKING:
    from scraper.extract.outlinks import Outlinks
    from scraper.extract.sitemaps import SitemapFile
    from scraper.facts.fields.model import FieldRequest, PageFields


def read(snapshot: Snapshot) -> Document:
    """Return the document in a snapshot; see `scraper.extract.reader.read`."""
    from scraper.extract import reader

    return reader.read(snapshot)


def read_for_job(snapshot: Snapshot) -> tuple[Document, Outlinks, tuple[dict[str, Any], ...] | None]:
    """Return the document in a page, all its links and its JSON-LD; None if that cannot be read."""
    from scraper.extract.outlinks import extract_outlinks
    from scraper.facts import structured
    from scraper.html.dom.parsing import parse_html

    root = parse_html(snapshot.html).root
    json_ld = structured.read_json_ld(root, snapshot.url) if root is not None else ()
    return read(snapshot), extract_outlinks(snapshot, root), json_ld


def read_part(snapshot: Snapshot, *, select: str | None, exclude: str | None) -> Document:
    """Return the document in the elements that selectors match; see `scraper.html.dom.parsing.reduce_page`."""
    from scraper.html.dom.parsing import reduce_page

    return read(replace(snapshot, html=reduce_page(snapshot.html, select=select, exclude=exclude)))


def read_site_markdown(snapshots: Sequence[Snapshot]) -> tuple[Document, list[str] | None]:
    """Return the document in the Markdown of a page, and its lines that are not on the page, which comes second."""
    from scraper.extract import reader, site_markdown

    document = reader.read(snapshots[0])
    return document, site_markdown.find_foreign_lines(document.markdown, snapshots[1])


def read_in_one_pass(snapshot: Snapshot) -> Document:
    """Return the text of a page that takes too long to parse; see `scraper.extract.timeout_fallback.read`."""
    from scraper.extract import timeout_fallback

    return timeout_fallback.read(snapshot)


def extract_structured(snapshot: Snapshot) -> StructuredData:
    """Return all structured data of a page; see `scraper.facts.structured.extract`."""
    from scraper.extract.discussion.thread_extraction import find_discussion
    from scraper.facts import structured

    return structured.extract(snapshot, lambda page: [post.as_object() for post in find_discussion(page).posts])


def extract_basic_structured(snapshot: Snapshot) -> StructuredData:
    """Return JSON-LD, OpenGraph and fetched JSON; see `scraper.facts.structured.extract`."""
    from scraper.facts import structured

    return structured.extract(snapshot, None)


def extract_fields(snapshots: Sequence[Snapshot], request: FieldRequest) -> tuple[PageFields, ...]:
    """Return the requested values of each page; see `scraper.facts.fields.extraction.extract`."""
    from scraper.facts.fields import extraction

    return extraction.extract(snapshots, request)


def parse_sitemap(data: bytes, url: str) -> SitemapFile:
    """Return the content of a sitemap or feed; see `scraper.extract.sitemaps.parse_sitemap`."""
    from scraper.extract import sitemaps

    return sitemaps.parse_sitemap(data, url)
