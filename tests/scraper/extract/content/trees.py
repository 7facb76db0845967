"""Bodies written down in a test."""

from __future__ import annotations

from scraper.extract.content.extraction import about
from scraper.extract.content.page_statistics import PageDescription, PageStatistics
from scraper.extract.content.segmentation import Segments, segment
from scraper.extract.page import build
from tests.scraper.extract.snapshots import page


def segments_of(html: str) -> Segments:
    return segment(build.build(page(html)).body)


def measured(html: str, *, url: str = "") -> PageStatistics:
    built = build.build(page(html))
    return PageStatistics(segment(built.body), about(built.head, url) if url else PageDescription())
