"""The readiness rules, without a browser."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from browsers.navigation.network_activity import NetworkActivity
from browsers.navigation.readiness_rules import (
    SKIP_AFTER_S,
    DomSample,
    QuietTimers,
    ReadinessDecision,
    decide_readiness,
)
from tests.scraper.soon import soon

NOW = 1000.0
CALM = DomSample("complete", 5.0, 3, 5000, False, 3000, 900, True, True)
BLANK = replace(CALM, text_chars=10, height=900)


class Handlers:
    """Fake session that keeps the handlers, so that a test can send events to them."""

    def __init__(self) -> None:
        self.by_event: dict[str, Any] = {}

    def on(self, event: str, handler: Any) -> None:
        self.by_event[event] = handler


class Player:
    """Network activity with events from the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._handlers = Handlers()
        self._patch = monkeypatch
        self._patch.setattr(time, "monotonic", lambda: NOW - 60)
        self.network = NetworkActivity(self._handlers)  # type: ignore[arg-type]
        self._number = 0

    def ping(
        self,
        url: str,
        kind: str = "Fetch",
        seconds_ago: float = 10.0,
        *,
        ends: bool = False,
        breaks: bool = False,
        initiator: str = "script",
        redirected: bool = False,
    ) -> None:
        """Send the events of a request. With `redirected`, the last request continues."""
        self._number += not redirected
        self._patch.setattr(time, "monotonic", lambda: NOW - seconds_ago)
        request = {
            "requestId": str(self._number),
            "type": kind,
            "request": {"url": url},
            "initiator": {"type": initiator},
        }
        self._handlers.by_event["Network.requestWillBeSent"](request)
        if ends:
            self._handlers.by_event["Network.loadingFinished"](request)
        if breaks:
            self._handlers.by_event["Network.loadingFailed"](request)

    def socket(self) -> None:
        self._handlers.by_event["Network.webSocketCreated"]({})


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch) -> Player:
    return Player(monkeypatch)


def at(age_s: float = 10.0, *, forwarded: bool = False) -> QuietTimers:
    return QuietTimers(now=NOW, started_at=NOW - age_s, dom_ready_at=NOW - age_s, is_forwarded=forwarded)


def skipping() -> QuietTimers:
    return replace(at(), may_skip=True)


def test_remaining_idle_time_may_pass_in_virtual_time(player: Player) -> None:
    just_there = replace(CALM, quiet_s=SKIP_AFTER_S)
    assert decide_readiness(just_there, player.network, skipping()) is ReadinessDecision.SKIP
    assert decide_readiness(just_there, player.network, at()) is ReadinessDecision.WAIT
    assert (
        decide_readiness(replace(CALM, quiet_s=SKIP_AFTER_S / 2), player.network, skipping()) is ReadinessDecision.WAIT
    )


@pytest.mark.parametrize(
    "sample",
    [
        replace(BLANK, quiet_s=0.07),
        replace(CALM, quiet_s=0.07, spinner=True),
        replace(CALM, quiet_s=0.07, selector_matches=False),
    ],
)
def test_idle_time_is_not_skipped_while_content_is_expected(player: Player, sample: DomSample) -> None:
    assert decide_readiness(sample, player.network, skipping()) is ReadinessDecision.WAIT


@pytest.mark.parametrize("kind", ["request", "socket", "events", "worker"])
def test_idle_time_is_not_skipped_with_a_push_source(player: Player, kind: str) -> None:
    match kind:
        case "request":
            player.ping("https://a.example/data", ends=False)
        case "socket":
            player.socket()
        case "events":
            player.ping("https://a.example/events", "EventSource")
        case "worker":
            player.ping("blob:https://a.example/1", "Script", ends=True, initiator="other")
    assert decide_readiness(replace(CALM, quiet_s=0.07), player.network, skipping()) is ReadinessDecision.WAIT


def test_idle_page_is_ready(player: Player) -> None:
    assert decide_readiness(CALM, player.network, at()) is ReadinessDecision.DONE


def test_page_with_a_recent_change_is_not_ready(player: Player) -> None:
    assert decide_readiness(replace(CALM, quiet_s=0.05), player.network, at()) is ReadinessDecision.WAIT


def test_page_that_fetches_data_needs_more_idle_time(player: Player) -> None:
    player.ping("http://x/data", ends=True)
    assert decide_readiness(replace(CALM, quiet_s=0.15), player.network, at()) is ReadinessDecision.WAIT
    assert decide_readiness(replace(CALM, quiet_s=0.30), player.network, at()) is ReadinessDecision.DONE


def test_only_a_recent_request_delays_the_page(player: Player) -> None:
    player.ping("http://x/data", seconds_ago=0.5)
    assert decide_readiness(CALM, player.network, at()) is ReadinessDecision.WAIT
    old = Player(player._patch)
    old.ping("http://x/long-poll", seconds_ago=3.0)
    assert decide_readiness(CALM, old.network, at()) is ReadinessDecision.DONE


