"""Launch Chromium, watch its processes, and end it with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from browsers import errors
from browsers.cdp.pipe_transport import PipeTransport
from browsers.cdp.session import CommandFailedError, Connection
from browsers.chromium.renderer_limits import RendererGuard, find_zygotes, measure_tree_bytes
from browsers.chromium.switches import DEAD_PROXY, LaunchPlan
from browsers.model import Tier

log = logging.getLogger(__name__)

_LAUNCH_LIMIT_S = 20.0
_CLOSE_LIMIT_S = 3.0
_SELF_TEST_LIMIT_S = 5.0
_OUTPUT_LIMIT_S = 1.0
_REASON_CHARS = 300
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

    def __init__(self, transport: PipeTransport, tier: Tier, sandboxed: bool, profile: Path) -> None:
        """Take ownership of a browser that has started, and of its profile folder."""
        self.connection = Connection(transport)
        self.tier = tier
        self.sandboxed = sandboxed
        self.version = ""
        self.started_at = time.monotonic()
        self.pid: int | None = None
        self.renderer_guard: RendererGuard | None = None
        self._transport = transport
        self._profile = profile
        self._watched: list[int] = []
        """Descriptors that signal the end of the zygotes."""

    async def watch(self, page_memory_bytes: int) -> None:
        """Read the process id, watch the zygotes, and limit the memory of renderers to `page_memory_bytes`.

        Without its zygote a browser opens no tab, so it is killed if the zygote ends. Without `pidfd_open`, as on
        macOS, only the process id is read.
        """
        found = await self.connection.call("SystemInfo.getProcessInfo")
        self.pid = next((p["id"] for p in found["processInfo"] if p["type"] == "browser"), None)
        if self.pid is None or not hasattr(os, "pidfd_open"):
            return
        for zygote in await asyncio.to_thread(find_zygotes, self.pid):
            with contextlib.suppress(OSError):
                descriptor = os.pidfd_open(zygote)
                self._watched.append(descriptor)
                asyncio.get_running_loop().add_reader(descriptor, self._on_zygote_exit)
        self.renderer_guard = RendererGuard(self.pid, page_memory_bytes, self.connection.expect_crash)
        self.renderer_guard.start()

    async def self_test(self) -> None:
        """Read the version, and open a tab and close it. Raises what `Connection.call` raises."""
        product = await self.connection.call("Browser.getVersion", limit_s=_LAUNCH_LIMIT_S)
        self.version = product["product"].partition("/")[2]
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
        if self.renderer_guard is not None:
            self.renderer_guard.close()
        self.connection.post("Browser.close")
        if not await self._transport.wait_exited(_CLOSE_LIMIT_S):
            self.kill()
        self.connection.close()
        self._unwatch()
        await asyncio.to_thread(shutil.rmtree, self._profile, ignore_errors=True)

    def kill(self) -> None:
        """Kill the browser. Its child processes then exit."""
        if self.pid is not None and not self.connection.closed.is_set():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)

    def _on_zygote_exit(self) -> None:
        self.kill()
        self._unwatch()
        self.connection.lost()

    def _unwatch(self) -> None:
        for descriptor in self._watched:
            asyncio.get_running_loop().remove_reader(descriptor)
            os.close(descriptor)
        self._watched.clear()


async def launch_chromium(request: LaunchRequest, folder: Path, *, may_disable_sandbox: bool = True) -> RunningChromium:
    """Start a browser with a profile in `folder`, with Chromium's sandbox if the host allows it.

    `may_disable_sandbox` allows a second attempt without the sandbox. Raises NoBrowserError if it does not start, and
    OSError or RuntimeError if the system starts no process.
    """
    # Chromium refuses to run as root with its sandbox. Other users need user namespaces for it.
    sandboxed = os.geteuid() != 0
    try:
        return await _launch(request, folder, sandboxed)
    except errors.NoBrowserError as refused:
        if not sandboxed or not may_disable_sandbox:
            raise
        running = await _launch(request, folder, False)
        log.warning("CHROMIUM RUNS WITHOUT ITS SANDBOX: this host does not allow it (%s)", refused)
        return running


async def _launch(request: LaunchRequest, folder: Path, sandboxed: bool) -> RunningChromium:
    profile = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="profile-", dir=folder))
    switches = (*request.plan.args, f"--user-data-dir={profile}", *(() if sandboxed else ("--no-sandbox",)))
    environment = {**request.plan.env, "TMPDIR": str(folder)}
    transport = await PipeTransport.start((request.executable, *switches), environment)
    try:
        running = RunningChromium(transport, request.tier, sandboxed, profile)
        async with asyncio.timeout(_LAUNCH_LIMIT_S):
            # A tab is opened first, so that its zygote exists and can be watched.
            await running.self_test()
            await running.watch(request.page_memory_bytes)
    except BaseException as error:
        is_refusal = isinstance(error, (OSError, CommandFailedError, errors.BrowserGoneError))
        if is_refusal:
            await transport.wait_exited(_OUTPUT_LIMIT_S)
        transport.close()
        shutil.rmtree(profile, ignore_errors=True)
        if is_refusal:
            raise _no_browser(request, transport.output.decode(errors="replace"), error) from error
        raise
    log.info("browser started tier=%s version=%s sandbox=%s", request.tier, running.version, sandboxed)
    return running


def _no_browser(request: LaunchRequest, output: str, error: BaseException) -> errors.NoBrowserError:
    """Return the error of a browser that does not start, with the fatal or first line of its output, if any."""
    printed = [line.strip() for line in output.splitlines() if line.strip()]
    fatal = [line for line in printed if any(word in line for word in _FATAL_WORDS)]
    reason = (fatal or printed or [str(error) or type(error).__name__])[0][:_REASON_CHARS]
    return errors.NoBrowserError(f"Chromium at {request.executable} does not start: {reason.rstrip('.')}.")
