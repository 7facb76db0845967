"""Names of the engines, for callers that only list them. Importing this loads no engine."""

from __future__ import annotations

NAMES = ("duckduckgo", "mojeek", "googlenews", "startpage", "brave", "bing", "baidu")
"""Names of the engines in display order."""

DEFAULTS = NAMES[:3]
"""Engines used if a caller names none."""

SOURCE_NAMES = (
    "arxiv crossref europepmc doaj semanticscholar openalex github gitlab codeberg crates rubygems packagist dockerhub "
    "ecosystems stackexchange hackernews lemmy gdelt peertube youtube wikipedia wikidata wiktionary openlibrary "
    "internetarchive"
).split()
"""Names of the sources, in display order."""
