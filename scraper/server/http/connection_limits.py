"""Limit connections before a request is complete, and so before its authentication.

uvicorn's parser accepts a request head of any size and waits for its end without a limit.
"""

from __future__ import annotations

import asyncio
import functools
import http
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MAX_HEAD_BYTES = 65_536
MAX_HEADER_FIELDS = 100
MAX_URL_BYTES = 16_384
_MAX_FRAMING_BYTES = 65_536
"""Bytes of chunk sizes, chunk extensions and trailers, beyond as many bytes as the body."""
_FED_BYTES = 16_384
"""Bytes that the parser gets at once, so that no limit is exceeded by more."""
MAX_PIPELINED = 16
"""Requests that wait for the response to an earlier one of their connection. One of 18 bytes takes 3 kB."""
HEAD_S = 10.0
BODY_PAUSE_S = 10.0
"""Seconds without a byte of an incomplete body while the server is reading."""
_MIN_BODY_RATE = 500
"""Bytes per second, as in Apache's mod_reqtimeout. After `BODY_PAUSE_S`, a slower body counts as waiting."""
MAX_CONNECTIONS = 2_000
MAX_CONNECTIONS_PER_ADDRESS = 1_000
"""Connections, half of all. A reverse proxy needs one for each running call and open event stream."""
AUTHORITY = "search_mcp.authority"
"""Key of the ASGI scope: host and port of an absolute URL in the request line (RFC 9112, 3.2.2). uvicorn drops them."""
_INVALID = "Invalid HTTP request received."
_UPGRADE_FIELDS = frozenset({b"upgrade", b"http2-settings"})
_LINGER_S = 1.0
"""Seconds to discard further data of the client after a rejection; closing at once would discard the response."""


def is_slow(fed_bytes: int, seconds: float) -> bool:
    """Return True if a body is so slow that a new connection may replace its connection."""
    return seconds > BODY_PAUSE_S and fed_bytes < seconds * _MIN_BODY_RATE


class ConnectionTable:
    """Open connections of a server, in total and by address, from the one whose last request is oldest."""

    def __init__(self) -> None:
        """Create an empty table."""
        self._all: dict[LimitedHttpProtocol, None] = {}
        self._by_address: defaultdict[str, dict[LimitedHttpProtocol, None]] = defaultdict(dict)

    def add(self, connection: LimitedHttpProtocol) -> None:
        """Add a connection as the newest, or make it the newest."""
        for group in (self._by_address[connection.address], self._all):
            group.pop(connection, None)
            group[connection] = None

    def remove(self, connection: LimitedHttpProtocol) -> None:
        """Remove a connection."""
        self._all.pop(connection, None)
        same = self._by_address[connection.address]
        same.pop(connection, None)
        if not same:
            del self._by_address[connection.address]

    def exceeded(self, address: str) -> Iterable[Iterable[LimitedHttpProtocol]]:
        """Return the groups with too many connections: those of the address, and all."""
        limits = ((self._by_address[address], MAX_CONNECTIONS_PER_ADDRESS), (self._all, MAX_CONNECTIONS))
        return [group for group, limit in limits if len(group) > limit]


class LimitedHttpProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits on size, time and number of connections.

    When all connections are in use, a new one replaces the connection that has waited longest for a request. Trailers
    are ignored; uvicorn adds them to the headers while the application may read these.
    """

    def __init__(self, *args: Any, table: ConnectionTable, **kwargs: Any) -> None:
        """Create the protocol of a new connection of the server that `table` belongs to."""
        super().__init__(*args, **kwargs)
        self.address = ""
        self._table = table
        self._in_head = False
        self._in_body = False
        self._head_bytes = 0
        self._body_bytes = 0
        self._fed_bytes = 0
        """Bytes since the end of the head."""
        self._last_data = 0.0
        self._body_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._status = 0
        """Status of the rejection while the parser reports an error."""
        self._is_rejected = False

    @property
    def is_waiting(self) -> bool:
        """True if the connection has neither a complete request head nor a response in progress, or a slow body."""
        if self._is_rejected or self.cycle is None or self.cycle.response_complete:
            return True
        return self._in_body and is_slow(self._fed_bytes, self.loop.time() - self._body_since)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or refuse it if too many are in use."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._table.add(self)
        for group in self._table.exceeded(self.address):
            if not self._replace_waiting(group):
                self._reject(503, "Too many connections. Try again in a few seconds.")
                return
        self._start_timer(HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_timer()
        self._table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, and reject a request that exceeds a limit."""
        for start in range(0, len(data), _FED_BYTES):
            if self._is_rejected or self.transport.is_closing():
                return
            self._feed(data[start : start + _FED_BYTES])

    def _feed(self, data: bytes) -> None:
        self._last_data = self.loop.time()
        self._fed_bytes += len(data)
        if self.is_waiting and self._timer is None:
            self._start_timer(HEAD_S)
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # The parser expects another protocol after this head. A server that does not switch to it ignores the
            # request to upgrade (RFC 9110, 7.8), so the head is parsed again without it.
            if self._is_ignored_upgrade():
                self._feed(self._head_without_upgrade() + data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self.logger.warning(_INVALID)
            self.send_400_response(_INVALID)
        if self._in_head:
            # The parser collects a field until its end, so an incomplete one is counted here.
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._reject(431, f"The request head has more than {MAX_HEAD_BYTES:,} bytes.")
        elif self._in_body and self._fed_bytes > 2 * self._body_bytes + _MAX_FRAMING_BYTES:
            self._reject(400, "The body has too many chunk extensions or trailers.")

    def on_message_begin(self) -> None:
        """Start counting a request head."""
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0

    def on_url(self, url: bytes) -> None:
        """Collect the URL up to its limit; refuse one more pipelined request than allowed."""
        super().on_url(url)
        if len(self.pipeline) >= MAX_PIPELINED:
            self._refuse_in_parser(429)
        if len(self.url) > MAX_URL_BYTES:
            self._refuse_in_parser(414)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect a header field up to the limits; ignore a trailer."""
        if not self._in_head:
            return
        super().on_header(name, value)
        if len(self.headers) > MAX_HEADER_FIELDS:
            self._refuse_in_parser(431)

    def on_headers_complete(self) -> None:
        """Pass a request with a complete head on."""
        if self._is_ignored_upgrade():
            return
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > MAX_HEAD_BYTES:
            self._refuse_in_parser(431)
        self._in_head, self._in_body = False, True
        self._body_bytes = self._fed_bytes = 0
        self._body_since = self.loop.time()
        self._table.add(self)
        self._stop_timer()
        self._start_timer(BODY_PAUSE_S)
        scheme, mark, rest = self.url.partition(b"://")
        if mark and not any(byte in b":/?#" for byte in scheme):
            authority = rest.partition(b"/")[0].partition(b"?")[0].partition(b"#")[0]
            self.scope[AUTHORITY] = authority.decode("latin-1")  # type: ignore[literal-required]
        super().on_headers_complete()
        if self.scope["http_version"] == "1.0":
            self.cycle.chunked_encoding = False
            self.cycle.send = functools.partial(_send_without_coding, self.cycle)  # type: ignore[method-assign]

    def on_body(self, body: bytes) -> None:
        """Collect a part of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request."""
        if self._is_ignored_upgrade():
            return
        self._in_body = False
        self._table.add(self)
        self._stop_timer()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Reject a request that the parser cannot read, or with the status of an exceeded limit."""
        texts = {
            414: f"The URL has more than {MAX_URL_BYTES:,} bytes.",
            431: f"The request head has more than {MAX_HEADER_FIELDS} fields or {MAX_HEAD_BYTES:,} bytes.",
        }
        self._reject(self._status or 400, texts.get(self._status, msg))

    def _is_ignored_upgrade(self) -> bool:
        """Return True if the parser is at the head of a request to continue in another protocol."""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        for name, value in self.headers:
            if name == b"connection":
                options = (option.strip() for option in value.split(b","))
                value = b", ".join(option for option in options if option.lower() not in _UPGRADE_FIELDS)
            if name not in _UPGRADE_FIELDS:
                lines.append(name + b": " + value)
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def _refuse_in_parser(self, status: int) -> None:
        """Stop the parser, which then calls `send_400_response`."""
        self._status = status
        raise ValueError

    def _reject(self, status: int, text: str) -> None:
        """Send an error and close the connection; an incomplete response is only cut off."""
        if self._is_rejected:
            return
        self._stop_timer()
        self._in_head = self._in_body = False
        self._is_rejected = True
        cycle = self.cycle
        is_answering = cycle is not None and not cycle.response_complete
        if is_answering:
            cycle.disconnected = True
            cycle.message_event.set()
        if is_answering and (cycle.response_started or self.pipeline):
            self.transport.abort()
            return
        head = (
            f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(text)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(f"{head}{text}".encode("ascii"))
        self.transport.write_eof()
        self._timer = self.loop.call_later(_LINGER_S, self.transport.abort)

    def _replace_waiting(self, group: Iterable[LimitedHttpProtocol]) -> bool:
        """Close the connection of `group` that waited longest for a request; return False without one."""
        oldest = next((one for one in group if one is not self and one.is_waiting), None)
        if oldest is None:
            return False
        self._table.remove(oldest)
        self.connections.discard(oldest)
        oldest.transport.abort()
        return True

    def _start_timer(self, delay_s: float) -> None:
        self._timer = self.loop.call_later(delay_s, self._expire)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        """Reject a head that is late, or a body that has paused too long or has its response already."""
        self._timer = None
        if self._in_head:
            self._reject(408, f"The request head was not complete within {HEAD_S:.0f} s.")
        elif not self._in_body or self.cycle.response_complete:
            self.transport.close()
        elif self.flow.read_paused or (left_s := self._last_data + BODY_PAUSE_S - self.loop.time()) > 0:
            self._start_timer(BODY_PAUSE_S if self.flow.read_paused else left_s)
        else:
            self._reject(408, f"The body paused for {BODY_PAUSE_S:.0f} s.")


async def _send_without_coding(cycle: RequestResponseCycle, message: Any) -> None:
    """Send a part of a response to HTTP/1.0, whose end is that of its connection (RFC 9112, 6.1)."""
    if message["type"] == "http.response.body":
        cycle.expected_content_length = len(message.get("body", b""))
    await RequestResponseCycle.send(cycle, message)