def test_images_and_analytics_never_delay_a_page(player: Player) -> None:
    player.ping("http://x/picture.png", "Image", 0.1)
    player.ping("http://www.google-analytics.com/collect", "Fetch", 0.1)
    assert decide_readiness(CALM, player.network, at()) is ReadinessDecision.DONE


def test_polling_does_not_delay_a_page_but_simultaneous_requests_do(player: Player) -> None:
    player.ping("http://x/poll?n=1", seconds_ago=1.7, ends=True)
    player.ping("http://x/poll?n=2", seconds_ago=0.9, ends=True)
    player.ping("http://x/poll?n=3", seconds_ago=0.1)
    assert decide_readiness(CALM, player.network, at()) is ReadinessDecision.DONE
    change, burst = (Player(player._patch) for _ in range(2))
    change.ping("http://x/state", seconds_ago=0.9, ends=True)
    change.ping("http://x/state", seconds_ago=0.1)
    assert decide_readiness(CALM, change.network, at()) is ReadinessDecision.WAIT
    for part in range(5):
        burst.ping(f"http://x/part?n={part}", seconds_ago=0.1)
    assert decide_readiness(CALM, burst.network, at()) is ReadinessDecision.WAIT


def test_redirected_request_leaves_its_first_path(player: Player) -> None:
    for number in range(2):
        player.ping(f"http://x/login?n={number}", seconds_ago=0.9)
        player.ping(f"http://x/data?n={number}", seconds_ago=0.9, redirected=True, ends=True)
    player.ping("http://x/login?n=2", seconds_ago=0.1)
    assert player.network.is_polled("http://x/login")
    assert not player.network.in_flight()[1:]


def test_many_requests_are_counted_in_constant_time(player: Player) -> None:
    with soon():
        for number in range(10_000):
            player.ping(f"http://x/{number}", seconds_ago=0.1)
    assert decide_readiness(CALM, player.network, at()) is ReadinessDecision.WAIT


def test_repeated_requests_count_again_after_new_content(player: Player) -> None:
    player.ping("http://x/part?n=1", seconds_ago=0.9, ends=True)
    player.ping("http://x/part?n=2", seconds_ago=0.1)
    player.network.on_content()
    assert decide_readiness(CALM, player.network, at()) is ReadinessDecision.WAIT


@pytest.mark.parametrize("sample", [BLANK, replace(CALM, spinner=True)])
def test_timers_of_an_empty_or_loading_page_are_run_ahead(player: Player, sample: DomSample) -> None:
    assert decide_readiness(sample, player.network, at(0.5)) is ReadinessDecision.FORWARD
    assert decide_readiness(sample, player.network, at(0.5, forwarded=True)) is ReadinessDecision.DONE


def test_timers_are_not_run_ahead_with_an_open_stream(player: Player) -> None:
    player.socket()
    assert decide_readiness(BLANK, player.network, at(1.3)) is not ReadinessDecision.FORWARD
    assert decide_readiness(BLANK, player.network, at(5.0)) is ReadinessDecision.DONE


def test_a_tall_page_without_text_is_not_thin(player: Player) -> None:
    assert decide_readiness(replace(BLANK, height=2000), player.network, at()) is ReadinessDecision.DONE


def test_blocked_parser_does_not_delay_a_page_with_text(player: Player) -> None:
    loading = replace(CALM, ready_state="loading")
    assert decide_readiness(loading, player.network, at(1.0)) is ReadinessDecision.WAIT
    assert decide_readiness(loading, player.network, at(2.0)) is ReadinessDecision.DONE


def test_broken_document_is_ready_after_idle_time(player: Player) -> None:
    player.ping("http://x/", "Document", breaks=True)
    assert player.network.is_broken("1")
    broken = replace(at(), broken=True)
    loading = replace(BLANK, ready_state="loading", quiet_s=0.9)
    assert decide_readiness(loading, player.network, broken) is ReadinessDecision.WAIT
    assert decide_readiness(replace(loading, quiet_s=1.1), player.network, broken) is ReadinessDecision.FORWARD
    assert decide_readiness(replace(loading, quiet_s=1.1), player.network, at()) is ReadinessDecision.WAIT


def test_only_a_document_that_failed_is_broken(player: Player) -> None:
    player.ping("http://x/", "Document")
    player.ping("http://x/whole", "Document", ends=True)
    player.ping("http://x/data", breaks=True)
    assert not any(player.network.is_broken(name) for name in ("1", "2", "3"))


def test_page_is_not_ready_before_the_selector_matches(player: Player) -> None:
    assert decide_readiness(replace(CALM, selector_matches=False), player.network, at()) is ReadinessDecision.WAIT
