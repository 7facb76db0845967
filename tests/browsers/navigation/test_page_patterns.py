"""The wait is shorter only if two similar pages did nothing more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from browsers.cdp.session import Connection, Session
from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.readiness_rules import (
    FULL_WAIT_EVERY,
    IDLE_S,
    KNOWN_QUIET_S,
    MIN_SIMILAR_PAGES,
    QUIET_WITH_DATA_S,
    DomSample,
    PagePatterns,
    PageProgress,
    QuietTimers,
)
from tests.browsers.silent_transport import SilentTransport

LOADED = DomSample("complete", IDLE_S, 3, 5000, False, 3000, 900, True, True, "one program")


class FakePage:
    """A page described by its samples and its network events."""

    def __init__(
        self, patterns: PagePatterns, sample: DomSample = LOADED, url: str = "https://shop.example/api/1"
    ) -> None:
        self.session = Session(Connection(SilentTransport()), "tab")
        self.network = NetworkActivity(self.session)
        self.progress = PageProgress(patterns)
        self.sample = sample
        self._requests = 0
        self.ping(url)

    def ping(self, url: str, kind: str = "Fetch") -> None:
        self._requests += 1
        request = {"requestId": str(self._requests), "type": kind, "request": {"url": url}}
        self.session.receive({"method": "Network.requestWillBeSent", "params": {**request, "initiator": {}}})
        self.session.receive({"method": "Network.loadingFinished", "params": request})

    def quiet_s(self, **more: object) -> float:
        """Take one more sample and return the idle time that it requires."""
        self.sample = replace(self.sample, **more)  # type: ignore[arg-type]
        now = self.network.last_at + 5
        timers = QuietTimers(now, now - 5, now - 4, False)
        return self.progress.follow(self.sample, self.network, timers).quiet_with_data_s

    def ended(self) -> float:
        """Take one more sample of a page that then counts as ready."""
        quiet_s = self.quiet_s()
        self.progress.end()
        return quiet_s


def known(pages: int = MIN_SIMILAR_PAGES) -> PagePatterns:
    patterns = PagePatterns()
    for _ in range(pages):
        assert FakePage(patterns).ended() == QUIET_WITH_DATA_S
    return patterns


def test_wait_is_shorter_after_two_similar_idle_pages() -> None:
    assert FakePage(known()).ended() == KNOWN_QUIET_S
    assert FakePage(known(1)).ended() == QUIET_WITH_DATA_S


def test_one_of_eight_similar_pages_gets_the_full_wait() -> None:
    patterns = known()
    waits = [FakePage(patterns).ended() for _ in range(3 * FULL_WAIT_EVERY)]
    assert waits.count(QUIET_WITH_DATA_S) == 3


def test_pages_with_other_code_data_or_requests_are_not_similar() -> None:
    patterns = known()
    assert FakePage(patterns, replace(LOADED, code_hash="another")).ended() == QUIET_WITH_DATA_S
    assert FakePage(patterns, replace(LOADED, code_hash="")).ended() == QUIET_WITH_DATA_S
    assert FakePage(patterns, url="https://shop.example/api/item/1/parts").ended() == QUIET_WITH_DATA_S
    asking = FakePage(patterns)
    asking.ping("https://shop.example/api/2")
    assert asking.ended() == QUIET_WITH_DATA_S


@pytest.mark.parametrize("more", ["text", "request", "by scrolling"])
def test_wait_is_full_after_a_similar_page_did_more(more: str) -> None:
    patterns = known()
    did_more = FakePage(patterns)
    assert did_more.quiet_s() == KNOWN_QUIET_S
    if more == "text":
        assert did_more.quiet_s(contents=4) == QUIET_WITH_DATA_S
    elif more == "request":
        did_more.ping("https://shop.example/api/2")
        assert did_more.quiet_s() == QUIET_WITH_DATA_S
    else:
        did_more.progress.end()
        did_more.progress.did_more()
    for _ in range(FULL_WAIT_EVERY):
        assert FakePage(patterns).ended() == QUIET_WITH_DATA_S


@pytest.mark.parametrize(
    "sample",
    [
        replace(LOADED, quiet_s=IDLE_S / 2),
        replace(LOADED, spinner=True),
        replace(LOADED, text_chars=20, height=900),
        replace(LOADED, selector_matches=False),
        replace(LOADED, ready_state="interactive"),
    ],
)
def test_page_that_is_not_idle_is_not_compared(sample: DomSample) -> None:
    assert FakePage(known(), sample).quiet_s() == QUIET_WITH_DATA_S


@pytest.mark.parametrize("kind", ["EventSource", "WebSocket", "Worker"])
def test_page_with_a_push_source_is_not_compared(kind: str) -> None:
    page = FakePage(known())
    if kind == "EventSource":
        page.network.streams = 1
    elif kind == "WebSocket":
        page.network.sockets = 1
    else:
        page.network.workers = 1
    assert page.quiet_s() == QUIET_WITH_DATA_S


def test_next_sample_is_taken_when_the_page_becomes_idle() -> None:
    page = FakePage(PagePatterns(), replace(LOADED, quiet_s=IDLE_S / 4))
    page.quiet_s()
    assert page.progress.pause_s == pytest.approx(IDLE_S * 3 / 4)


def test_known_height_is_that_of_the_tallest_similar_page_without_lazy_content() -> None:
    patterns = known()
    watched = FakePage(patterns)
    watched.ended()
    assert watched.progress.known_height == 0
    for height in (3000, 2000):
        watched.progress.nothing_below(height)
    like = FakePage(patterns)
    assert like.progress.known_height == 0, "nothing is known of it before it was looked at"
    like.ended()
    assert like.progress.known_height == 3000
    other = FakePage(patterns, replace(LOADED, code_hash="another"))
    other.ended()
    assert other.progress.known_height == 0


def test_no_height_is_known_after_a_similar_page_with_lazy_content() -> None:
    patterns = known()
    first, second = FakePage(patterns), FakePage(patterns)
    first.ended()
    first.progress.nothing_below(3000)
    first.progress.did_more()
    second.ended()
    assert second.progress.known_height == 0
