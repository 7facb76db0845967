"""All engines by name, in display order."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scraper.engines import baidu, bing, brave, duckduckgo, googlenews, mojeek, startpage
from scraper.engines.model import ENGINE_NAMES, Engine

_ALL = (duckduckgo.ENGINE, mojeek.ENGINE, googlenews.ENGINE, startpage.ENGINE, brave.ENGINE, bing.ENGINE, baidu.ENGINE)

ENGINES: Mapping[str, Engine] = MappingProxyType(dict(zip(ENGINE_NAMES, _ALL, strict=True)))
