"""Serve a page that needs JavaScript on loopback."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOST = "page.example"
MARK = "Forty-two plus zero is 42."

_PAGE = b"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Rendered page</title></head>
<body><main id="app"></main><script>
const line = "Forty-two plus zero is " + (6 * 7) + ".";
const paragraph = "<p>" + line + " \\u4f60\\u597d</p>";
document.getElementById("app").innerHTML = "<h1>Rendered page</h1>" + paragraph.repeat(8);
</script></body></html>"""


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path == "/"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(_PAGE) if found else 0))
        self.end_headers()
        if found:
            self.wfile.write(_PAGE)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextlib.contextmanager
def served() -> Iterator[int]:
    """Serve the page; yield its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
