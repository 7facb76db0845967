"""Check of `doctor --url`: what a client meets at a running server, and the line of the proxy that is wrong."""

import contextlib
import http.client
import json
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from scraper.cli.doctor_checks import Finding, bad_finding, good_finding, poor_finding
from scraper.server.access import RESOURCE_METADATA_PATH, is_loopback
from scraper.settings.files import version
from scraper.values.text import read_table

_LIMIT_S = 20.0
"""Seconds for a response. The server sends a ping on an open stream every 15 s."""
_VERSIONS = ("2025-11-25", "2024-11-05", "2099-01-01")
"""Protocol versions to ask for: a new one, the oldest, and one that no server knows."""
_LONG = 2_000_000
"""Bytes of a message above the usual limits of proxies."""
_REMEDIES: Mapping[str, str] = read_table(__package__, "remedies.toml")


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def value(self) -> Mapping[str, Any]:
        """Return the JSON object of the body, or of the last event of a stream."""
        events = [line.removeprefix(b"data:") for line in self.body.splitlines() if line.startswith(b"data:")]
        with contextlib.suppress(ValueError):
            value = json.loads(events[-1] if events else self.body)
            return value if isinstance(value, dict) else {}
        return {}


class _Server:
    """A server at a URL, as a client sees it."""

    def __init__(self, url: str, token: str | None) -> None:
        parts = urlsplit(url)
        self.host, self.path = parts.hostname or "", parts.path.rstrip("/") or "/mcp"
        self._connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._port, self.origin = parts.port, f"{parts.scheme}://{parts.netloc}"
        self.url = self.origin + self.path
        self._token = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path: str, headers: Mapping[str, str], body: bytes | None = None) -> _Answer:
        """Return the answer to a GET request, or POST with a body; of a stream, only the first line of its body."""
        with contextlib.closing(self._connect(self.host, self._port, timeout=_LIMIT_S)) as connection:
            connection.request("GET" if body is None else "POST", path, body, {**headers, **self._token})
            with connection.getresponse() as answer:
                is_stream = body is None and "event-stream" in headers.get("Accept", "")
                return _Answer(answer.status, answer.headers, answer.readline() if is_stream else answer.read(65_536))

    def initialize(self, protocol: str, length: int = 0) -> _Answer:
        """Begin a session in a version of the protocol, by a message of at least `length` bytes."""
        client = {"name": "search-mcp doctor", "version": version() + "x" * length}
        params = {"protocolVersion": protocol, "capabilities": {}, "clientInfo": client}
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        return self.get(self.path, headers, message.encode())


def check_server(url: str, token: str | None) -> Iterator[Finding]:
    """Check TLS, redirects, prefix, host check, OAuth metadata, versions and streams of a server at `url`."""
    server = _Server(url, token)
    if url.startswith("http:") and not is_loopback(server.host):
        yield poor_finding(
            "The token and all answers can be read on the way",
            "Serve TLS: nginx: listen 443 ssl; haproxy: bind :443 ssl crt FILE",
        )
    try:
        answer = server.initialize(_VERSIONS[0])
        if answer.status == 200:
            yield from _check_versions(server)
            yield _check_stream(server, answer.headers.get("Mcp-Session-Id", ""))
            return
        kind = "307" if 300 <= answer.status < 400 else "502" if answer.status >= 500 else str(answer.status)
        remedy = _REMEDIES.get(kind, "See the logs of the server and of the proxy").format(host=server.host)
        yield bad_finding(f"{server.url} answers {answer.status} {answer.headers.get('Location', '')}".rstrip(), remedy)
        challenge = str(answer.headers.get("WWW-Authenticate", ""))
        if named := challenge.partition('resource_metadata="')[2].partition('"')[0]:
            # Clients use this URL, or derive another (RFC 9728, 3.1).
            for place in dict.fromkeys((named, server.origin + RESOURCE_METADATA_PATH + server.path)):
                yield _check_metadata(server, place)
    except ssl.SSLError as error:
        yield bad_finding(f"TLS fails at {url}: {error.reason or error}", _REMEDIES["chain"])
    except (OSError, http.client.HTTPException) as error:
        yield bad_finding(f"{url} does not answer: {error or type(error).__name__}", _REMEDIES["502"])


def _check_metadata(server: _Server, place: str) -> Finding:
    path = urlsplit(place).path
    answer = server.get(path, {}) if place.startswith(server.origin + "/") else None
    if answer is not None and answer.value().get("resource") == server.url:
        return good_finding(f"Metadata of OAuth at {place}")
    found = "at another host" if answer is None else f"status {answer.status}, for {answer.value().get('resource')}"
    return bad_finding(
        f"Metadata of OAuth at {place}: {found}", _REMEDIES["metadata"].format(url=server.url, path=path)
    )


def _check_versions(server: _Server) -> Iterator[Finding]:
    for asked in _VERSIONS:
        answer = server.initialize(asked, _LONG)
        result = answer.value().get("result", {})
        name, agreed = result.get("serverInfo", {}).get("name"), result.get("protocolVersion")
        if answer.status != 200:
            yield bad_finding(f"A message of {_LONG:,} bytes is answered with {answer.status}", _REMEDIES["413"])
            return
        if name != "search-mcp":
            yield bad_finding(f"Another program answers at {server.url}: {name}", _REMEDIES["502"])
        elif agreed not in _VERSIONS or (asked != _VERSIONS[-1] and agreed != asked):
            yield bad_finding(f"Version {asked} of the protocol was asked for, {agreed} is spoken", "Update the server")
        else:
            yield good_finding(
                f"search-mcp {result['serverInfo'].get('version')} speaks {agreed} when asked for {asked}"
            )


def _check_stream(server: _Server, session: str) -> Finding:
    """Open the stream of a session, and wait for its first ping."""
    began = time.monotonic()
    remedy, has_begun = "Keep idle streams open: nginx: proxy_read_timeout 600s; haproxy: timeout server 600s", False
    try:
        answer = server.get(server.path, {"Accept": "text/event-stream", "Mcp-Session-Id": session})
        has_begun = answer.status == 200 and bool(answer.body)
    except TimeoutError:
        remedy = "Do not buffer responses: nginx: proxy_buffering off;"
    took = f"{time.monotonic() - began:.0f} s"
    if has_begun:
        return good_finding(f"An open stream delivers its first byte after {took}")
    return bad_finding(f"An open stream delivers nothing for {took}", remedy)
