"""Detection of a browser that does not respond."""

from __future__ import annotations

import pytest

from browsers.cdp.session import Connection, Message
from browsers.pool.browser_handle import MAX_MISSED_PROBES, Heartbeat


class PatientWire:
    """Transport to a browser that answers when the test says so."""

    flat = True

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.connection = Connection(self)
        self.heartbeat = Heartbeat(self.connection)

    def bind(self, on_message: object, _on_lost: object) -> None:
        self.says = on_message

    def send(self, _session_id: str | None, message: Message) -> None:
        self.requests.append(message["method"])

    def close(self) -> None: ...

    def speak(self) -> None:
        """Send a message that is not the answer to the probe."""
        self.says("a tab", {"method": "Network.dataReceived"})  # type: ignore[operator]


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> PatientWire:
    monkeypatch.setattr("browsers.pool.browser_handle.PROBE_INTERVAL_S", 0.0)
    return PatientWire()


async def test_browser_has_time_to_answer_a_probe(browser: PatientWire) -> None:
    assert browser.heartbeat.is_responsive
    browser.heartbeat.probe()
    assert (browser.requests, browser.heartbeat.is_responsive) == (["Browser.getVersion"], True)


async def test_browser_without_answer_until_the_next_probe_is_unresponsive(browser: PatientWire) -> None:
    browser.heartbeat.probe()
    browser.heartbeat.probe()
    assert (browser.heartbeat.is_responsive, browser.heartbeat.is_lost) == (False, False)
    for _ in range(MAX_MISSED_PROBES):
        browser.heartbeat.probe()
    assert browser.heartbeat.is_lost


async def test_any_message_resets_the_missed_probes(browser: PatientWire) -> None:
    for _ in range(MAX_MISSED_PROBES + 1):
        browser.heartbeat.probe()
    browser.speak()
    assert (browser.heartbeat.is_responsive, browser.heartbeat.is_lost) == (True, False)
    browser.heartbeat.probe()
    assert browser.heartbeat.is_responsive


async def test_probes_are_not_sent_before_their_interval() -> None:
    browser = PatientWire()
    for _ in range(10):
        browser.heartbeat.probe()
    assert (len(browser.requests), browser.heartbeat.is_responsive) == (1, True)
