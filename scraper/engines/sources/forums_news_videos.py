"""Sources of questions, forum posts, news and videos: Stack Exchange, Hacker News, Lemmy, GDELT, PeerTube, YouTube."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any
from urllib.parse import quote

from browsers.model import Snapshot
from scraper.engines.common.result_page import snapshot_text
from scraper.engines.model import EngineKind, EngineOutcome, EngineResponse, EngineResult, SearchQuery
from scraper.engines.sources.source_builder import (
    RESULT_COUNT,
    build_response,
    clean_text,
    find_refusal,
    json_parser,
    make_row,
    make_source,
    url_with,
)
from scraper.values.text import format_clock

_QUESTION_ID = re.compile(r"https?://([^/]+)/questions/(\d+)")


def _stack_exchange_url(query: SearchQuery) -> str:
    return url_with(
        "https://api.stackexchange.com/2.3/search/advanced",
        q=query.text,
        site="stackoverflow",
        order="desc",
        sort="relevance",
        pagesize=RESULT_COUNT,
    )


def _read_question(row: dict[str, Any]) -> EngineResult | None:
    link = row["link"]
    found = _QUESTION_ID.match(link)
    answered = row.get("accepted_answer_id") is not None or row.get("is_answered")
    return make_row(
        row["title"],
        link,
        ", ".join(row.get("tags") or []),
        date=row.get("creation_date"),
        source="Stack Exchange",
        key=f"question:{found[1]}/{found[2]}" if found else "",
        facts={"score": row.get("score"), "answers": row.get("answer_count"), "answered": answered},
    )


STACK_EXCHANGE = make_source(
    "stackexchange",
    "question",
    _stack_exchange_url,
    json_parser(_read_question, "items"),
    about="Questions of programmers on Stack Overflow.",
    per_day=300,
)


def _hacker_news_url(query: SearchQuery) -> str:
    return url_with("https://hn.algolia.com/api/v1/search", query=query.text, hitsPerPage=RESULT_COUNT, tags="story")


def _read_hacker_news(row: dict[str, Any]) -> EngineResult | None:
    page = f"https://news.ycombinator.com/item?id={row['objectID']}"
    return make_row(
        row.get("title") or row.get("story_title"),
        page,
        row.get("story_text") or row.get("comment_text") or row.get("url"),
        date=row.get("created_at"),
        source="Hacker News",
        facts={"author": row.get("author"), "score": row.get("points"), "comments": row.get("num_comments")},
    )


HACKER_NEWS = make_source(
    "hackernews",
    "forum",
    _hacker_news_url,
    json_parser(_read_hacker_news, "hits"),
    about="Stories and discussions of Hacker News.",
)


def _lemmy_url(query: SearchQuery) -> str:
    return url_with("https://lemmy.world/api/v3/search", q=query.text, type_="Posts", sort="TopAll", limit=RESULT_COUNT)


def _read_lemmy(row: dict[str, Any]) -> EngineResult | None:
    post, counts = row["post"], row.get("counts") or {}
    return make_row(
        post["name"],
        post["ap_id"],
        post.get("body"),
        date=post.get("published"),
        source=clean_text((row.get("community") or {}).get("title")) or "Lemmy",
        facts={
            "author": (row.get("creator") or {}).get("name"),
            "score": counts.get("score"),
            "comments": counts.get("comments"),
        },
    )


LEMMY = make_source(
    "lemmy", "forum", _lemmy_url, json_parser(_read_lemmy, "posts"), about="Posts on Lemmy, a federated forum."
)


def _gdelt_url(query: SearchQuery) -> str:
    return url_with(
        "https://api.gdeltproject.org/api/v2/doc/doc",
        query=query.text,
        mode="artlist",
        maxrecords=RESULT_COUNT,
        format="json",
        sort="hybridrel",
    )


def _read_gdelt(row: dict[str, Any]) -> EngineResult | None:
    seen = str(row.get("seendate") or "")
    return make_row(
        row["title"],
        row["url"],
        date=f"{seen[:4]}-{seen[4:6]}-{seen[6:8]}" if len(seen) >= 8 else None,
        source=row.get("domain"),
        facts={"language": row.get("language"), "country": row.get("sourcecountry")},
    )


GDELT = make_source(
    "gdelt",
    "news",
    _gdelt_url,
    # No match is an empty object.
    json_parser(_read_gdelt, "articles", empty={}),
    by_name=True,
    about="News of the last three months in all languages.",
    spacing_s=5.0,
)


def _peertube_url(query: SearchQuery) -> str:
    return url_with("https://sepiasearch.org/api/v1/search/videos", search=query.text, count=RESULT_COUNT)


def _read_peertube(row: dict[str, Any]) -> EngineResult | None:
    return make_row(
        row["name"],
        row.get("url") or f"https://{(row.get('channel') or {}).get('host', 'sepiasearch.org')}/w/{quote(row['uuid'])}",
        row.get("description"),
        date=row.get("publishedAt"),
        source=clean_text((row.get("channel") or {}).get("displayName")) or None,
        facts={"duration": _duration(row.get("duration")), "views": row.get("views")},
    )


PEERTUBE = make_source(
    "peertube", "video", _peertube_url, json_parser(_read_peertube, "data"), by_name=True, about="Videos on PeerTube."
)

_INITIAL_DATA = re.compile(r"ytInitialData\s*=\s*(?=\{)")


def _youtube_url(query: SearchQuery) -> str:
    return url_with("https://www.youtube.com/results", search_query=query.text, hl=query.language[:2])


def _parse_youtube(snapshot: Snapshot, now: datetime) -> EngineResponse:
    """Parse the results page by the JSON data in its scripts."""
    if (refusal := find_refusal(snapshot)) is not None:
        return refusal
    text = snapshot_text(snapshot)
    found = _INITIAL_DATA.search(text)
    if found is None:
        is_consent = "consent.youtube.com" in text
        outcome = EngineOutcome.BLOCKED if is_consent else EngineOutcome.ERROR
        return EngineResponse(outcome, detail="consent" if is_consent else "layout_changed")
    try:
        data, _ = json.JSONDecoder().raw_decode(text, found.end())
        contents = data["contents"]["twoColumnSearchResultsRenderer"]["primaryContents"]["sectionListRenderer"]
        items = [
            item["videoRenderer"]
            for section in contents["contents"]
            for item in (section.get("itemSectionRenderer") or {}).get("contents", [])
            if "videoRenderer" in item
        ]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return EngineResponse(EngineOutcome.ERROR, detail="layout_changed")
    return build_response(items, _read_video)


def _read_video(row: dict[str, Any]) -> EngineResult | None:
    snippets = (row.get("detailedMetadataSnippets") or [{}])[0].get("snippetText")
    return make_row(
        _runs(row["title"]),
        f"https://www.youtube.com/watch?v={quote(row['videoId'])}",
        _runs(snippets),
        source=_runs(row.get("ownerText")) or None,
        key=f"youtube:{row['videoId']}",
        facts={
            "duration": _runs(row.get("lengthText")),
            "views": _runs(row.get("viewCountText")),
            "published": _runs(row.get("publishedTimeText")),
        },
    )


def _runs(value: object) -> str:
    """Join the text runs of a YouTube label."""
    if not isinstance(value, dict):
        return ""
    return value.get("simpleText") or "".join(str(run.get("text", "")) for run in value.get("runs") or [])


def _duration(seconds: object) -> str:
    return format_clock(seconds) if isinstance(seconds, int) else ""


YOUTUBE = make_source(
    "youtube", "video", _youtube_url, _parse_youtube, about="Videos on YouTube.", kind=EngineKind.PAGE, spacing_s=2.0
)

SOURCES = (STACK_EXCHANGE, HACKER_NEWS, LEMMY, GDELT, PEERTUBE, YOUTUBE)
