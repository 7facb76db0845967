"""Names of engines and of categories of results, for callers that list them. Importing this loads no engine."""

from __future__ import annotations

ENGINE_NAMES = ("duckduckgo", "mojeek", "googlenews", "startpage", "brave", "bing", "baidu")
"""Names of the engines in display order."""

DEFAULT_ENGINES = ENGINE_NAMES[:3]
"""Engines used if a caller names none."""

SOURCE_NAMES = (
    "arxiv crossref europepmc doaj semanticscholar openalex datacite dblp hal inspire zbmath eric osti huggingface "
    "github gitlab codeberg crates rubygems packagist nuget dockerhub ecosystems stackexchange hackernews lemmy gdelt "
    "peertube youtube wikipedia wikidata wiktionary openlibrary internetarchive"
).split()
"""Names of the sources, in display order."""

_PAGE_CATEGORIES = ("news", "pdf", "github", "paper", "forum", "blog")
"""Categories that filter the results of search engines."""
SOURCE_CATEGORIES = ("code", "package", "question", "encyclopedia", "book", "video")
"""Categories for which only sources are queried, and no search engine."""
CATEGORIES = _PAGE_CATEGORIES + SOURCE_CATEGORIES
