"""Build statistics and segments from HTML in a test."""

from __future__ import annotations

from scraper.extract.content.extraction import describe_page
from scraper.extract.content.page_statistics import PageDescription, PageStatistics
from scraper.html.page import page_tree
from scraper.html.page.segmentation import Segments, segment_body
from tests.scraper.extract.snapshots import page


def segments_of(html: str) -> Segments:
    return segment_body(page_tree.build_page_tree(page(html)).body)


def build_statistics(html: str, *, url: str = "") -> PageStatistics:
    built = page_tree.build_page_tree(page(html))
    return PageStatistics(segment_body(built.body), describe_page(built.head, url) if url else PageDescription())
