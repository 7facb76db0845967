"""Read pages with the product. Only this module of the package imports it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.reader.unseen_models import UnseenModels
from browsers.model import Snapshot
from scraper.extract import reader
from scraper.facts import structured
from scraper.facts.fields import extraction
from scraper.facts.fields.model import FieldRequest
from scraper.facts.metadata import metadata
from scraper.html.page import page_tree


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader returned for a page."""

    markdown: str
    title: str = ""
    has_posts: bool = False


Reader = Callable[[str, str, str], Answer]
"""Reads HTML with its URL and domain."""


def open_reader() -> Reader:
    """Return our reader. Its model has not seen pages of the domain."""
    models = UnseenModels()

    def read(html: str, url: str, domain: str) -> Answer:
        snapshot = Snapshot(url, url, 200, media_type="text/html", html=html)
        document = reader.read(snapshot, models.of_domain(domain))
        return Answer(document.markdown, document.title or "", bool(document.discussion))

    return read


def read_price(html: str, url: str) -> float | None:
    """Return the price of a product."""
    price = (structured.extract(_rendered(html, url)).product or {}).get("price")
    return price.get("value") if isinstance(price, dict) else price


def read_fields(html: str, url: str, names: Sequence[str]) -> dict[str, str | None]:
    """Return the values of named fields."""
    request = FieldRequest(fields=dict.fromkeys(names, ""))
    return dict(extraction.extract([_rendered(html, url)], request)[0].values)


def read_records(html: str, url: str) -> list[dict[str, Any]]:
    """Return the records of a list or table."""
    return list(extraction.extract([_rendered(html, url)], FieldRequest(records=True))[0].records)


def read_about(html: str, url: str) -> tuple[str | None, str | None]:
    """Return the author and the day of an article."""
    about = metadata.read(page_tree.build_page_tree(_rendered(html, url)))
    return about.author, about.published.date().isoformat() if about.published else None


def _rendered(html: str, url: str) -> Snapshot:
    return Snapshot(
        url, url, 200, media_type="text/html", body=html.encode("utf-8", "replace"), html=html, rendered=True
    )
