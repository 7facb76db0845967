"""Sources of reference works: Wikipedia, Wikidata, Wiktionary, Open Library, Internet Archive."""

from __future__ import annotations

import functools
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlsplit

from browsers.model import Snapshot
from scraper.engines.common.request_builder import parse_locale
from scraper.engines.model import Engine, EngineResponse, EngineResult, SearchQuery
from scraper.engines.sources.source_builder import (
    RESULT_COUNT,
    clean_text,
    join_authors,
    json_parser,
    make_row,
    make_source,
    url_with,
)

_PLAIN_IN_TITLES = "/;:@$!*(),~"
"""Characters that wikis do not encode in the URL of a page."""


def _wiki_url(project: str, query: SearchQuery) -> str:
    language = parse_locale(query.language).language
    return url_with(
        f"https://{language}.{project}.org/w/api.php",
        action="query",
        list="search",
        srsearch=query.text,
        srlimit=RESULT_COUNT,
        srprop="snippet|timestamp|wordcount",
        format="json",
        formatversion=2,
    )


def _parse_wiki(project: str, snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse a search response of a wiki; the URLs of its rows are built from the host that answered."""
    host = urlsplit(snapshot.url).hostname or f"en.{project}.org"
    return json_parser(functools.partial(_read_wiki, project, host), "query", "search")(snapshot, now)


def _read_wiki(project: str, host: str, row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["title"],
        f"https://{host}/wiki/{quote(row['title'].replace(' ', '_'), safe=_PLAIN_IN_TITLES)}",
        row.get("snippet"),
        date=row.get("timestamp"),
        source=project.capitalize(),
        facts={"words": row.get("wordcount")},
    )


def _make_wiki(project: str, about: str, *, by_name: bool = False) -> Engine:
    return make_source(
        project,
        "encyclopedia",
        functools.partial(_wiki_url, project),
        functools.partial(_parse_wiki, project),
        about=about,
        identifies=True,
        by_name=by_name,
    )


WIKIPEDIA = _make_wiki("wikipedia", "Articles of Wikipedia in the language of the server.")
WIKTIONARY = _make_wiki("wiktionary", "Words and their meanings.", by_name=True)


def _wikidata_url(query: SearchQuery) -> str:
    language = parse_locale(query.language).language
    return url_with(
        "https://www.wikidata.org/w/api.php",
        action="wbsearchentities",
        search=query.text,
        language=language,
        uselang=language,
        limit=RESULT_COUNT,
        format="json",
    )


def _read_wikidata(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row.get("label") or row["id"],
        f"https://www.wikidata.org/wiki/{quote(row['id'])}",
        row.get("description"),
        source="Wikidata",
        key=f"wikidata:{row['id']}",
    )


WIKIDATA = make_source(
    "wikidata",
    "encyclopedia",
    _wikidata_url,
    json_parser(_read_wikidata, "search"),
    about="Things and their properties.",
    identifies=True,
)


def _open_library_url(query: SearchQuery) -> str:
    fields = "key,title,author_name,first_publish_year,edition_count,isbn,language,first_sentence"
    return url_with("https://openlibrary.org/search.json", q=query.text, limit=RESULT_COUNT, fields=fields)


def _read_open_library(row: dict[str, Any]) -> EngineResult | None:
    sentences = row.get("first_sentence") or [""]
    return make_row(
        row["title"],
        f"https://openlibrary.org{row['key']}",
        sentences[0] if isinstance(sentences, list) else sentences,
        source="Open Library",
        key=f"book:{row['key']}",
        facts={
            "authors": join_authors(row.get("author_name") or []),
            "year": row.get("first_publish_year"),
            "editions": row.get("edition_count"),
            "isbn": (row.get("isbn") or [None])[0],
        },
    )


OPEN_LIBRARY = make_source(
    "openlibrary",
    "book",
    _open_library_url,
    json_parser(_read_open_library, "docs"),
    about="Books and their editions.",
    identifies=True,
)


def _internet_archive_url(query: SearchQuery) -> str:
    base = url_with("https://archive.org/advancedsearch.php", q=query.text, rows=RESULT_COUNT, output="json")
    names = ("identifier", "title", "description", "creator", "year", "mediatype", "downloads", "publicdate")
    return base + "".join(f"&fl[]={name}" for name in names)


def _read_internet_archive(row: dict[str, Any]) -> EngineResult | None:
    description, creators = row.get("description"), row.get("creator") or []
    return make_row(
        row.get("title") or row["identifier"],
        f"https://archive.org/details/{quote(row['identifier'])}",
        " ".join(description) if isinstance(description, list) else description,
        date=row.get("publicdate"),
        source="Internet Archive",
        facts={
            "authors": join_authors(creators if isinstance(creators, list) else [creators]),
            "year": row.get("year"),
            "type": clean_text(row.get("mediatype")),
            "downloads": row.get("downloads"),
        },
    )


INTERNET_ARCHIVE = make_source(
    "internetarchive",
    "book",
    _internet_archive_url,
    json_parser(_read_internet_archive, "response", "docs"),
    by_name=True,
    about="Books, recordings and films of the Internet Archive.",
)

SOURCES = (WIKIPEDIA, WIKIDATA, WIKTIONARY, OPEN_LIBRARY, INTERNET_ARCHIVE)
