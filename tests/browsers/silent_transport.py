"""A transport to a browser that answers nothing."""

from __future__ import annotations

from collections.abc import Callable

from browsers.cdp.session import Message


class SilentTransport:
    """Record the messages to a browser, and never answer."""

    flat = True

    def __init__(self) -> None:
        self.sent: list[Message] = []

    def bind(self, on_message: Callable[[str | None, Message, int], None], on_lost: Callable[[], None]) -> None:
        """Do nothing."""

    def send(self, session_id: str | None, message: Message) -> None:
        """Record the message."""
        self.sent.append(message)

    def mute(self, session_id: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
