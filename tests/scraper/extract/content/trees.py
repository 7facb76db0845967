"""Bodies written down in a test."""

from __future__ import annotations

from scraper.extract import tree
from scraper.extract.content.measures import About, Measures
from scraper.extract.content.reading import about
from scraper.extract.content.segment import Segments, segment
from tests.scraper.extract.snapshots import page

__all__ = ["measured", "segments_of"]


def segments_of(html: str) -> Segments:
    return segment(tree.build(page(html)).body)


def measured(html: str, *, url: str = "") -> Measures:
    built = tree.build(page(html))
    return Measures(segment(built.body), about(built.head, url) if url else About())
