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
from browsers.chromium.driver import Driver
from browsers.chromium.switches import LaunchPlan
from browsers.model import Tier

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

PROC = Path("/proc")


def list_tree_pids(root: int) -> list[int]:
    """The process and all its descendants; empty where there is no /proc."""
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        try:
            threads = list((PROC / str(pid) / "task").iterdir())
        except OSError:
            continue
        found.append(pid)
        for thread in threads:
            try:
                todo.extend(int(child) for child in (thread / "children").read_text().split())
            except OSError:
                continue
    return found


def measure_tree_bytes(root: int) -> int | None:
    """Proportional set size of the tree, shared pages counted once; None where the platform does not tell."""
    total = 0
    for pid in list_tree_pids(root):
        try:
            rollup = (PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return total * 1024 or None


def find_zygotes(root: int) -> list[int]:
    """The processes of the tree that all its later renderers are forked from."""
    # Chromium rewrites its command lines: where NULs were, there are spaces a moment later.
    return [pid for pid in list_tree_pids(root) if b"--type=zygote" in _command_line(pid)]


def _command_line(pid: int) -> bytes:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""


log = logging.getLogger(__name__)

LAUNCH_LIMIT_S = 20.0
CLOSE_LIMIT_S = 3.0
SELF_TEST_LIMIT_S = 5.0
DEAD_PROXY = "socks5://127.0.0.1:9"
REASON_CHARS = 300
_PRINTED = re.compile(r"^\[pid=\d+\]\[err\] (.+)$", re.MULTILINE)
_GRAVE = ("FATAL", "error while loading shared libraries", "sandbox")
"""Words of what ends a browser, among its lines about what it does without."""


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """Which binary to start, and how."""

    tier: Tier
    executable: str
    plan: LaunchPlan


class RunningChromium:
    """A browser that answers; `connection.closed` is set when it is gone."""

    def __init__(
        self, browser: Browser, connection: Connection, tier: Tier, sandboxed: bool, folders: set[Path]
    ) -> None:
        self.connection = connection
        self.tier = tier
        self.sandboxed = sandboxed
        self.version = browser.version
        self.started_at = time.monotonic()
        self.pid: int | None = None
        self._browser = browser
        self._folders = folders
        self._watched: dict[int, int] = {}
        """Process ids by the descriptor that tells of their end."""

    async def watch(self) -> None:
        """Learn the browser's process id, and notice its death even when nobody tells.

        A browser whose zygote was killed lives on and never opens another tab: it is ended too.
        """
        found = await self.connection.call("SystemInfo.getProcessInfo")
        self.pid = next((p["id"] for p in found["processInfo"] if p["type"] == "browser"), None)
        if self.pid is None or not hasattr(os, "pidfd_open"):
            return
        self._watch(self.pid)
        for zygote in await asyncio.to_thread(find_zygotes, self.pid):
            self._watch(zygote)

    async def self_test(self) -> None:
        """Open a tab and close it: a wire that cannot do this is of no use.

        Raises:
            CommandFailed, TimeoutError, BrowserGone
        """
        context_id = await self.connection.open_context(DEAD_PROXY)
        _, session = await self.connection.open_session(context_id, limit_s=SELF_TEST_LIMIT_S)
        await session.send("Page.getFrameTree", limit_s=SELF_TEST_LIMIT_S)
        await self.connection.close_context(context_id, limit_s=SELF_TEST_LIMIT_S)
        self.connection.forget(session)

    async def memory_bytes(self) -> int | None:
        """Proportional set size of the whole tree; None where the platform does not tell."""
        return None if self.pid is None else await asyncio.to_thread(measure_tree_bytes, self.pid)

    async def close(self) -> None:
        """End the browser: politely, then by force; its profile goes with it."""
        self.connection.end_tabs()
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await self._browser.close()
        except (
            Exception
        ):  # a browser that is gone already cannot be closed, in whatever words Playwright says so
            self.kill()
        self.connection.close()
        self._unwatch()
        await asyncio.to_thread(self._remove_folders)

    def kill(self) -> None:
        """End the browser by force; its children notice and go."""
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

    def _remove_folders(self) -> None:
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)


async def launch(
    driver: Driver, order: LaunchRequest, folder: Path, *, may_bare: bool = True
) -> RunningChromium:
    """Start a browser, with Chromium's sandbox where the host allows it; a driver that died is replaced.

    Only one launch may run at a time: what appears in `folder` meanwhile is taken for this browser's profile.
    `may_bare`: whether one that does not start may be tried without its sandbox.

    Raises:
        NoBrowser: it does not start.
    """
    # Chromium refuses to run as root with its sandbox; an ordinary user needs user namespaces for it.
    sandboxed = os.geteuid() != 0
    try:
        return await _launch_on_best_wire(driver, order, folder, sandboxed)
    except errors.NoBrowserError as refused:
        if not sandboxed or not may_bare:
            raise
        running = await _launch_on_best_wire(driver, order, folder, False)
        log.warning("CHROMIUM RUNS WITHOUT ITS SANDBOX: this host does not allow it (%s)", refused)
        return running


