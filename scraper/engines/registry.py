"""All engines by name, in the order in which they are told to people."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scraper.engines import baidu, bing, brave, duckduckgo, googlenews, mojeek, startpage
from scraper.engines.model import Engine

__all__ = ["DEFAULTS", "ENGINES"]

ENGINES: Mapping[str, Engine] = MappingProxyType(
    {
        engine.name: engine
        for engine in (
            duckduckgo.ENGINE,
            mojeek.ENGINE,
            googlenews.ENGINE,
            startpage.ENGINE,
            brave.ENGINE,
            bing.ENGINE,
            baidu.ENGINE,
        )
    }
)

DEFAULTS = ("duckduckgo", "mojeek", "googlenews")
