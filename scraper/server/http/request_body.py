"""Read the body of a request, and pass it on with lone surrogates replaced."""

from __future__ import annotations

import json
import re
from typing import Any

from starlette.types import Message, Receive

_END = "http.disconnect"
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL
)
"""An escape in JSON, or a pair of escapes that encodes one character."""
_LONE_BYTES = len(rb"\ud800")


class RequestBody:
    """The body of a request, and a `receive` that returns it again."""

    def __init__(self, parts: list[Message], receive: Receive) -> None:
        """Store the parts that were read."""
        self._parts = parts
        whole = self._whole()
        if (clean := replace_lone_surrogates(whole)) != whole:
            self._parts = [{**parts[-1], "body": clean}]
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


def replace_lone_surrogates(message: bytes) -> bytes:
    r"""Return JSON of the same length with each escape of half a surrogate pair replaced by `\ufffd`.

    A half is not a character: neither UTF-8 nor a parser that follows the standard accepts it.
    """
    if b"\\ud" not in message and b"\\uD" not in message:
        return message
    return _ESCAPE.sub(_replace_lone, message)


def _replace_lone(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if len(escape[0]) == _LONE_BYTES else escape[0]


async def read_body(receive: Receive, limit_bytes: int) -> RequestBody:
    """Read the body of a request up to the part that exceeds the limit; compare `size_bytes` with the limit."""
    parts: list[Message] = []
    size, more = 0, True
    while more and size <= limit_bytes:
        part = await receive()
        parts.append(part)
        size += len(part.get("body", b""))
        more = part["type"] != _END and part.get("more_body", False)
    return RequestBody(parts, receive)
