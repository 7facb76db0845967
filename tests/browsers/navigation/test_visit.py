"""One visit in a real browser."""

from __future__ import annotations

import asyncio
import json

import pytest
from playwright.async_api import Browser

from browsers import Browsers, Mode, Request, Snapshot, Tier, errors
from browsers.model import VisitLimits
from browsers.navigation import response as response_module
from browsers.navigation import visit as visit_module
from browsers.scripts import MARK_HIDDEN
from tests.browsers.visits import PATIENCE_S, always, marks, never, text_of, until, visit
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def test_peek_returns_the_response_and_runs_no_script(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/spa/1", Mode.PEEK)
    assert not snapshot.rendered
    assert snapshot.status == 200
    assert snapshot.media_type == "text/html"
    assert snapshot.body.decode() == snapshot.html
    assert marks(snapshot) == 0


async def test_script_page_is_rendered_with_one_request(browsers: Browsers, site: Site) -> None:
    before = site.hits("/spa/7")
    snapshot = await visit(browsers, site, "/spa/7", Mode.AUTO)
    assert snapshot.rendered
    assert marks(snapshot) == 60
    assert site.hits("/spa/7") == before + 1


async def test_sufficient_response_is_not_rendered(browsers: Browsers, site: Site) -> None:
    seen: list[Snapshot] = []

    async def enough(peeked: Snapshot) -> bool:
        seen.append(peeked)
        return True

    snapshot = await browsers.visit(Request(site.url("/static/1")), enough)
    assert not snapshot.rendered
    assert marks(seen[0]) == marks(snapshot) == 60


async def test_unrendered_response_is_returned_at_the_deadline(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[asyncio.Timeout] = []
    timeout_at = asyncio.timeout_at

    def recording(when: float) -> asyncio.Timeout:
        limits.append(timeout_at(when))
        return limits[-1]

    async def undecided(_: Snapshot) -> bool:
        # End the visit's time now, after the page was served, however long that took.
        limits[-1].reschedule(asyncio.get_running_loop().time())
        await asyncio.sleep(60)
        return True

    monkeypatch.setattr(asyncio, "timeout_at", recording)
    snapshot = await browsers.visit(Request(site.url("/static/1"), deadline_s=60.0), undecided)
    assert (snapshot.rendered, snapshot.complete, marks(snapshot)) == (False, False, 60)


async def test_unrendered_response_is_returned_if_the_renderer_does_not_answer(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object, **__: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(visit_module, "capture_dom", hang)
    before = site.hits("/static/8")
    snapshot = await visit(browsers, site, "/static/8", Mode.AUTO)
    assert (snapshot.rendered, snapshot.complete, marks(snapshot)) == (False, False, 60)
    assert site.hits("/static/8") == before + 1


async def test_compressed_page_is_peeked_and_rendered(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/slow-body", Mode.AUTO)
    assert snapshot.rendered
    assert marks(snapshot) == 20
    assert len(snapshot.body) > 1000


async def test_redirects_are_followed_and_reported(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/redirects/4", Mode.PEEK)
    assert snapshot.requested_url == site.url("/redirects/4")
    assert snapshot.url != snapshot.requested_url
    assert {hop.status for hop in snapshot.hops} <= {301, 302, 303, 307, 308}
    assert snapshot.hops[-1].location == snapshot.url
    assert marks(snapshot) == 10


async def test_url_is_that_of_the_page_after_history_changes(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/pushstate")
    assert (snapshot.url, snapshot.hops) == (site.url("/pushed/here"), ())


async def test_endless_redirect_is_an_error(browsers: Browsers, site: Site) -> None:
    with pytest.raises(errors.TooManyRedirectsError, match="redirects more than 10 times"):
        await visit(browsers, site, "/redirect-loop")


async def test_only_http_and_https_are_visited(browsers: Browsers) -> None:
    for url in ("file:///etc/passwd", "ftp://site.example/", "chrome://version", "javascript:alert(1)", "x"):
        with pytest.raises(errors.BadSchemeError):
            await browsers.visit(Request(url))


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/document/data.json", "application/json"),
        ("/document/log.pdf", "application/pdf"),
        ("/document/picture.png", "image/png"),
        ("/document/notes.txt", "text/plain"),
        ("/document/bytes.bin", "application/octet-stream"),
    ],
)
async def test_documents_are_read_not_rendered(browsers: Browsers, site: Site, path: str, media_type: str) -> None:
    snapshot = await visit(browsers, site, path, Mode.RENDER)
    assert snapshot.media_type == media_type
    assert not snapshot.rendered
    assert snapshot.body


@pytest.mark.parametrize("status", [204, 304, 404, 410, 429, 500, 503])
async def test_every_status_is_reported(browsers: Browsers, site: Site, status: int) -> None:
    snapshot = await visit(browsers, site, f"/status/{status}", Mode.AUTO)
    assert snapshot.status == status


async def test_endless_body_is_cut_at_the_deadline(
    browsers: Browsers, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Reserve all but two seconds of the visit when its response arrives, however long that took.
    monkeypatch.setattr(visit_module, "CAPTURE_RESERVE_S", 60.0)
    monkeypatch.setattr(visit_module, "MIN_READINESS_S", 2.0)
    snapshot = await visit(browsers, site, "/endless", Mode.PEEK, deadline_s=60.0)
    assert snapshot.truncated
    assert marks(snapshot) == 10


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the limit for bodies, and give the browser much time to deliver received data."""
    monkeypatch.setattr(visit_module, "BODY_LIMIT_S", 2.0)
    monkeypatch.setattr(response_module, "DELIVERY_S", 20.0)


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("coded", ["", "?as=chunks", "?as=gzip"])
async def test_received_part_of_a_stalled_body_is_returned(browsers: Browsers, site: Site, coded: str) -> None:
    snapshot = await visit(browsers, site, f"/stalls{coded}", Mode.AUTO)
    assert (snapshot.truncated, snapshot.rendered, marks(snapshot)) == (True, False, 10)


@pytest.mark.usefixtures("hurry")
async def test_body_without_any_byte_is_an_error(browsers: Browsers, site: Site) -> None:
    for coded in ("", "&as=chunks"):
        with pytest.raises(errors.DeadlineExceededError, match=r"sent only \d+ bytes"):
            await visit(browsers, site, f"/stalls?none=1{coded}", Mode.PEEK)


@pytest.mark.parametrize("mode", [Mode.PEEK, Mode.AUTO])
async def test_compressed_body_of_a_broken_connection_is_truncated(browsers: Browsers, site: Site, mode: Mode) -> None:
    snapshot = await visit(browsers, site, "/short-gzip", mode)
    assert (snapshot.truncated, snapshot.rendered, marks(snapshot)) == (True, False, 10)


async def test_body_without_its_last_chunk_is_truncated(browsers: Browsers, site: Site) -> None:
    assert (await visit(browsers, site, "/cut-chunks", Mode.PEEK)).truncated
    assert not (await visit(browsers, site, "/big?mb=1", Mode.PEEK)).truncated


async def test_compressed_body_with_its_uncompressed_length_is_complete(browsers: Browsers, site: Site) -> None:
    assert not (await visit(browsers, site, "/long-gzip", Mode.PEEK)).truncated
    snapshot = await visit(browsers, site, "/long-gzip", Mode.AUTO)
    assert (snapshot.truncated, snapshot.rendered, marks(snapshot)) == (False, True, 10)


@pytest.mark.parametrize("path", ["/stalls", "/short", "/stalls?as=chunks"])
async def test_rendered_page_without_its_end_is_not_complete(browsers: Browsers, site: Site, path: str) -> None:
    captured: list[int] = []
    # Once in a hundred times Chromium passes nothing of a truncated document to its parser.
    while len(captured) < 3 and 10 not in captured:
        snapshot = await visit(browsers, site, path, Mode.RENDER)
        assert (snapshot.rendered, snapshot.complete) == (True, False)
        captured.append(marks(snapshot))
    assert captured[-1] == 10


@pytest.mark.parametrize("path", ["/bad-gzip", "/bad-chunks"])
async def test_unreadable_document_does_not_delay_its_visit(browsers: Browsers, site: Site, path: str) -> None:
    # Waiting for more data would end at the deadline, without a response.
    async with asyncio.timeout(PATIENCE_S):
        snapshot = await visit(browsers, site, path, deadline_s=600.0, limits=VisitLimits(readiness_s=500.0))
    assert (snapshot.html, snapshot.complete) == ("", False)


async def test_a_compression_bomb_is_cut_at_the_limit(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/bomb", Mode.AUTO)
    assert snapshot.truncated
    assert not snapshot.rendered
    assert len(snapshot.body) == 16 * 1024 * 1024


async def test_page_above_the_render_limit_is_stopped(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/big?mb=3", limits=VisitLimits(render_bytes=300_000))
    assert (snapshot.rendered, snapshot.truncated, snapshot.complete) == (True, True, False)


async def test_a_site_that_never_answers_ends_at_the_deadline(browsers: Browsers, site: Site) -> None:
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(errors.DeadlineExceededError, match=r"did not answer within \d+ s"):
            await visit(browsers, site, "/never", deadline_s=2.0)


async def test_visit_waits_for_the_selector(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/slow-xhr", wait="p:nth-of-type(5)")
    assert marks(snapshot) == 10


async def test_json_responses_are_returned_on_request(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/spa/1", json_responses=True)
    assert any("MARK-spa-5" in response.text for response in snapshot.json_responses)
    assert not (await visit(browsers, site, "/spa/1")).json_responses


async def test_request_headers_and_language_reach_the_site(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/headers", Mode.PEEK, headers={"If-None-Match": '"abc"'}, language="de-DE")
    captured = text_of(snapshot).lower()
    assert "if-none-match" in captured
    assert "de-de,de;q=0.9" in captured.replace(" ", "")


async def test_requests_with_own_headers_keep_the_order_of_chrome(browsers: Browsers, site: Site) -> None:
    plain = header_names(await visit(browsers, site, "/headers?plain", Mode.PEEK))
    validators = {"If-None-Match": '"abc"', "If-Modified-Since": "Wed, 21 Oct 2015 07:28:00 GMT"}
    conditional = header_names(await visit(browsers, site, "/headers?conditional", Mode.PEEK, headers=validators))
    assert {name.lower() for name in validators} <= set(conditional)
    assert [name for name in conditional if name in plain] == plain
    posted = header_names(await visit(browsers, site, "/headers?posted", Mode.PEEK, method="POST", form={"q": "1"}))
    assert [name for name in posted if name in plain] == [name for name in plain if name in posted]


def header_names(snapshot: Snapshot) -> list[str]:
    """Return the names of the request's headers in lower case, as the site received them."""
    return [name.lower() for name, _ in json.loads(snapshot.body)["headers"]]


async def test_frames_and_shadow_roots_are_captured_with_their_position(browsers: Browsers, site: Site) -> None:
    framed = await visit(browsers, site, "/frames")
    assert marks(framed) == 30
    for frame in framed.frames:
        assert f'data-x-frame="{frame.mark}"' in framed.html
    shadowed = await visit(browsers, site, "/shadow")
    assert marks(shadowed) == 30
    assert 'shadowrootmode="closed"' in shadowed.html


async def test_the_full_tier_reads_frames_of_other_processes(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/frames", tier=Tier.FULL, deadline_s=60.0)
    assert snapshot.tier is Tier.FULL
    assert marks(snapshot) == 30


async def test_forms_are_posted(browsers: Browsers, site: Site) -> None:
    snapshot = await visit(browsers, site, "/headers", Mode.PEEK, method="POST", form={"q": "two words", "n": "ü"})
    assert "application/x-www-form-urlencoded" in text_of(snapshot)


async def test_two_hundred_simultaneous_visits_succeed_or_fail_as_busy(browsers: Browsers, site: Site) -> None:
    async def one(number: int) -> str:
        host = f"host{number % 12 + 1}.example"
        try:
            request = Request(site.url(f"/static/{number}", host), deadline_s=240.0)
            return "ok" if marks(await browsers.visit(request, always)) == 60 else "thin"
        except errors.BusyError as busy:
            return "busy" if busy.retry_after_s >= 1 else "no time"

    outcomes = await asyncio.gather(*(one(number) for number in range(200)))
    assert set(outcomes) == {"ok", "busy"}
    assert browsers.status().active == browsers.status().queued == 0


async def test_canceled_visit_releases_its_tab(browsers: Browsers, site: Site) -> None:
    running = asyncio.create_task(browsers.visit(Request(site.url("/never"), mode=Mode.RENDER), never))
    await until(lambda: site.open("/never") > 0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert browsers.status().rendering == 0
    await until(lambda: site.open("/never") == 0)
    await until(lambda: all(browser.lent == 0 for browser in browsers.status().browsers))


async def test_styles_that_change_what_a_text_says_are_marked(plain_browser: Browser) -> None:
    page = await plain_browser.new_page()
    await page.set_content(
        "<style>.old{text-decoration:line-through}.job{white-space:pre-line}.at{display:inline-flex}"
        ".up{vertical-align:super}ol ol{list-style-type:lower-roman}</style><ol><li>x<ol class=deep><li>y</ol></ol>"
        "<p><span class=old>9</span> <s>8</s> 7</p><div class=job id=a>one\ntwo</div><div class=job>one</div>"
        "<p>5 m<span class=up>2</span></p>to <div class=at>@joe</div>"
    )
    await page.evaluate(f"({MARK_HIDDEN})(10000)")
    marked = await page.evaluate(
        "[...document.querySelectorAll('[data-x-text]')].map((one) => [one.className, one.dataset.xText])"
    )
    assert marked == [["deep", "i"], ["old", "struck"], ["job", "lines"], ["up", "raised"], ["at", "inline"]]
