"""Chromium and fork servers that stay running between tests, which do not test their start or end.

A start of Chromium costs 0.8 s of CPU, most of it in Playwright's driver, that of a fork server another 0.7 s, and
that of a command line 1 s, nearly all of it for imports.
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from browsers.cdp.session import CommandFailedError
from browsers.chromium.playwright_driver import PlaywrightDriver, ProfileDir
from browsers.chromium.process import LaunchRequest, RunningChromium, launch_chromium
from browsers.errors import BrowsersError
from browsers.pool import browser_pool
from scraper.workers import pool
from scraper.workers.process import ForkServerClient, Worker
from tests.forked_python import ForkServer

MAX_IDLE = 3
"""Idle browsers that are kept: one of each tier, and one with other switches."""


class WarmProcesses:
    """Lend each running browser to one pool of this event loop at a time, and fork servers to all pools of workers."""

    current: WarmProcesses | None = None
    """Those of this test session, as long as a test may use them."""

    def __init__(self) -> None:
        """Start nothing."""
        self.is_paused = False
        """True while a test runs that starts processes of its own."""
        self.loop = asyncio.get_running_loop()
        self._folder = ProfileDir()
        self._driver = PlaywrightDriver(self._folder)
        self._idle: list[tuple[LaunchRequest, RunningChromium]] = []
        self._launching = asyncio.Lock()
        self._fork_servers: dict[object, ForkServerClient] = {}

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Lend processes while the block runs."""
        with self._folder, pytest.MonkeyPatch.context() as patch:
            patch.setattr(browser_pool, "launch_chromium", self._launch)
            patch.setattr(pool, "ForkServerClient", self._fork_server)
            WarmProcesses.current = self
            yield
            WarmProcesses.current = None

    async def close(self) -> None:
        """End all processes."""
        for _, chromium in self._idle:
            await RunningChromium.close(chromium)
        await self._driver.close()
        for server in self._fork_servers.values():
            await server.close()
        if "python" in vars(self):
            self.python.close()

    @functools.cached_property
    def python(self) -> ForkServer:
        """Return the process that forks command lines and servers."""
        return ForkServer()

    async def _launch(
        self, driver: PlaywrightDriver, request: LaunchRequest, folder: Path, *, may_disable_sandbox: bool = True
    ) -> RunningChromium:
        if self.is_paused or asyncio.get_running_loop() is not self.loop:
            return await launch_chromium(driver, request, folder, may_disable_sandbox=may_disable_sandbox)
        for index, (ready, chromium) in enumerate(self._idle):
            if ready == request:
                del self._idle[index]
                if chromium.connection.closed.is_set():
                    return await self._launch(driver, request, folder, may_disable_sandbox=may_disable_sandbox)
                chromium.started_at = time.monotonic()
                return chromium
        async with self._launching:
            chromium = await launch_chromium(
                self._driver, request, self._folder.path, may_disable_sandbox=may_disable_sandbox
            )

        async def keep() -> None:
            await self._keep(request, chromium)

        chromium.close = keep  # type: ignore[method-assign]
        return chromium

    async def _keep(self, request: LaunchRequest, chromium: RunningChromium) -> None:
        """Close all contexts of a browser and keep it, unless it has died or a session of actions has changed it."""
        connection, guard = chromium.connection, chromium.renderer_guard
        # Tabs that are still used fail as they do when a browser ends.
        connection.fail_tabs()
        try:
            if connection.browser._handlers or connection._kills or guard.is_shared_memory_high:
                raise CommandFailedError("It differs from a new browser.")
            for context_id in (await connection.browser.send("Target.getBrowserContexts"))["browserContextIds"]:
                await connection.close_context(context_id)
        except (BrowsersError, CommandFailedError, TimeoutError):
            await RunningChromium.close(chromium)
            return
        self._idle.append((request, chromium))
        if len(self._idle) > MAX_IDLE:
            await RunningChromium.close(self._idle.pop(0)[1])

    def _fork_server(self, *, preload: tuple[str, ...], memory_bytes: int) -> Any:
        if self.is_paused:
            return ForkServerClient(preload=preload, memory_bytes=memory_bytes)
        key = (preload, memory_bytes, os.environ.get("TMPDIR"), tuple(sys.path))
        server = self._fork_servers.get(key)
        if server is None or not server.is_alive:
            server = self._fork_servers[key] = ForkServerClient(preload=preload, memory_bytes=memory_bytes)
        return LentForkServer(server)


class LentForkServer:
    """A `ForkServerClient` that ends only its own workers."""

    def __init__(self, server: ForkServerClient) -> None:
        """Use a running fork server."""
        self._server = server
        self._workers: list[Worker] = []
        self.pid = server.pid

    @property
    def is_alive(self) -> bool:
        """Return True while it can fork."""
        return self._server.is_alive

    def fork(self) -> Worker:
        """Start a worker."""
        worker = self._server.fork()
        self._workers.append(worker)
        return worker

    def release(self) -> None:
        """End its workers."""
        for worker in self._workers:
            worker.end()

    async def close(self) -> None:
        """End its workers."""
        self.release()
