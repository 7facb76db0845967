"""Read the body of a request, and pass it on unchanged."""

from __future__ import annotations

import json
from typing import Any

from starlette.types import Message, Receive

_END = "http.disconnect"


class RequestBody:
    """The body of a request, and a `receive` that returns it again."""

    def __init__(self, parts: list[Message], receive: Receive) -> None:
        """Keep the parts that were read."""
        self._parts = parts
        self._receive = receive
        self._returned = 0

    @property
    def is_cut(self) -> bool:
        """True if the client disconnected, or the server stopped, before the end of the body."""
        return bool(self._parts[-1]["type"] == _END)

    @property
    def size_bytes(self) -> int:
        """Bytes read."""
        return sum(len(part.get("body", b"")) for part in self._parts)

    def is_list(self) -> bool:
        """Return True if the body begins like a JSON list."""
        return bool(self._parts[0].get("body", b"").lstrip()[:1] == b"[")

    def mentions(self, word: bytes) -> bool:
        """Return True if the body contains a word."""
        return word in self._whole()

    def value(self) -> Any:
        """Return the JSON value of the body, or None if it is not JSON."""
        try:
            return json.loads(self._whole())
        except (ValueError, RecursionError):
            return None

    def message(self) -> dict[str, Any]:
        """Return the JSON object of the body, or an empty one if it is not an object."""
        value = self.value()
        return value if isinstance(value, dict) else {}

    def _whole(self) -> bytes:
        return b"".join(part.get("body", b"") for part in self._parts)

    async def receive(self) -> Message:
        """Return the parts of the body again, then further messages of the client."""
        if self._returned < len(self._parts):
            self._returned += 1
            return self._parts[self._returned - 1]
        return await self._receive()


async def read_body(receive: Receive, limit_bytes: int) -> RequestBody:
    """Read the body of a request; reading stops beyond the limit, and the body is then not valid JSON."""
    parts: list[Message] = []
    size, more = 0, True
    while more and size <= limit_bytes:
        part = await receive()
        parts.append(part)
        size += len(part.get("body", b""))
        more = part["type"] != _END and part.get("more_body", False)
    return RequestBody(parts, receive)
