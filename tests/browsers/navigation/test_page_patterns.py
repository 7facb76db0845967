"""A page is waited for less where two like it did nothing more: and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from browsers.cdp.session import Connection, Session
from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.page_patterns import (
    CALM_S,
    ENOUGH_ALIKE,
    KNOWN_QUIET_S,
    WATCHED_AGAIN,
    PagePatterns,
    PageProgress,
)
from browsers.navigation.readiness_rules import QUIET_WITH_DATA_S, DomSample, QuietTimers

LOADED = DomSample("complete", CALM_S, 3, 5000, False, 3000, 900, True, True, "one program")


class SilentWire:
    """A wire to nobody."""

    flat = True

    def bind(self, *_: object) -> None: ...
    def send(self, *_: object) -> None: ...
    def close(self) -> None: ...


class Told:
    """A page as its looks and its traffic tell of it."""

    def __init__(
        self, habits: PagePatterns, look: DomSample = LOADED, asked: str = "https://shop.example/api/1"
    ) -> None:
        self.session = Session(Connection(SilentWire()), "tab")
        self.traffic = NetworkActivity(self.session)
        self.course = PageProgress(habits)
        self.look = look
        self._asked = 0
        self.ask(asked)

    def ask(self, url: str, kind: str = "Fetch") -> None:
        self._asked += 1
        request = {"requestId": str(self._asked), "type": kind, "request": {"url": url}}
        self.session.receive({"method": "Network.requestWillBeSent", "params": {**request, "initiator": {}}})
        self.session.receive({"method": "Network.loadingFinished", "params": request})

    def quiet_s(self, **more: object) -> float:
        """For how long it is to be quiet, after one more look."""
        self.look = replace(self.look, **more)  # type: ignore[arg-type]
        now = self.traffic.last_at + 5
        clock = QuietTimers(now, now - 5, now - 4, False)
        return self.course.follow(self.look, self.traffic, clock).quiet_with_data_s

    def ended(self) -> float:
        """The same for one that then counts as done."""
        quiet_s = self.quiet_s()
        self.course.end()
        return quiet_s


def known(pages: int = ENOUGH_ALIKE) -> PagePatterns:
    habits = PagePatterns()
    for _ in range(pages):
        assert Told(habits).ended() == QUIET_WITH_DATA_S
    return habits


def test_after_two_alike_that_did_nothing_more_the_next_is_waited_for_less() -> None:
    assert Told(known()).ended() == KNOWN_QUIET_S
    assert Told(known(1)).ended() == QUIET_WITH_DATA_S


def test_one_of_eight_is_still_waited_for_in_full() -> None:
    habits = known()
    waits = [Told(habits).ended() for _ in range(3 * WATCHED_AGAIN)]
    assert waits.count(QUIET_WITH_DATA_S) == 3


def test_pages_of_other_code_other_data_or_more_requests_are_not_alike() -> None:
    habits = known()
    assert Told(habits, replace(LOADED, likeness="another")).ended() == QUIET_WITH_DATA_S
    assert Told(habits, replace(LOADED, likeness="")).ended() == QUIET_WITH_DATA_S
    assert Told(habits, asked="https://shop.example/api/item/1/parts").ended() == QUIET_WITH_DATA_S
    asking = Told(habits)
    asking.ask("https://shop.example/api/2")
    assert asking.ended() == QUIET_WITH_DATA_S


@pytest.mark.parametrize("more", ["text", "request", "by scrolling"])
def test_where_one_did_more_after_it_was_calm_nobody_like_it_is_hurried(more: str) -> None:
    habits = known()
    restless = Told(habits)
    assert restless.quiet_s() == KNOWN_QUIET_S
    if more == "text":
        assert restless.quiet_s(contents=4) == QUIET_WITH_DATA_S
    elif more == "request":
        restless.ask("https://shop.example/api/2")
        assert restless.quiet_s() == QUIET_WITH_DATA_S
    else:
        restless.course.end()
        restless.course.did_more()
    for _ in range(WATCHED_AGAIN):
        assert Told(habits).ended() == QUIET_WITH_DATA_S


@pytest.mark.parametrize(
    "look",
    [
        replace(LOADED, quiet_s=CALM_S / 2),
        replace(LOADED, spinner=True),
        replace(LOADED, text_chars=20, height=900),
        replace(LOADED, wanted=False),
        replace(LOADED, ready_state="interactive"),
    ],
)
def test_a_page_that_is_not_calm_is_not_compared(look: DomSample) -> None:
    assert Told(known(), look).quiet_s() == QUIET_WITH_DATA_S


@pytest.mark.parametrize("kind", ["EventSource", "WebSocket", "Worker"])
def test_nor_is_one_that_hears_from_elsewhere(kind: str) -> None:
    page = Told(known())
    if kind == "EventSource":
        page.traffic.streams = 1
    elif kind == "WebSocket":
        page.traffic.sockets = 1
    else:
        page.traffic.workers = 1
    assert page.quiet_s() == QUIET_WITH_DATA_S


def test_a_look_is_taken_when_the_page_becomes_calm() -> None:
    page = Told(PagePatterns(), replace(LOADED, quiet_s=CALM_S / 4))
    page.quiet_s()
    assert page.course.pause_s == pytest.approx(CALM_S * 3 / 4)


def test_a_page_like_others_is_asked_for_more_when_it_is_taller_than_those_that_had_nothing() -> None:
    habits = known()
    watched = Told(habits)
    watched.ended()
    assert watched.course.known_height == 0
    for height in (3000, 2000):
        watched.course.nothing_below(height)
    like = Told(habits)
    assert like.course.known_height == 0, "nothing is known of it before it was looked at"
    like.ended()
    assert like.course.known_height == 3000
    other = Told(habits, replace(LOADED, likeness="another"))
    other.ended()
    assert other.course.known_height == 0


def test_of_pages_that_showed_more_to_who_scrolled_no_height_is_known() -> None:
    habits = known()
    first, second = Told(habits), Told(habits)
    first.ended()
    first.course.nothing_below(3000)
    first.course.did_more()
    second.ended()
    assert second.course.known_height == 0
