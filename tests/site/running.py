"""Run the site in a separate process during a test session or command."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.site.hosts import PLAIN_HOSTS, TLS_HOSTS

_ROOT = Path(__file__).resolve().parents[2]
# The imports take under a second; on a busy machine up to ten times as long.
_START_S = 60.0
_STOP_S = 10.0
_ASK_S = 60.0


@dataclass(frozen=True, slots=True)
class Site:
    """A running site."""

    port: int
    tls_port: int
    pid: int

    @property
    def test_hosts(self) -> tuple[tuple[str, str, int], ...]:
        """Return (host name, address, port) of every host, as BrowserSettings takes them."""
        plain = tuple((name, "127.0.0.1", self.port) for name in PLAIN_HOSTS)
        return plain + tuple((name, "127.0.0.1", self.tls_port) for name in TLS_HOSTS)

    @property
    def test_hosts_variable(self) -> str:
        """Return the hosts in the form of SEARCH_MCP_TEST_HOSTS."""
        return ",".join(f"{name}={address}:{port}" for name, address, port in self.test_hosts)

    def url(self, path: str, host: str = "site.example") -> str:
        """Return the URL of a page under a mapped host name."""
        return f"{'https' if host in TLS_HOSTS else 'http'}://{host}{path}"

    def direct(self, path: str) -> str:
        """Return the URL of a page by address and port, for clients without host mapping."""
        return f"http://127.0.0.1:{self.port}{path}"

    def hits(self, path: str, host: str = "") -> int:
        """Return the number of requests for a path. A query counts if given."""
        return self._number(f"/hits?path={quote(path)}&host={host}", "hits")

    def open(self, path: str, host: str = "") -> int:
        """Return the number of running requests for a path."""
        return self._number(f"/open?path={quote(path)}&host={host}", "open")

    def manifest(self) -> dict[str, dict[str, int | str]]:
        """Return {"name", "marks"} of each difficult page by path."""
        pages: dict[str, dict[str, int | str]] = self._ask("/manifest.json")
        return pages

    def _number(self, path: str, key: str) -> int:
        number: int = self._ask(path)[key]
        return number

    def _ask(self, path: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ASK_S)
        try:
            connection.request("GET", path)
            return json.load(connection.getresponse())
        finally:
            connection.close()


@contextmanager
def running_site() -> Iterator[Site]:
    """Start the site on free ports. It ends with the block, or with this process.

    Raises:
        RuntimeError: it does not start.
    """
    command = (sys.executable, "-m", "tests.site", "--until-stdin-closes")
    with subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            ports = json.loads(_first_line(process))
            yield Site(ports["port"], ports["tls_port"], process.pid)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    alarm = threading.Timer(_START_S, process.kill)
    alarm.start()
    try:
        line = process.stdout.readline()
    finally:
        alarm.cancel()
    if not line:
        raise RuntimeError("the test site did not start")
    return line
