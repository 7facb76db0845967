"""Videos: URLs of watch pages, caption tracks of a page, and transcripts as YouTube sends them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scraper.documents.dispatcher import dispatch
from scraper.documents.media import Video, find_watch_url, read_watch_page
from scraper.documents.model import ParseRequest
from scraper.documents.sniff import DocumentKind, sniff_kind
from scraper.errors import NoContentError
from tests.growth import Hostile, hostile_inputs

WATCH = "https://www.youtube.com/watch?v=aBcDeFgHi-_"


@pytest.mark.parametrize(
    "url",
    [
        WATCH,
        "https://youtu.be/aBcDeFgHi-_?t=5",
        "https://m.youtube.com/watch?app=desktop&v=aBcDeFgHi-_&list=a",
        "https://www.youtube.com/shorts/aBcDeFgHi-_",
        "https://www.youtube.com/live/aBcDeFgHi-_?feature=share",
        "https://www.youtube.com/embed/aBcDeFgHi-_",
    ],
)
def test_every_url_of_a_video_leads_to_its_watch_page(url: str) -> None:
    assert find_watch_url(url) == WATCH


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/",
        "https://www.youtube.com/watch",
        "https://www.youtube.com/watch?v=short",
        "https://www.youtube.com/@channel/videos",
        "https://youtube.com.evil.example/watch?v=aBcDeFgHi-_",
        "https://evil.example/watch?v=aBcDeFgHi-_",
        "https://youtu.be/",
    ],
)
def test_other_urls_are_no_videos(url: str) -> None:
    assert find_watch_url(url) is None


def track(code: str, kind: str | None = None, host: str = "www.youtube.com") -> dict[str, Any]:
    name = {"runs": [{"text": code.upper() + (" (auto-generated)" if kind else "")}]}
    base = f"https://{host}/api/timedtext?v=aBcDeFgHi-_&lang={code}&kind={kind}&fmt=srv3"
    found = {"baseUrl": base, "name": name, "vssId": f".{code}", "languageCode": code, "isTranslatable": True}
    return found | ({"kind": kind} if kind else {})


def page(tracks: list[dict[str, Any]], status: dict[str, Any] | None = None) -> str:
    player = {
        "playabilityStatus": status or {"status": "OK"},
        "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": tracks, "audioTracks": []}},
        "videoDetails": {"videoId": "aBcDeFgHi-_", "title": "Tides", "lengthSeconds": "316", "author": "Ann Sea"},
    }
    return f"<html><script>var ytInitialPlayerResponse = {json.dumps(player)};var meta = 1;</script></html>"


@pytest.mark.parametrize(
    ("tracks", "name"),
    [
        ([track("de"), track("en", "asr"), track("en")], "EN"),
        ([track("de"), track("en", "asr")], "EN (auto-generated)"),
        ([track("de"), track("en")], "DE"),
        ([track("en", host="evil.example"), track("de")], "DE"),
    ],
)
def test_the_track_in_the_spoken_language_by_people_comes_first(tracks: list[dict[str, Any]], name: str) -> None:
    video = read_watch_page(page(tracks))
    assert video is not None and video.track_name == name
    assert video.track_url.startswith("https://www.youtube.com/api/timedtext?") and "fmt=" not in video.track_url


def test_a_video_without_captions_has_no_track() -> None:
    assert read_watch_page(page([])) == Video("Tides", "Ann Sea", 316)
    assert read_watch_page(page([track("en", host="evil.example")])) == Video("Tides", "Ann Sea", 316)


def test_a_video_that_cannot_be_played_has_the_reason() -> None:
    video = read_watch_page(page([], {"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm you’re not a bot"}))
    assert video is not None and video.problem == "Sign in to confirm you’re not a bot"


@pytest.mark.parametrize("player", ["", "{", "[]", "null", '{"captions": 5}', "[" * 100_000])
def test_other_pages_have_no_video(player: str) -> None:
    assert read_watch_page(f"<script>ytInitialPlayerResponse = {player};</script>") is None


def test_a_video_without_details_has_no_track() -> None:
    video = read_watch_page('<script>ytInitialPlayerResponse = {"videoDetails": []};</script>')
    assert video == Video("", "", 0, problem="no reason")


def transcript(*lines: tuple[float, str]) -> bytes:
    texts = "".join(f'<text start="{start}" dur="1.5">{text}</text>' for start, text in lines)
    return f'<?xml version="1.0" encoding="utf-8" ?><transcript>{texts}</transcript>'.encode()


def test_a_transcript_is_paragraphs_with_their_times() -> None:
    data = transcript(
        (0, "The tide &amp;amp; the moon:"), (4.2, "it&amp;#39;s &lt;i&gt;high&lt;/i&gt;\nnow."), (20, ""),
        (31, "Later it"), (34, "falls."), (3_700, "The end"),
    )  # fmt: skip
    assert sniff_kind(data) is DocumentKind.TRANSCRIPT
    parsed = dispatch(data, ParseRequest())
    assert parsed.format == "transcript"
    assert (
        parsed.markdown == "[0:00] The tide & the moon: it's high now.\n\n[0:31] Later it falls.\n\n[1:01:40] The end"
    )


def test_speech_without_sentences_is_divided_too() -> None:
    parsed = dispatch(transcript(*((10 * n, f"word {n}") for n in range(30))), ParseRequest())
    assert [part.partition("]")[0] for part in parsed.markdown.split("\n\n")] == ["[0:00", "[1:30", "[3:00", "[4:30"]


@pytest.mark.parametrize("start", ["", "x", "-5", "1e999", "nan"])
def test_a_start_that_is_no_time_loses_no_text(start: str) -> None:
    data = f'<transcript><text start="{start}">Words</text></transcript>'.encode()
    assert dispatch(data, ParseRequest()).markdown.endswith("] Words")


def test_a_transcript_without_text_is_an_error() -> None:
    with pytest.raises(NoContentError):
        dispatch(transcript((0, "")), ParseRequest())


def test_other_xml_is_no_transcript() -> None:
    assert sniff_kind(b"<transcript><line>Words</line></transcript>") is DocumentKind.XML


@hostile_inputs(
    {
        "lines": (200_000, lambda n: transcript(*((at, "word") for at in range(n)))),
        "one line": (2_000_000, lambda n: transcript((0, "word " * (n // 5)))),
        "marks": (500_000, lambda n: transcript((0, "&lt;" * n))),
    }
)
def test_hostile_transcripts_are_read_soon(hostile: Hostile[bytes]) -> None:
    hostile.run(lambda data: dispatch(data, ParseRequest()), limit_s=10)
