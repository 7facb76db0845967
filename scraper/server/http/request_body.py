"""Looks into a request's body before it is handed on whole."""

from __future__ import annotations

import json
from typing import Any

from starlette.types import Message, Receive

_END = "http.disconnect"


class RequestBody:
    """What of a body was read, and a `receive` that begins with it."""

    def __init__(self, parts: list[Message], receive: Receive) -> None:
        self._parts = parts
        self._receive = receive
        self._given = 0

    @property
    def is_cut(self) -> bool:
        """Whether the client hung up, or the server stopped listening, before its end."""
        return bool(self._parts[-1]["type"] == _END)

    @property
    def size_bytes(self) -> int:
        """How much was read."""
        return sum(len(part.get("body", b"")) for part in self._parts)

    def is_list(self) -> bool:
        """Whether it begins as a list does."""
        return bool(self._parts[0].get("body", b"").lstrip()[:1] == b"[")

    def mentions(self, word: bytes) -> bool:
        """Whether the word stands anywhere in it."""
        return word in self._whole()

    def value(self) -> Any:
        """The value that it is; None where it is no JSON."""
        try:
            return json.loads(self._whole())
        except (ValueError, RecursionError):
            return None

    def message(self) -> dict[str, Any]:
        """The message of the protocol that it is; an empty one where it is none."""
        found = self.value()
        return found if isinstance(found, dict) else {}

    def _whole(self) -> bytes:
        return b"".join(part.get("body", b"") for part in self._parts)

    async def receive(self) -> Message:
        """The body from its beginning, and then what the client says next."""
        if self._given < len(self._parts):
            self._given += 1
            return self._parts[self._given - 1]
        return await self._receive()


async def read_body(receive: Receive, limit_bytes: int) -> RequestBody:
    """The body of a request; one beyond the limit is read no further, and is then no message."""
    parts: list[Message] = []
    size, more = 0, True
    while more and size <= limit_bytes:
        part = await receive()
        parts.append(part)
        size += len(part.get("body", b""))
        more = part["type"] != _END and part.get("more_body", False)
    return RequestBody(parts, receive)
