"""Serve a made site over HTTP in a thread, and count its requests."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar

from tests.site.traps.made_site import MadeSite

S = TypeVar("S", bound=MadeSite)

HOST = "trap.example"


@dataclass
class ServedSite:
    """A made site that runs."""

    port: int
    requests: Counter[str] = field(default_factory=Counter)
    """Number of requests by path and query."""
    moments: list[tuple[float, str]] = field(default_factory=list)
    """Monotonic time and path of each request."""

    @property
    def test_hosts(self) -> tuple[tuple[str, str, int], ...]:
        """Return the host of the site as `Settings` takes it."""
        return ((HOST, "127.0.0.1", self.port),)

    @property
    def url(self) -> str:
        """Return the URL of the start page."""
        return f"http://{HOST}/"


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that were killed."""


@contextmanager
def serving(made: type[S]) -> Iterator[tuple[S, ServedSite]]:
    """Serve a made site while the block runs."""
    lock, is_closing = threading.Lock(), threading.Event()
    site = made(origin=f"http://{HOST}")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with lock:
                served.requests[self.path] += 1
                served.moments.append((time.monotonic(), self.path))
                site.cookies = self.headers.get("Cookie", "")
                response = site.get(f"{site.origin}{self.path}")
            if response.is_silent:
                is_closing.wait()
                return
            self.send_response(response.status or 500)
            if response.location:
                self.send_header("Location", response.location)
            for name, value in response.headers:
                self.send_header(name, value)
            self.send_header("Content-Type", response.media_type)
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = _QuietServer(("127.0.0.1", 0), Handler)
    served = ServedSite(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site, served
    finally:
        is_closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
