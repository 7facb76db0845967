"""Commands of the docs for a private certificate authority and for IPv6, with the real Chromium."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.site.certificate import issued_identity

DOCS = Path(__file__).parents[3] / "docs" / "troubleshooting.md"
LIMIT_S = 120
HOST = "intranet.example"
PAGE = (
    b"<!doctype html><title>Intranet</title><h1>Intranet</h1><p>The lighthouse of this network is open on Sundays.</p>"
)


class Handler(BaseHTTPRequestHandler):
    """Answer each request with one page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        return


class Ipv6Server(ThreadingHTTPServer):
    """Server at an IPv6 address."""

    address_family = socket.AF_INET6


@contextlib.contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[int]:
    """Run a server; yield its port."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def fetch(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `search-mcp fetch` in a process whose home is `folder`."""
    env = {**os.environ, "HOME": str(folder), "SEARCH_MCP_DATA": str(folder / "data"), **environment}
    command = [sys.executable, "-m", "scraper.cli.main", "fetch", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT_S)


@pytest.mark.programs
@pytest.mark.browser
@pytest.mark.skipif(shutil.which("certutil") is None, reason="certutil is not installed")
@pytest.mark.parametrize("tier", ["light", "full"])
def test_an_authority_of_ones_own_is_added_with_the_commands_of_the_docs(tmp_path: Path, tier: str) -> None:
    context, authority = issued_identity([HOST])
    (tmp_path / "company-ca.pem").write_bytes(authority)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    commands = [line for line in DOCS.read_text().splitlines() if line.startswith(("mkdir -p ", "certutil "))]
    assert len(commands) == 2
    with serving(server) as port:
        hosts = {"SEARCH_MCP_TEST_HOSTS": f"{HOST}=127.0.0.1:{port}", "SEARCH_MCP_TIER": tier}
        before = fetch(tmp_path, f"https://{HOST}/", **hosts)
        assert before.returncode and "add it (docs/troubleshooting.md)" in before.stderr
        for command in commands:
            subprocess.run(command, shell=True, check=True, cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)})
        after = fetch(tmp_path, f"https://{HOST}/", **hosts)
    assert after.returncode == 0 and "open on Sundays" in after.stdout


def has_ipv6() -> bool:
    """Return True if this machine has an IPv6 loopback address."""
    with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


@pytest.mark.thorough
@pytest.mark.programs
@pytest.mark.browser
@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback address")
def test_a_page_at_an_ipv6_address_is_read_if_its_network_is_allowed(tmp_path: Path) -> None:
    with serving(Ipv6Server(("::1", 0), Handler)) as port:
        url = f"http://[::1]:{port}/"
        refused = fetch(tmp_path, url)
        assert refused.returncode and "is not on the public internet" in refused.stderr
        for address in (url, f"[::1]:{port}"):
            assert "open on Sundays" in fetch(tmp_path, address, "--allow-nets", "::1/128").stdout