async def _launch_on_best_wire(
    driver: Driver, order: LaunchRequest, folder: Path, sandboxed: bool
) -> RunningChromium:
    rendezvous = PipeHandshake(folder, order.executable)
    try:
        if await asyncio.to_thread(rendezvous.open):
            try:
                return await _launch(driver, order, folder, sandboxed, rendezvous)
            except errors.NoBrowserError as error:
                log.warning("shared pipe not usable, taking the nested wire: %s", error)
    finally:
        rendezvous.close()
    return await _launch(driver, order, folder, sandboxed, None)


async def _launch(
    driver: Driver, order: LaunchRequest, folder: Path, sandboxed: bool, rendezvous: PipeHandshake | None
) -> RunningChromium:
    before = await asyncio.to_thread(_folders_in, folder)
    meeting = asyncio.ensure_future(rendezvous.meet()) if rendezvous is not None else None
    executable = str(rendezvous.executable) if rendezvous is not None else order.executable
    try:
        browser = await _start(driver, order, executable, folder, sandboxed)
    except BaseException:
        if meeting is not None:
            meeting.cancel()
            meeting.add_done_callback(_close_unused)
        raise
    folders = await asyncio.to_thread(_folders_in, folder) - before
    wire: CdpTransport | None = None
    try:
        async with asyncio.timeout(LAUNCH_LIMIT_S):
            wire = await _wire(browser, meeting)
            running = RunningChromium(browser, Connection(wire), order.tier, sandboxed, folders)
            # A tab has been opened by then, so the zygote that it came from is there to be watched.
            await running.self_test()
            await running.watch()
    except BaseException as error:
        with contextlib.suppress(Exception):
            await browser.close()
        if wire is not None:
            wire.close()
        if isinstance(error, (OSError, CommandFailedError, errors.BrowserGoneError)):
            raise _no_browser(order, error) from error
        raise
    log.info(
        "browser started tier=%s version=%s sandbox=%s wire=%s",
        order.tier,
        running.version,
        sandboxed,
        type(wire).__name__,
    )
    return running


def _close_unused(meeting: asyncio.Future[PipeTransport]) -> None:
    """A launcher may have brought its pipe before the browser behind it died."""
    if not meeting.cancelled() and meeting.exception() is None:
        meeting.result().close()


async def _wire(browser: Browser, meeting: asyncio.Future[PipeTransport] | None) -> CdpTransport:
    if meeting is None:
        nested = PlaywrightTransport(await browser.new_browser_cdp_session())
        browser.on("disconnected", lambda _: nested.lost())
        return nested
    wire = await meeting
    try:
        await wire.attach()
    except BaseException:
        wire.close()
        raise
    return wire


async def _start(
    driver: Driver, order: LaunchRequest, executable: str, folder: Path, sandboxed: bool
) -> Browser:
    playwright = await driver.playwright()
    try:
        return await _launch_with(playwright, order, executable, folder, sandboxed)
    except Exception as error:
        if not _driver_is_dead(error):
            raise _no_browser(order, error) from error
        await driver.restart(playwright)
    try:
        return await _launch_with(await driver.playwright(), order, executable, folder, sandboxed)
    except Exception as error:
        raise _no_browser(order, error) from error


async def _launch_with(
    playwright: Playwright, order: LaunchRequest, executable: str, folder: Path, sandboxed: bool
) -> Browser:
    return await playwright.chromium.launch(
        executable_path=executable,
        args=list(order.plan.args),
        ignore_default_args=list(order.plan.ignore_default_args),
        env={**order.plan.env, "TMPDIR": str(folder)},
        chromium_sandbox=sandboxed,
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
        timeout=LAUNCH_LIMIT_S * 1000,
    )


def _folders_in(folder: Path) -> set[Path]:
    return {entry for entry in folder.iterdir() if entry.is_dir()}


def _driver_is_dead(error: Exception) -> bool:
    said = str(error)
    # A browser that exits at once, as for want of a sandbox, is told in the same words, with what it printed.
    closed = "Target page, context or browser has been closed" in said and "Browser logs" not in said
    return closed or "Connection closed" in said


def _no_browser(order: LaunchRequest, error: Exception) -> errors.NoBrowserError:
    return errors.NoBrowserError(
        f"Chromium at {order.executable} does not start: {_reason(error).rstrip('.')}."
    )


def _reason(error: Exception) -> str:
    """The browser's own last words where Playwright has them, else the first line of what it says."""
    said = str(error)
    printed = [line.strip() for line in _PRINTED.findall(said)]
    grave = [line for line in printed if any(word in line for word in _GRAVE)]
    lines = grave or printed or (said or type(error).__name__).strip().splitlines()
    return lines[0][:REASON_CHARS]
