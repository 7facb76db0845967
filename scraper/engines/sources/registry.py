"""All sources by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scraper.engines.model import Engine
from scraper.engines.sources import (
    code_and_packages,
    encyclopedias_and_books,
    forums_news_videos,
    paper_indexes,
    papers,
)

_ALL = (
    *papers.SOURCES,
    *paper_indexes.SOURCES,
    *code_and_packages.SOURCES,
    *forums_news_videos.SOURCES,
    *encyclopedias_and_books.SOURCES,
)

SOURCES: Mapping[str, Engine] = MappingProxyType({source.name: source for source in _ALL})
