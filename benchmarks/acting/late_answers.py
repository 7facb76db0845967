"""Measure whether the answer to a click is shown, and whether "nothing changed" is said too early."""

from __future__ import annotations

import http.server
import threading
import time
from collections import Counter
from typing import Any

from benchmarks.acting.site_tasks import HOST, ActingClient
from benchmarks.common.command_line import Figures, print_table
from browsers import Browsers, BrowserSettings

_ANSWER_S = ("0.2", "0.5", "1", "2", "4")
"""Seconds after which the site answers a click."""
_PAGE = (
    "<!doctype html><title>Ferry</title><h1>Ferry</h1><p id=log>no seat</p><script>const book = (seconds) =>"
    " fetch('/book/' + seconds, {method: 'POST'}).then(() => log.textContent = 'booked after ' + seconds)</script>"
    + "".join(f"<button onclick='book({seconds})'>Book {seconds}</button>" for seconds in _ANSWER_S)
)


class _FerrySite(http.server.ThreadingHTTPServer):
    """A site that answers a booking after the seconds in its path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Booking)
        self.bookings: Counter[str] = Counter()
        """Requests by the seconds of their answers."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that close a connection early."""


class _Booking(http.server.BaseHTTPRequestHandler):
    server: _FerrySite
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(_PAGE.encode())

    def do_POST(self) -> None:
        seconds = self.path.rpartition("/")[2]
        self.server.bookings[seconds] += 1
        time.sleep(float(seconds))
        self._answer(b"booked")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


async def measure_late_answers() -> Figures:
    """Return the clicks whose late answer the same or the next call shows, and how many requests were repeated."""
    rows = []
    site = _FerrySite()
    threading.Thread(target=site.serve_forever, daemon=True).start()
    try:
        settings = BrowserSettings(test_hosts=((HOST, "127.0.0.1", site.server_address[1]),))
        async with Browsers(settings) as browsers:
            client = ActingClient(browsers)
            for seconds in _ANSWER_S:
                await client.run(f"open http://{HOST}/")
                clicked = await client.act(f'click "Book {seconds}"')
                answer = f"booked after {seconds}"
                is_seen = answer in clicked.content or answer in (await client.run("look")).content
                rows.append((seconds, is_seen, site.bookings[seconds], clicked.content == "nothing changed"))
    finally:
        site.shutdown()
        site.server_close()
    print_table("Answers to a click", ("seconds", "seen", "requests", "nothing changed"), rows)
    return {
        "answer.seen_after_click": sum(row[1] for row in rows),
        "answer.repeated": sum(row[2] - 1 for row in rows),
        "answer.false_nothing_changed": sum(row[3] for row in rows),
    }
