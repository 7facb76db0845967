"""Test the image: build the project's Dockerfile, start it as its user, and read a page through it.

python -m devtools.image.check [--keep]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from devtools.image.build import BuildFolder, Image, ImageError, build_folder, print_progress, run
from devtools.image.run import UID, Started, chrooted, contained, inside, started
from devtools.image.site import HOST, MARK, served

PROJECT = Path(__file__).resolve().parents[2]
TOKEN = "only-for-this-test"
READY_LIMIT_S = 60.0
CALL_LIMIT_S = 60.0

_LEFT_OVERS = {
    "package lists": "var/lib/apt/lists/*_Packages*",
    "downloaded packages": "var/cache/apt/archives/*.deb",
    "pip": "opt/search-mcp/lib/python3*/site-packages/pip",
    "hatchling": "opt/search-mcp/lib/python3*/site-packages/hatchling",
    "a compiler": "usr/bin/*gcc*",
    "the project's source": "src",
}
_NEEDED = {
    "the light Chromium": "usr/lib/chromium/chromium-headless-shell",
    "the full Chromium": "usr/lib/chromium/chromium",
    "fonts for Chinese, Japanese, Korean": "usr/share/fonts/opentype/noto/NotoSansCJK*",
    "emoji": "usr/share/fonts/truetype/noto/NotoColorEmoji*",
    "tini": "usr/bin/tini",
}


@dataclass(frozen=True, slots=True)
class RunMethod:
    """A method to run the image."""

    name: str
    port: int
    command: list[str]
    probe: list[str] | None = None
    """Command of the image's health check; None without Chromium's sandbox, in which it is not run."""


def main() -> int:
    """Build and test the image; return 0 if all checks pass."""
    parser = argparse.ArgumentParser(prog="python -m devtools.image.check", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep the image for inspection")
    chosen = parser.parse_args()
    # Remove all mounts also after SIGTERM.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        with build_folder(keep=chosen.keep) as place, served() as port:
            _test_image(place, port)
    except ImageError as error:
        print(f"image test failed: {error}", file=sys.stderr)
        return 1
    print_progress("image test passed")
    return 0


def _test_image(place: BuildFolder, page_port: int) -> None:
    print_progress("Building the image (a few minutes) ...")
    image = place.build(PROJECT)
    data = place.folder / "data"
    data.mkdir()
    os.chown(data, int(UID), int(UID))
    _check_config(image.config)
    _check_files(image.root)
    _check_refusal(image, data)
    environ = {"SEARCH_MCP_TEST_HOSTS": f"{HOST}=127.0.0.1:{page_port}"}
    asyncio.run(_check_stdio(image, data, environ))
    for method in _methods(place, image, data, environ):
        with started(method.command) as server:
            asyncio.run(_check_server(method, server))


def _methods(place: BuildFolder, image: Image, data: Path, environ: Mapping[str, str]) -> list[RunMethod]:
    ports = [_free_port() for _ in range(2)]
    given = [{**environ, "SEARCH_MCP_TOKEN": TOKEN, "SEARCH_MCP_PORT": str(port)} for port in ports]
    probe = inside(image, data, given[0], image.config["Healthcheck"]["Test"][1:])
    return [
        RunMethod("read-only root", ports[0], contained(image, data, given[0]), probe),
        RunMethod("chroot", ports[1], chrooted(place, image, data, given[1])),
    ]


def _check_config(config: Mapping[str, Any]) -> None:
    _require(config["User"] == "search", "runs as an ordinary user")
    _require(config["Entrypoint"][0] == "tini", "tini is process 1")
    _require(config.get("StopSignal") == "SIGTERM", "stops on SIGTERM")
    _require("/data" in config.get("Volumes", {}), "keeps its cache in a volume")
    _require("8000/tcp" in config.get("ExposedPorts", {}), "names its port")
    _require("/health" in " ".join(config.get("Healthcheck", {}).get("Test", [])), "has a health check")
    _require("io.modelcontextprotocol.server.name" in config["Labels"], "has its registry name")


def _check_files(root: Path) -> None:
    for name, pattern in _NEEDED.items():
        _require(any(root.glob(pattern)), f"contains {name}")
    for name, pattern in _LEFT_OVERS.items():
        _require(not any(root.glob(pattern)), f"does not contain {name}")


def _check_refusal(image: Image, data: Path) -> None:
    with started(contained(image, data, {})) as server:
        code = server.process.wait(READY_LIMIT_S)
        _require(code != 0 and "SEARCH_MCP_TOKEN" in server.output(), "refuses to start without a token")


async def _check_stdio(image: Image, data: Path, environ: Mapping[str, str]) -> None:
    command, *arguments = contained(image, data, environ, "stdio")
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        _require(MARK in await _read_page(client), "stdio: a page is read")


async def _check_server(method: RunMethod, server: Started) -> None:
    await _ready(server, method.port)
    async with _client(method.port) as client:
        _require(MARK in await _read_page(client), f"{method.name}: a page is read over HTTP")
    processes = _get(method.port, "/health")["browsers"]["processes"]
    sandboxed = [process["sandboxed"] for process in processes]
    warned = "WITHOUT ITS SANDBOX" in server.output()
    if method.probe is None:
        _require(sandboxed == [False] and warned, f"{method.name}: the missing sandbox is logged")
        return
    _require(sandboxed == [True] and not warned, f"{method.name}: Chromium's sandbox is on")
    run(method.probe)
    print_progress("  ok  the health check agrees")
    _require(server.stop() == 0, f"{method.name}: ends with code 0 on SIGTERM")


@contextlib.asynccontextmanager
async def _client(port: int) -> AsyncIterator[Client]:
    authorization = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=authorization, timeout=CALL_LIMIT_S) as http_client,
        Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http_client)) as client,
    ):
        yield client


async def _read_page(client: Client) -> str:
    async with asyncio.timeout(CALL_LIMIT_S):
        result = await client.call_tool("fetch", {"url": f"http://{HOST}/", "render": "browser"})
    return "\n".join(part.text for part in result.content if part.type == "text")


async def _ready(server: Started, port: int) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    while time.monotonic() < deadline and server.process.poll() is None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if _get(port, "/ready").get("ready"):
                return
        await asyncio.sleep(0.2)
    raise ImageError(f"the server was not ready in {READY_LIMIT_S:.0f} s")


def _get(port: int, path: str) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        found: dict[str, Any] = json.loads(connection.getresponse().read())
        return found
    finally:
        connection.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ImageError(f"check failed: {what}")
    print_progress(f"  ok  {what}")


if __name__ == "__main__":
    sys.exit(main())
