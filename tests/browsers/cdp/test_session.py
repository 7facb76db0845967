"""Sessions call every handler of an event."""

from __future__ import annotations

from browsers.cdp.session import Connection, Event, Session
from tests.browsers.silent_transport import SilentTransport


async def test_each_handler_of_an_event_is_called_in_the_order_of_registration() -> None:
    session = Session(Connection(SilentTransport()), "tab")
    calls: list[tuple[str, Event]] = []
    for name in ("first", "second", "third"):
        session.on("Network.loadingFailed", lambda event, name=name: calls.append((name, event)))  # type: ignore[misc]
    session.on("Network.loadingFinished", lambda event: calls.append(("other", event)))
    session.receive({"method": "Network.loadingFailed", "params": {"requestId": "1"}})
    assert calls == [(name, {"requestId": "1"}) for name in ("first", "second", "third")]


async def test_the_removal_of_one_handler_keeps_the_others() -> None:
    session = Session(Connection(SilentTransport()), "tab")
    calls: list[str] = []

    def remove_itself(_: Event) -> None:
        calls.append("once")
        session.remove_handler("Page.frameNavigated", remove_itself)

    session.on("Page.frameNavigated", remove_itself)
    session.on("Page.frameNavigated", lambda _: calls.append("always"))
    for _ in range(2):
        session.receive({"method": "Page.frameNavigated", "params": {}})
    assert calls == ["once", "always", "always"]
