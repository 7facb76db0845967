"""Launch Chromium with Playwright, watch its processes, and end it with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shutil
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from browsers import errors
from browsers.cdp.session import CdpTransport, CommandFailedError, Connection
from browsers.cdp.transports import PipeHandshake, PipeTransport, PlaywrightTransport
from browsers.chromium.playwright_driver import PlaywrightDriver
from browsers.chromium.renderer_limits import RendererGuard, find_zygotes, measure_tree_bytes
from browsers.chromium.switches import DEAD_PROXY, LaunchPlan
from browsers.model import Tier

if TYPE_CHECKING:
    from playwright.async_api import Browser

log = logging.getLogger(__name__)

_LAUNCH_LIMIT_S = 20.0
_CLOSE_LIMIT_S = 3.0
_SELF_TEST_LIMIT_S = 5.0
_REASON_CHARS = 300
_STDERR_LINE = re.compile(r"^\[pid=\d+\]\[err\] (.+)$", re.MULTILINE)
_FATAL_WORDS = ("FATAL", "error while loading shared libraries", "sandbox")
"""Words in messages about fatal errors. Other messages are about missing optional features."""


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """Executable to start, its tier, switches and memory limit."""

    tier: Tier
    executable: str
    plan: LaunchPlan
    page_memory_bytes: int
    """Maximum resident memory of a renderer process, in bytes."""


class RunningChromium:
    """A running browser. `connection.closed` is set when it has ended."""

    def __init__(
        self, browser: Browser, connection: Connection, request: LaunchRequest, sandboxed: bool, folders: set[Path]
    ) -> None:
        """Take ownership of a browser that has started."""
        self.connection = connection
        self.tier = request.tier
        self.sandboxed = sandboxed
        self.version = browser.version
        self.started_at = time.monotonic()
        self.pid: int | None = None
        self.renderer_guard = RendererGuard(request.page_memory_bytes, connection.expect_crash)
        self._browser = browser
        self._folders = folders
        self._watched: dict[int, int] = {}
        """Process ids by the descriptor that signals their end."""

    async def watch(self) -> None:
        """Read the process id, watch for the end, and limit the memory of renderers.

        Without its zygote a browser opens no tab, so it is killed if the zygote ends. Without `pidfd_open`, as on
        macOS, only the process id is read.
        """
        found = await self.connection.browser.send("SystemInfo.getProcessInfo")
        self.pid = next((p["id"] for p in found["processInfo"] if p["type"] == "browser"), None)
        if self.pid is None or not hasattr(os, "pidfd_open"):
            return
        self._watch(self.pid)
        for zygote in await asyncio.to_thread(find_zygotes, self.pid):
            self._watch(zygote)
        self.renderer_guard.start(self.pid)

    async def self_test(self) -> None:
        """Open a tab and close it, to test the transport. Raises what `Session.send` raises."""
        context_id = await self.connection.open_context(DEAD_PROXY)
        _, session = await self.connection.open_session(context_id, limit_s=_SELF_TEST_LIMIT_S)
        await session.send("Page.getFrameTree", limit_s=_SELF_TEST_LIMIT_S)
        await self.connection.close_context(context_id, limit_s=_SELF_TEST_LIMIT_S)
        self.connection.forget(session)

    async def memory_bytes(self) -> int | None:
        """Return the proportional set size of the whole tree in bytes, or None if unknown."""
        return None if self.pid is None else await asyncio.to_thread(measure_tree_bytes, self.pid)

    async def close(self) -> None:
        """Close the browser, by force if necessary, and remove its profile."""
        self.connection.fail_tabs()
        self.renderer_guard.close()
        try:
            async with asyncio.timeout(_CLOSE_LIMIT_S):
                await self._browser.close()
        except Exception:  # a closed browser cannot be closed again, and Playwright's error varies
            self.kill()
        self.connection.close()
        self._unwatch()
        for folder in self._folders:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def kill(self) -> None:
        """Kill the browser. Its child processes then exit."""
        if self.pid is not None and not self.connection.closed.is_set():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)

    def _watch(self, pid: int) -> None:
        with contextlib.suppress(OSError):
            descriptor = os.pidfd_open(pid)
            self._watched[descriptor] = pid
            asyncio.get_running_loop().add_reader(descriptor, self._on_exit, pid)

    def _on_exit(self, pid: int) -> None:
        if pid != self.pid:
            self.kill()
        self._unwatch()
        self.connection.lost()

    def _unwatch(self) -> None:
        for descriptor in self._watched:
            asyncio.get_running_loop().remove_reader(descriptor)
            os.close(descriptor)
        self._watched.clear()


async def launch_chromium(
    driver: PlaywrightDriver, request: LaunchRequest, folder: Path, *, may_disable_sandbox: bool = True
) -> RunningChromium:
    """Start a browser, with Chromium's sandbox if the host allows it. A crashed driver is replaced.

    Only one launch may run at a time: folders that appear in `folder` meanwhile are taken for this browser's profile.
    `may_disable_sandbox` allows a second attempt without the sandbox. Raises NoBrowserError if it does not start.
    """
    # Chromium refuses to run as root with its sandbox. Other users need user namespaces for it.
    sandboxed = os.geteuid() != 0
    try:
        return await _launch_on_best_transport(driver, request, folder, sandboxed)
    except errors.NoBrowserError as refused:
        if not sandboxed or not may_disable_sandbox:
            raise
        running = await _launch_on_best_transport(driver, request, folder, False)
        log.warning("CHROMIUM RUNS WITHOUT ITS SANDBOX: this host does not allow it (%s)", refused)
        return running


async def _launch_on_best_transport(
    driver: PlaywrightDriver, request: LaunchRequest, folder: Path, sandboxed: bool
) -> RunningChromium:
    handshake = PipeHandshake(folder, request.executable)
    try:
        if await asyncio.to_thread(handshake.open):
            try:
                return await _launch(driver, request, folder, sandboxed, handshake)
            except errors.NoBrowserError as error:
                log.warning("shared pipe not usable, using Playwright's session: %s", error)
    finally:
        handshake.close()
    return await _launch(driver, request, folder, sandboxed, None)


async def _launch(
    driver: PlaywrightDriver, request: LaunchRequest, folder: Path, sandboxed: bool, handshake: PipeHandshake | None
) -> RunningChromium:
    before = await asyncio.to_thread(_list_folders, folder)
    connecting = asyncio.ensure_future(handshake.wait_connected()) if handshake is not None else None
    executable = str(handshake.executable) if handshake is not None else request.executable
    try:
        browser = await _start(driver, request, executable, folder, sandboxed)
    except BaseException:
        if connecting is not None:
            connecting.cancel()
            connecting.add_done_callback(_close_unused)
        raise
    folders = await asyncio.to_thread(_list_folders, folder) - before
    transport: CdpTransport | None = None
    try:
        async with asyncio.timeout(_LAUNCH_LIMIT_S):
            transport = await _open_transport(browser, connecting)
            running = RunningChromium(browser, Connection(transport), request, sandboxed, folders)
            # A tab has been opened before, so its zygote exists and can be watched.
            await running.self_test()
            await running.watch()
    except BaseException as error:
        with contextlib.suppress(Exception):
            await browser.close()
        if transport is not None:
            transport.close()
        if isinstance(error, (OSError, CommandFailedError, errors.BrowserGoneError)):
            raise _no_browser(request, error) from error
        raise
    wire = type(transport).__name__
    log.info("browser started tier=%s version=%s sandbox=%s wire=%s", request.tier, running.version, sandboxed, wire)
    return running


def _close_unused(transport_future: asyncio.Future[PipeTransport]) -> None:
    if not transport_future.cancelled() and transport_future.exception() is None:
        transport_future.result().close()


async def _open_transport(browser: Browser, transport_future: asyncio.Future[PipeTransport] | None) -> CdpTransport:
    if transport_future is None:
        nested = PlaywrightTransport(await browser.new_browser_cdp_session())
        browser.on("disconnected", lambda _: nested.lost())
        return nested
    transport = await transport_future
    try:
        await transport.attach()
    except BaseException:
        transport.close()
        raise
    return transport


async def _start(
    driver: PlaywrightDriver, request: LaunchRequest, executable: str, folder: Path, sandboxed: bool
) -> Browser:
    for is_retry in (False, True):
        playwright = await driver.playwright()
        try:
            return await playwright.chromium.launch(
                executable_path=executable,
                headless=request.plan.headless,
                args=list(request.plan.args),
                ignore_default_args=list(request.plan.ignore_default_args),
                env={**request.plan.env, "TMPDIR": str(folder)},
                chromium_sandbox=sandboxed,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=_LAUNCH_LIMIT_S * 1000,
            )
        except Exception as error:
            if is_retry or not _is_driver_dead(error):
                raise _no_browser(request, error) from error
            await driver.restart(playwright)
    raise AssertionError  # the second attempt returns or raises


def _list_folders(folder: Path) -> set[Path]:
    return {entry for entry in folder.iterdir() if entry.is_dir()}


def _is_driver_dead(error: Exception) -> bool:
    message = str(error)
    # A browser that exits at once, for example without its sandbox, has the same message with its output.
    closed = "Target page, context or browser has been closed" in message and "Browser logs" not in message
    return closed or "Connection closed" in message


def _no_browser(request: LaunchRequest, error: Exception) -> errors.NoBrowserError:
    """Return an error with the browser's last error output if Playwright has it, else the first line of the error."""
    message = str(error)
    printed = [line.strip() for line in _STDERR_LINE.findall(message)]
    fatal = [line for line in printed if any(word in line for word in _FATAL_WORDS)]
    lines = fatal or printed or (message or type(error).__name__).strip().splitlines()
    reason = lines[0][:_REASON_CHARS].rstrip(".")
    return errors.NoBrowserError(f"Chromium at {request.executable} does not start: {reason}.")
