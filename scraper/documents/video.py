"""Find the transcript of a video on YouTube, and read the transcript.

The watch page has the response of the player as JSON, with one address for each caption track. That address gives XML:
one `text` element for each line, with its start in seconds. The text of a line has entities and markup of its own.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.documents.text_decoding import decode_text
from scraper.errors import NoContentError
from scraper.values.text import format_clock

_HOSTS = frozenset({"youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com"})
_SHORT_HOST = "youtu.be"
_PATHS = re.compile(r"/(?:shorts|live|embed|v)/([\w-]{11})")
_ID = re.compile(r"[\w-]{11}")
_PLAYER = re.compile(r"ytInitialPlayerResponse\s*=\s*(?=\{)")
_FORMAT = re.compile(r"&fmt=[^&]*")
_LINE = re.compile(r'<text start="([^"<>]{0,40})"[^<>]{0,200}>([^<]*)</text>')
_SECONDS = re.compile(r"\d{1,9}(?:\.\d{0,9})?")
_TAG = re.compile(r"<[^<>]{0,200}>")
_SENTENCE_END = (".", "!", "?", "…", "。", "！", "？")
_MAX_S = 1e6
_PARAGRAPH_S, _LONGEST_PARAGRAPH_S = 30.0, 90.0
"""Seconds of a paragraph: it ends after a sentence, or where it gets too long."""


@dataclass(frozen=True, slots=True)
class Video:
    """A video, as its watch page describes it."""

    title: str
    author: str
    seconds: int
    track_url: str = ""
    """Address of the best caption track; empty if the video has none."""
    track_name: str = ""
    problem: str = ""
    """Reason of YouTube why the video cannot be played; empty if it can."""


def find_watch_url(url: str) -> str | None:
    """Return the URL of the watch page of a video on YouTube; None for any other URL."""
    parts = urlsplit(url)
    host, video = parts.hostname or "", None
    if host == _SHORT_HOST:
        video = _ID.fullmatch(parts.path[1:])
    elif host in _HOSTS and parts.path == "/watch":
        video = _ID.fullmatch(parse_qs(parts.query).get("v", [""])[0])
    elif host in _HOSTS and (found := _PATHS.fullmatch(parts.path)):
        video = _ID.fullmatch(found[1])
    return f"https://www.youtube.com/watch?v={video[0]}" if video else None


def read_watch_page(page: str) -> Video | None:
    """Return the video of a watch page; None if the page has no response of the player."""
    found = _PLAYER.search(page)
    if found is None:
        return None
    try:
        player, _ = json.JSONDecoder().raw_decode(page, found.end())
        details, status = player.get("videoDetails") or {}, player.get("playabilityStatus") or {}
        captions = (player.get("captions") or {}).get("playerCaptionsTracklistRenderer") or {}
        track = _choose_track(captions.get("captionTracks") or [])
        can_play = status.get("status") == "OK"
        return Video(
            title=str(details.get("title") or ""),
            author=str(details.get("author") or ""),
            seconds=int(details.get("lengthSeconds") or 0),
            track_url=_FORMAT.sub("", str(track["baseUrl"])) if track else "",
            track_name=_label(track.get("name")) if track else "",
            problem="" if can_play else str(status.get("reason") or "no reason")[:200],
        )
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None


def _choose_track(tracks: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the track in the language that is spoken, written by people if there is one; else the first track."""
    usable = [track for track in tracks if _is_youtube(str(track.get("baseUrl", "")))]
    spoken = next((track["languageCode"] for track in usable if track.get("kind") == "asr"), None)
    in_language = [track for track in usable if track.get("languageCode") == spoken]
    return min(in_language or usable, key=lambda track: track.get("kind") == "asr", default=None)


def _is_youtube(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and parts.hostname in _HOSTS


def _label(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    return str(value.get("simpleText") or "".join(str(run.get("text", "")) for run in value.get("runs") or []))[:80]


def read(data: bytes, request: ParseRequest) -> ParsedDocument:
    """Return a transcript as paragraphs that begin with their time."""
    # The elements are flat and their text is escaped, so no XML parser is needed.
    source, warnings = decode_text(data, request)
    paragraphs: list[str] = []
    words: list[str] = []
    began = 0.0
    for line in _LINE.finditer(source):
        text = " ".join(_TAG.sub("", html.unescape(html.unescape(line[2]))).split())
        start = _seconds(line[1])
        if not text:
            continue
        since = start - began
        is_end = since >= _PARAGRAPH_S and bool(words) and words[-1].endswith(_SENTENCE_END)
        if words and (is_end or since >= _LONGEST_PARAGRAPH_S):
            paragraphs.append(f"[{format_clock(began)}] {' '.join(words)}")
            words = []
        if not words:
            began = start
        words.append(text)
    if words:
        paragraphs.append(f"[{format_clock(began)}] {' '.join(words)}")
    if not paragraphs:
        raise NoContentError("The transcript contains no text.", next_step="There is nothing to read in it.")
    return ParsedDocument("transcript", "\n\n".join(paragraphs), warnings=warnings)


def _seconds(value: str) -> float:
    return min(float(value), _MAX_S) if _SECONDS.fullmatch(value) else 0.0
