"""Read the stored answers of sources: recordings of real ones, and short ones that were made by hand."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from benchmarks.common.command_line import Figures, print_table
from browsers.model import Snapshot
from scraper.documents.media import read_watch_page
from scraper.engines.model import SearchQuery
from scraper.engines.sources import SOURCES
from tests.scraper.engines.sources.recorded_answers import RECORDED

_FILES = {"crates": "crates_io"}
"""File of a source whose name differs."""
_RECORDINGS = {
    "hackernews": "hackernews-algolia.json",
    "stackexchange": "gaea-questions.json",
    "rubygems": "gaea-gems.json",
}
_NOW = datetime(2026, 5, 1, tzinfo=UTC)
_SEARCHES = re.compile(r"/works\?query|/paper/search\?|/api/v1/search\?")


def measure_sources(folder: Path) -> Figures:
    """Count the sources of which a recorded answer is read, and those of which only a made one is.

    Recordings are those of the corpus and of the tests.
    """
    rows = []
    for name in SOURCES:
        real = [count_rows(name, body) for body in _iter_recordings(folder / "real", name)]
        made = [count_rows(name, body) for body in _iter_made(folder, name)]
        rows.append((name, sum(map(bool, real)), len(real), sum(map(bool, made)), len(made)))
    videos = list(_read_videos(folder / "real"))
    print_table("Stored answers of sources", ("source", "read", "recordings", "read", "made answers"), rows)
    recorded = sum(bool(real) for _, real, _, _, _ in rows)
    return {
        "sources.read": recorded,
        "sources.recorded": recorded,
        "sources.made": sum(bool(made and not real) for _, real, _, made, _ in rows),
        "sources.all": len(SOURCES),
        "sources.videos.read": sum(map(bool, videos)),
        "sources.videos.all": len(videos),
    }


def count_rows(name: str, body: bytes) -> int:
    """Return the number of results in an answer."""
    url = SOURCES[name].build_request(SearchQuery("tide"), _NOW).url
    snapshot = Snapshot(url, url, 200, body=body, html=body.decode("utf-8", "replace"))
    return len(SOURCES[name].parse(snapshot, _NOW).results)


def _read_videos(folder: Path) -> Iterator[bool]:
    """Yield for each recorded response of the player if its track, or the reason why there is none, is read."""
    for file in sorted(folder.glob("youtube-*.innertube.json.static")):
        text = file.read_text(encoding="utf-8")
        player = json.loads(text)
        tracks = (player.get("captions") or {}).get("playerCaptionsTracklistRenderer", {}).get("captionTracks")
        video = read_watch_page(f"<script>var ytInitialPlayerResponse = {text};</script>")
        can_play = player["playabilityStatus"]["status"] == "OK"
        yield video is not None and bool(video.track_url) == bool(tracks) and bool(video.problem) != can_play


def _iter_made(folder: Path, name: str) -> Iterator[bytes]:
    for part in ("shapes", "shapes2"):
        for suffix in ("json", "xml"):
            file = folder / part / f"{_FILES.get(name, name)}.{suffix}"
            if file.exists():
                yield file.read_bytes()


def _iter_recordings(folder: Path, name: str) -> Iterator[bytes]:
    """Yield recorded answers to searches; those to other requests are left out."""
    if name in RECORDED:
        yield RECORDED[name].encode()
    for file in sorted(folder.glob(f"{name}-*.yaml")):
        for exchange in yaml.safe_load(file.read_text(encoding="utf-8"))["interactions"]:
            response = exchange["response"]
            status = response.get("status_code") or response["status"]["code"]
            body = response["content"] if "content" in response else response["body"]["string"]
            if _SEARCHES.search(exchange["request"]["uri"]) and status == 200:
                data = body if isinstance(body, bytes) else str(body).encode()
                yield gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    if name in _RECORDINGS:
        stored: Any = json.loads((folder / _RECORDINGS[name]).read_text(encoding="utf-8"))
        replies = [one["reply"] for one in stored if "reply" in one] if name == "hackernews" else [stored]
        for reply in replies:
            if not isinstance(reply, dict) or name != "hackernews" or "hits" in reply:
                yield json.dumps(reply).encode()
