"""The image's health check asks the server where it listens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

DOCKERFILE = Path(__file__).parents[2] / "Dockerfile"


def health_check(port: str) -> subprocess.CompletedProcess[str]:
    """Run the image's program under this value of the variable."""
    _, _, rest = DOCKERFILE.read_text(encoding="utf-8").partition("HEALTHCHECK")
    command = json.loads(rest.partition("CMD ")[2].splitlines()[0])
    assert command[0] == "python"
    return subprocess.run(
        [sys.executable, *command[1:]],
        env={**os.environ, "SEARCH_MCP_PORT": port},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_image_is_healthy_if_its_server_is(status: int, code: int) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/health" else 404)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert health_check(str(server.server_port)).returncode == code
        server.shutdown()


def test_a_blank_port_is_the_default_port() -> None:
    assert "ValueError" not in health_check("").stderr
