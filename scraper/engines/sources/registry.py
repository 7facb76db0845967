"""All sources by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scraper.engines.model import Engine
from scraper.engines.sources import code, forums_and_news, knowledge, papers

_ALL = (*papers.SOURCES, *code.SOURCES, *forums_and_news.SOURCES, *knowledge.SOURCES)

SOURCES: Mapping[str, Engine] = MappingProxyType({source.name: source for source in _ALL})
