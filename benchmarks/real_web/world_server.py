"""The running world: its server, the settings with which readers reach it, and its configuration."""

from __future__ import annotations

import dataclasses
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.common.contender import Contender
from benchmarks.common.subprocess_module import run_module
from benchmarks.peers.launch import peer
from benchmarks.real_web.site import ADDRESSES, THIRD_PARTY_ADDRESS
from benchmarks.real_web.world import KINDS, SITES, World
from browsers import Browsers, BrowserSettings
from browsers.model import Mode, Request

_BROWSERS_VARIABLE = "PLAYWRIGHT_BROWSERS_PATH"


@dataclass(frozen=True, slots=True)
class WorldServer:
    """The server of a world."""

    world: World
    port: int
    pid: int

    @property
    def settings(self) -> Mapping[str, str]:
        """Variables with which our server and command reach all hosts."""
        hosts = ",".join(f"{host}={THIRD_PARTY_ADDRESS}:{self.port}" for host in self.world.parties)
        return {"SEARCH_MCP_TEST_HOSTS": hosts, "SEARCH_MCP_ALLOW_NETS": "127.0.0.0/8"}

    def url(self, number: int) -> str:
        """Return the URL of a page; the site is `number` modulo 60, so each number below 60 is another host."""
        return self.deep_url(number % SITES, KINDS[number % len(KINDS)], number)

    def deep_url(self, address: int, kind: str = "deep", number: int | None = None) -> str:
        """Return the URL of a page without third parties, three requests deep."""
        return f"http://{ADDRESSES[address]}:{self.port}/page/{kind}/{address if number is None else number}"

    async def configure(self, **values: Any) -> None:
        """Change the configuration, and count documents from 0."""
        async with aiohttp.ClientSession() as session:
            await session.post(self._control("configure"), json=values)

    async def documents(self) -> int:
        """Return the number of documents requested since the configuration."""
        async with aiohttp.ClientSession() as session, session.get(self._control("count")) as answer:
            return int((await answer.json())["documents"])

    def _control(self, path: str) -> str:
        return f"http://{ADDRESSES[0]}:{self.port}/{path}"


@asynccontextmanager
async def serving_world(world: World) -> AsyncIterator[WorldServer]:
    """Serve a world whose scripts cost what HTTP Archive measured, in CPU of this machine."""
    async with run_module("benchmarks.real_web.site") as (port, process):
        server = WorldServer(world, port, process.pid)
        await server.configure(
            third_parties={host: asdict(party) for host, party in world.parties.items()},
            sites=world.sites,
            steps_per_ms=await _measure_steps(server),
        )
        yield server


async def _measure_steps(server: WorldServer) -> int:
    """Return the steps of the loop in a millisecond of CPU, by the fastest of 60 turns."""
    async with Browsers(BrowserSettings(allow_nets=("127.0.0.0/8",))) as browsers:
        url = f"http://{ADDRESSES[0]}:{server.port}/calibration"
        snapshot = await browsers.visit(Request(url, mode=Mode.RENDER, wait="#rate"))
    found = re.search(r"RATE (\d+)", snapshot.html)
    if found is None:
        raise RuntimeError("the calibration page did not end")
    return int(found[1])


@contextmanager
def mapped_peer(server: WorldServer, reader: str, *options: str) -> Iterator[Contender]:
    """Yield a peer whose unchanged browser is started by a script that maps the third parties.

    Raises:
        FileNotFoundError: the peer is not set up.
    """
    contender = peer(reader, *options)
    rules = ",".join(f"MAP {host} {THIRD_PARTY_ADDRESS}:{server.port}" for host in server.world.parties)
    installed = Path(contender.environment[_BROWSERS_VARIABLE])
    with tempfile.TemporaryDirectory(prefix="benchmark-browsers-") as folder:
        for link in installed.rglob("*"):
            if link.is_symlink():
                script = Path(folder) / link.relative_to(installed)
                script.parent.mkdir(parents=True, exist_ok=True)
                script.write_text(f'#!/bin/sh\nexec "{os.readlink(link)}" "--host-resolver-rules={rules}" "$@"\n')
                script.chmod(0o755)
        environment = {**contender.environment, _BROWSERS_VARIABLE: folder}
        yield dataclasses.replace(contender, environment=environment)
