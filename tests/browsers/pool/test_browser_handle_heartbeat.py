"""Detection of a browser that does not respond."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from browsers.cdp.session import Connection, Message
from browsers.pool import browser_handle
from browsers.pool.browser_handle import MAX_MISSED_PROBES, Heartbeat
from tests.browsers.silent_transport import SilentTransport


class PatientTransport(SilentTransport):
    """Transport to a browser that answers when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.connection = Connection(self)
        self.heartbeat = Heartbeat(self.connection)

    @property
    def requests(self) -> list[str]:
        """Return the methods of the messages to the browser."""
        return [message["method"] for message in self.sent]

    def bind(self, on_message: Callable[[str | None, Message, int], None], on_lost: Callable[[], None]) -> None:
        """Keep the handler of messages."""
        self._on_message = on_message

    def speak(self) -> None:
        """Send a message that is not the answer to the probe."""
        self._on_message("a tab", {"method": "Network.dataReceived"}, 0)


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> PatientTransport:
    monkeypatch.setattr(browser_handle, "PROBE_INTERVAL_S", 0.0)
    return PatientTransport()


async def test_browser_has_time_to_answer_a_probe(browser: PatientTransport) -> None:
    assert browser.heartbeat.is_responsive
    browser.heartbeat.probe()
    assert (browser.requests, browser.heartbeat.is_responsive) == (["Browser.getVersion"], True)


async def test_browser_without_answer_until_the_next_probe_is_unresponsive(browser: PatientTransport) -> None:
    browser.heartbeat.probe()
    browser.heartbeat.probe()
    assert (browser.heartbeat.is_responsive, browser.heartbeat.is_lost) == (False, False)
    for _ in range(MAX_MISSED_PROBES):
        browser.heartbeat.probe()
    assert browser.heartbeat.is_lost


async def test_any_message_resets_the_missed_probes(browser: PatientTransport) -> None:
    for _ in range(MAX_MISSED_PROBES + 1):
        browser.heartbeat.probe()
    browser.speak()
    assert (browser.heartbeat.is_responsive, browser.heartbeat.is_lost) == (True, False)
    browser.heartbeat.probe()
    assert browser.heartbeat.is_responsive


async def test_probes_are_not_sent_before_their_interval() -> None:
    browser = PatientTransport()
    for _ in range(10):
        browser.heartbeat.probe()
    assert (len(browser.requests), browser.heartbeat.is_responsive) == (1, True)
