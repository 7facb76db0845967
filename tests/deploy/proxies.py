"""Proxies with their configurations in deploy/, started in front of servers on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import os
import re
import shutil
import subprocess
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tests.ports import free_port
from tests.scraper.process import LIMIT_S, REPOSITORY

DEPLOY = REPOSITORY / "deploy"
PROXIES = ("haproxy", "nginx")
CALL_HEADER = "X-Call"
"""The proxy logs the value of this header together with the servers that received the request."""
_STOP_S = 5.0
_LOG = "calls.log"
_FAULTS = "faults.log"
_SOCKET = "socket"


@dataclass(frozen=True, slots=True)
class RoutedRequest:
    """The log entry of a proxy for one request."""

    servers: tuple[str, ...]
    """Addresses of the servers that received the request, in order; haproxy logs only the last one."""
    status: int
    """-1: haproxy cut the connection."""


class Proxy:
    """One running proxy."""

    def __init__(self, kind: str, port: int, folder: Path, scheme: str) -> None:
        self.kind = kind
        self.base = f"{scheme}://127.0.0.1:{port}"
        self.url = self.base + "/mcp"
        self._folder = folder

    def routed_requests(self) -> Mapping[str, RoutedRequest]:
        """Return the outcome of each request, by its call header."""
        found = {}
        for line in (self._folder / _LOG).read_text().splitlines():
            if match := re.search(r"call=(\S+) servers=\[([^]]*)\] status=(-?\d+)", line):
                servers = tuple(re.findall(r"\d+\.\d+\.\d+\.\d+:\d+", match[2]))
                found[match[1]] = RoutedRequest(servers, int(match[3]))
        return found

    def faults(self) -> str:
        """Return the errors in the log of the proxy."""
        return (self._folder / _FAULTS).read_text()

    async def ready(self) -> int:
        """Return the number of servers that haproxy considers up."""
        async with asyncio.timeout(LIMIT_S):
            reader, writer = await asyncio.open_unix_connection(self._folder / _SOCKET)
            writer.write(b"show stat\n")
            table = (await reader.read()).decode()
            writer.close()
        rows = csv.DictReader(io.StringIO(table.removeprefix("# ")))
        return sum(row["pxname"] == "ready" and row["svname"] != "BACKEND" and row["status"] == "UP" for row in rows)


def program(kind: str) -> str | None:
    """Return the path of the proxy's program, or None if it is not installed."""
    return shutil.which(kind, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def configuration(kind: str, port: int, servers: Sequence[int], folder: Path, *, has_tls: bool = False) -> str:
    """Return the configuration in deploy/ for this port and these servers; `has_tls` follows its advice for TLS."""
    text = (DEPLOY / {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}[kind]).read_text()
    if has_tls:
        text = _with_tls(text, folder)
    return {"haproxy": _haproxy, "nginx": _nginx}[kind](text, port, servers, folder)


def _with_tls(text: str, folder: Path) -> str:
    """Return a configuration with its lines for TLS, and a certificate for it in `folder`."""
    certificate, key = folder / "search.example.pem", folder / "search.example.key"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=search.example -out {certificate}"
    subprocess.run([*command.split(), "-keyout", str(key)], check=True, capture_output=True, timeout=LIMIT_S)
    certificate.write_text(certificate.read_text() + key.read_text())
    text = _replace(r"(?m)^ *(listen|bind) :?8000;?\n", "", text)
    assert "#tls " in text
    return re.sub(r"\b443\b", "8000", text.replace("#tls ", "").replace("/etc/ssl", str(folder)))


@contextlib.asynccontextmanager
async def proxied(kind: str, servers: Sequence[int], *, has_tls: bool = False) -> AsyncIterator[Proxy]:
    """Run a proxy in front of the servers at these ports."""
    path = program(kind)
    assert path is not None, f"{kind} is not installed"
    with tempfile.TemporaryDirectory(prefix=f"{kind}-") as name:
        folder, port = Path(name), free_port()
        file, log = folder / f"{kind}.cfg", folder / _LOG
        file.write_text(configuration(kind, port, servers, folder, has_tls=has_tls))
        # Write to a file: an unread pipe would block a proxy that logs many errors.
        with log.open("wb") as out, (folder / _FAULTS).open("wb") as faults:
            process = await asyncio.create_subprocess_exec(
                *_command(kind, path, file, folder), stdin=DEVNULL, stdout=out, stderr=faults
            )
        try:
            proxy = Proxy(kind, port, folder, "https" if has_tls else "http")
            await _wait_until_ready(proxy, process)
            yield proxy
        finally:
            await _end(process)


def check_command(kind: str, path: str, file: Path, folder: Path) -> tuple[str, ...]:
    """Return the command that checks a configuration."""
    return (*_command(kind, path, file, folder), "-c" if kind == "haproxy" else "-t")


def _command(kind: str, path: str, file: Path, folder: Path) -> tuple[str, ...]:
    if kind == "haproxy":
        return (path, "-f", str(file), "-db")
    return (path, "-p", str(folder), "-e", "stderr", "-c", str(file))


def _haproxy(text: str, port: int, servers: Sequence[int], folder: Path) -> str:
    text = _replace(r"(?m)^global\n", f"global\n    stats socket {folder}/{_SOCKET}\n", text)
    text = _replace(r"(?m)^( *bind ):8000", rf"\g<1>127.0.0.1:{port}", text)
    text = _replace(r"resolvers engine\n(    .*\n)+", "", text)
    # A stopped server refuses at once; a server that is slow on a loaded machine must not count as stopped.
    text = _replace(r"timeout check 3s", "timeout check 30s", text)
    lines = "".join(f"    server s{number} 127.0.0.1:{number} check\n" for number in servers)
    text = _replace(r"    server-template .*\n", lines, text, times=2)
    told = "call=%[capture.req.hdr(0)] servers=[%si:%sp] status=%ST"
    capture = f'    http-request capture req.hdr({CALL_HEADER}) len 64\n    log-format "{told}"\n    use_backend ready'
    return _replace(r"    use_backend ready", capture, text)


def _nginx(text: str, port: int, servers: Sequence[int], folder: Path) -> str:
    text = _replace(r"(?m)^( *listen )8000( ssl)?;", rf"\g<1>127.0.0.1:{port}\g<2>;", text)
    found = re.findall(r"(?m)^        server search-\d:8000( .*)?;$", text)
    assert found and len(set(found)) == 1, "servers differ in more than their names"
    lines = "".join(f"        server 127.0.0.1:{number}{found[0]};\n" for number in servers)
    text = _replace(r"(        server search-\d:8000.*\n)+", lines, text)
    told = f"call=$http_{CALL_HEADER.lower().replace('-', '_')} servers=[$upstream_addr]"
    writing = "".join(
        f"    {kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    http = f"http {{\n{writing}    log_format calls '{told} status=$status';\n    access_log {folder}/{_LOG} calls;\n"
    user = "user root;\n" if os.geteuid() == 0 else ""
    return f"{user}daemon off;\npid {folder}/pid;\n" + _replace(r"http \{\n", http, text)


def _replace(pattern: str, by: str, text: str, *, times: int = 1) -> str:
    """Replace text; raise AssertionError if deploy/ no longer contains it."""
    text, number = re.subn(pattern, by, text)
    assert number == times, f"{pattern} stands {number} times"
    return text


async def _wait_until_ready(proxy: Proxy, process: Process) -> None:
    """Wait until a server answers through the proxy."""
    async with asyncio.timeout(LIMIT_S), aiohttp.ClientSession() as client:
        while True:
            assert process.returncode is None, proxy.faults()
            with contextlib.suppress(aiohttp.ClientError):
                async with client.get(proxy.base + "/health", ssl=False) as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.05)


async def _end(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
