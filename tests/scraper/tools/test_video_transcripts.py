"""`read_doc` of a video on YouTube, on a copy of its watch page and its captions, over TLS in a real browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from scraper.services import Services
from scraper.settings import Settings
from scraper.tools.model import ToolAnswer
from tests.scraper.documents.test_video import page, track, transcript
from tests.scraper.tools.calls import call_tool
from tests.site.certificate import server_identity

pytestmark = pytest.mark.browser

HOSTS = ("www.youtube.com", "youtu.be")
LINES = transcript((0, "The tide comes in twice a day."), (40, "The moon is the reason for it."))
ABOUT = "<h1>Tides</h1><p>" + "A video about the sea, the moon and the tide, for all who live on the coast. " * 9
PAGES = {
    "withCaption": page([track("en", "asr")]),
    "noCaptions_": page([]),
    "emptyTrack_": page([track("xx")]),
    "notPlayable": page([], {"status": "ERROR", "reason": "This video is unavailable"}),
}


async def watch(request: web.Request) -> web.Response:
    return web.Response(
        text=PAGES[request.query["v"]].replace("</html>", f"<body>{ABOUT}</html>"), content_type="text/html"
    )


async def timed_text(request: web.Request) -> web.Response:
    # YouTube sends an empty response to programs that it does not take for its player.
    return web.Response(body=LINES if request.query["lang"] == "en" else b"", content_type="text/xml")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    context, key_pin = server_identity(HOSTS)
    site = web.Application()
    site.router.add_get("/watch", watch)
    site.router.add_get("/api/timedtext", timed_text)
    runner = web.AppRunner(site, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    hosts = tuple((host, "127.0.0.1", runner.addresses[0][1]) for host in HOSTS)
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), test_hosts=hosts, test_key_pin=key_pin)
    async with Services.open(settings) as opened:
        yield opened
    await runner.cleanup()


async def read(app: Services, source: str, **arguments: Any) -> ToolAnswer:
    return await call_tool(app, "read_doc", source=source, **arguments)


@pytest.mark.parametrize("url", ["https://www.youtube.com/watch?v=withCaption&t=4s", "https://youtu.be/withCaption"])
async def test_a_video_is_read_as_its_transcript(app: Services, url: str) -> None:
    answer = await read(app, url, format="json")
    assert isinstance(answer.structured, dict), answer.text
    assert answer.structured["title"] == "Tides" and answer.structured["format"] == "transcript"
    assert answer.structured["content"] == (
        "# Tides\n\nAnn Sea, 5:16, EN (auto-generated)\n\n"
        "[0:00] The tide comes in twice a day.\n\n[0:40] The moon is the reason for it."
    )


async def test_a_question_finds_its_passage_in_a_transcript(app: Services) -> None:
    answer = await read(
        app, "https://www.youtube.com/watch?v=withCaption", question="Why is there a tide? moon", tokens=100
    )
    assert "The moon is the reason for it." in answer.text


@pytest.mark.parametrize(
    ("video", "reason"),
    [
        ("noCaptions_", "it has no transcript"),
        ("emptyTrack_", "it could not be loaded"),
        ("notPlayable", "YouTube does not play it (This video is unavailable)"),
    ],
)
async def test_a_video_without_a_transcript_is_its_page_with_a_warning(app: Services, video: str, reason: str) -> None:
    answer = await read(app, f"https://www.youtube.com/watch?v={video}", format="json")
    assert isinstance(answer.structured, dict), answer.text
    assert "A video about the sea" in answer.structured["content"]
    assert any(f"The transcript of the video is missing: {reason}." in one for one in answer.structured["warnings"])
