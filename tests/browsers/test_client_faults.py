"""Processes killed under load: visits fail with typed errors or are retried, and nothing is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import os.path
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Playwright
from playwright.async_api._context_manager import PlaywrightContextManager

from browsers import Browsers, BrowserSettings, Mode, Request, Tier, errors
from browsers.cdp.transports import PipeHandshake
from browsers.chromium import playwright_driver, renderer_limits
from browsers.chromium.playwright_driver import PREFIX, ProfileDir, remove_abandoned_dirs
from browsers.chromium.process import launch_chromium
from browsers.chromium.renderer_limits import list_tree_pids
from browsers.egress import proxy_server
from browsers.egress.proxy_listener import ProxyLimits
from browsers.navigation import readiness
from browsers.pool import browser_handle, browser_pool
from tests.browsers.visits import WAITING, marks, until, visit
from tests.growth import full_size
from tests.site.running import Site

pytestmark = [
    pytest.mark.browser,
    pytest.mark.own_processes,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found through /proc"),
]

VICTIMS = {
    "browser": lambda line: "chromium" in line and "--type=" not in line and "launcher.py" not in line,
    "renderer": lambda line: "--type=renderer" in line,
    "zygote": lambda line: "--type=zygote" in line,
    "driver": lambda line: "run-driver" in line,
}


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def ours() -> dict[int, str]:
    return {pid: command_line(pid) for pid in list_tree_pids(os.getpid())[1:]}


def victims(victim: str, before: set[int]) -> list[int]:
    """Return the new processes only: those of other browsers must not be killed."""
    found = ours()
    return [pid for pid, line in found.items() if pid not in before and VICTIMS[victim](line) and "pytest" not in line]


def kill(pids: Iterable[int]) -> None:
    """Kill the processes and ignore those that have already ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def of_profile(lines: dict[int, str], folder: str) -> list[int]:
    return [pid for pid, line in lines.items() if folder in line]


def everyone() -> dict[int, str]:
    return {int(entry.name): command_line(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit()}


@pytest_asyncio.fixture
async def fresh(browser_settings: BrowserSettings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Browsers]:
    """Open browsers that the test may break."""
    # A connection that a killed process left open is closed after this time, and its request is repeated.
    monkeypatch.setattr(proxy_server, "ProxyLimits", lambda: ProxyLimits(idle_s=6.0))
    async with Browsers(browser_settings) as running:
        yield running


async def under_load(client: Browsers, site: Site, number: int, tier: Tier) -> str:
    try:
        url = site.url("/slow-xhr", f"host{number}.example")
        # Wait for the text: on a busy machine the site may be slower than the limit for running requests.
        waits = {"wait": "p:nth-of-type(5)", "limits": WAITING}
        request = Request(url, mode=Mode.RENDER, tier=tier, deadline_s=120, **waits)  # type: ignore[arg-type]
        return f"{marks(await client.visit(request))} marks"
    except errors.BrowsersError as error:
        return type(error).__name__


@pytest.mark.thorough
@pytest.mark.parametrize("tier", [Tier.LIGHT, pytest.param(Tier.FULL, marks=pytest.mark.full_size)])
@pytest.mark.parametrize(
    "victim", ["browser", *(full_size(name, id=name) for name in ("driver", "renderer", "zygote"))]
)
async def test_visits_survive_a_kill_under_load(
    fresh: Browsers, site: Site, victim: str, tier: Tier, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A page that stalls on a busy machine must not count as one in an endless loop.
    monkeypatch.setattr(readiness, "SAMPLE_LIMIT_S", 30.0)
    before = set(ours())
    await visit(fresh, site, "/static/1", tier=tier)
    folder = str(fresh.folder)

    def requests() -> int:
        return sum(site.hits("/api/article", f"host{number}.example") for number in range(1, 5))

    before_load = requests()
    visits = [asyncio.create_task(under_load(fresh, site, number, tier)) for number in range(1, 5)]
    await until(lambda: requests() > before_load)
    await until(lambda: victims(victim, before) != [])
    kill(victims(victim, before))
    assert await served_again(fresh, site, tier)
    outcomes = await asyncio.gather(*visits)
    assert set(outcomes) <= {"10 marks", "BrowserGoneError", "PageCrashedError"}
    await fresh.close()
    assert not os.path.exists(folder)
    await until(lambda: not of_profile(everyone(), folder))


async def served_again(client: Browsers, site: Site, tier: Tier) -> bool:
    """Check that a page is read soon after the kill, without a time-out. Failed attempts are typed."""
    async with asyncio.timeout(60):
        while True:
            with contextlib.suppress(errors.BrowserGoneError, errors.PageCrashedError):
                return marks(await visit(client, site, "/static/2", tier=tier, deadline_s=120)) == 60


async def test_crashed_browser_is_replaced_before_the_next_visit(fresh: Browsers, site: Site) -> None:
    before = set(ours())
    await visit(fresh, site, "/static/1")
    kill(victims("browser", before))
    await until(lambda: fresh.status().restarts > 0 and fresh.status().ready)


async def test_hanging_browser_is_not_ready_until_it_continues_or_is_replaced(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_handle, "PROBE_INTERVAL_S", 0.5)
    monkeypatch.setattr(browser_handle, "MAX_MISSED_PROBES", 1_000_000)
    async with Browsers(replace(browser_settings, housekeeping_s=0.1)) as client:
        await until(lambda: client.status().ready)
        pid = client.pool.handles[Tier.LIGHT].chromium.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        await until(lambda: not client.status().ready)
        os.kill(pid, signal.SIGCONT)
        await until(lambda: client.status().ready)
        assert client.status().restarts == 0
        os.kill(pid, signal.SIGSTOP)
        monkeypatch.setattr(browser_handle, "MAX_MISSED_PROBES", 2)
        await until(lambda: client.status().restarts > 0)
        monkeypatch.setattr(browser_handle, "MAX_MISSED_PROBES", 1_000_000)
        await until(lambda: client.status().ready)
        assert marks(await visit(client, site, "/static/1")) == 60


async def test_killed_server_leaves_no_chromium_and_the_next_start_cleans_up(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another server on this machine would clean the shared folder at its start.
    common = tempfile.mkdtemp(prefix="kill-")
    monkeypatch.setattr(tempfile, "tempdir", common)
    monkeypatch.setenv("TMPDIR", common)
    hosts = repr(site.test_hosts)
    program = (
        "import asyncio\n"
        "from browsers import Browsers, BrowserSettings, Request\n"
        "async def main():\n"
        f"    async with Browsers(BrowserSettings(test_hosts={hosts})) as door:\n"
        f"        await door.visit(Request({site.url('/static/1')!r}, deadline_s=120))\n"
        "        print(door.folder, flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    folder = (await process.stdout.readline()).decode().strip()
    assert folder.startswith(common) and of_profile(everyone(), folder)
    process.kill()
    await process.communicate()
    await until(lambda: not of_profile(everyone(), folder))
    assert os.path.exists(folder)
    with ProfileDir():
        assert not os.path.exists(folder)
    shutil.rmtree(common)


async def test_profile_folder_of_a_running_owner_is_not_removed() -> None:
    with ProfileDir() as living:
        remove_abandoned_dirs()
        assert living.path.exists()
        assert living.path.name.startswith(PREFIX)
    assert not living.path.exists()


async def test_closing_pool_starts_no_browser(browser_settings: BrowserSettings, site: Site) -> None:
    before = set(ours())
    async with Browsers(browser_settings) as client:
        running = asyncio.create_task(client.visit(Request(site.url("/never"), deadline_s=60)))
        await until(lambda: site.open("/never") > 0)
    with pytest.raises(errors.BrowserGoneError):
        await running
    await until(lambda: not victims("driver", before) + victims("browser", before))


async def test_browser_that_starts_during_close_is_closed(browser_settings: BrowserSettings, site: Site) -> None:
    before = set(ours())
    async with Browsers(browser_settings) as client:
        running = asyncio.create_task(visit(client, site, "/static/1"))
        await until(lambda: victims("driver", before) != [])
    with pytest.raises(errors.BrowserGoneError):
        await running
    await until(lambda: not victims("driver", before) + victims("browser", before))


async def test_driver_that_starts_slowly_during_close_is_stopped(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = PlaywrightContextManager.start
    limit_s = playwright_driver.STOP_LIMIT_S

    async def start_slowly(self: PlaywrightContextManager) -> Playwright:
        playwright = await start(self)
        await asyncio.sleep(limit_s + 0.5)
        return playwright

    monkeypatch.setattr(PlaywrightContextManager, "start", start_slowly)
    before = set(ours())
    async with Browsers(browser_settings) as client:
        running = asyncio.create_task(visit(client, site, "/static/1"))
        await until(lambda: victims("driver", before) != [])
    with pytest.raises(errors.BrowserGoneError):
        await running
    assert not victims("driver", before)


@pytest.mark.thorough
async def test_playwright_transport_is_used_without_the_shared_pipe(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PipeHandshake, "open", lambda self: False)
    async with Browsers(browser_settings) as client:
        assert marks(await visit(client, site, "/static/1", Mode.PEEK)) == 60
        assert marks(await visit(client, site, "/spa/1")) == 60
        assert marks(await visit(client, site, "/frames")) == 30


@pytest.mark.thorough
async def test_crashed_browser_is_replaced_without_linux_features(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Simulate macOS: no pidfd reports the end of a process, and no /proc lists its children and memory.
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    before = set(ours())
    monkeypatch.setattr(renderer_limits, "PROC", Path("/nonexistent"))
    async with Browsers(replace(browser_settings, housekeeping_s=0.1)) as client:
        assert marks(await visit(client, site, "/spa/1")) == 60
        monkeypatch.setattr(renderer_limits, "PROC", Path("/proc"))
        found = victims("browser", before)
        monkeypatch.setattr(renderer_limits, "PROC", Path("/nonexistent"))
        kill(found)
        assert found and await served_again(client, site, Tier.LIGHT)
        assert client.status().browsers[0].memory_bytes is None


async def test_error_without_chromium_says_how_to_install_one(browser_settings: BrowserSettings, site: Site) -> None:
    broken = replace(browser_settings, light_executable="/nonexistent", full_executable="/nonexistent")
    async with Browsers(broken) as client:
        with pytest.raises(errors.NoBrowserError) as caught:
            await visit(client, site, "/static/1")
        assert "search-mcp install-browser" in caught.value.next_step
        assert not client.status().ready


@pytest.mark.thorough
async def test_a_worn_browser_is_replaced_without_a_failed_visit(browser_settings: BrowserSettings, site: Site) -> None:
    worn = replace(browser_settings, peeks_per_browser=3, housekeeping_s=0.2)
    async with Browsers(worn) as client:
        await visit(client, site, "/static/0", Mode.PEEK)
        first = client.pool.handles[Tier.LIGHT]
        async with asyncio.timeout(60):
            while client.pool.handles[Tier.LIGHT] is first or not first.chromium.connection.closed.is_set():
                assert marks(await visit(client, site, "/static/1", Mode.PEEK)) == 60
        assert first.peeks >= 3
        assert client.status().restarts == 0


async def test_a_caller_that_gives_up_does_not_end_the_start_of_the_browser(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, may_start = [], asyncio.Event()
    launch = launch_chromium

    async def launch_slowly(*arguments: Any, **options: Any) -> Any:
        starts.append(arguments)
        await may_start.wait()
        return await launch(*arguments, **options)

    monkeypatch.setattr(browser_pool, "launch_chromium", launch_slowly)
    async with Browsers(browser_settings, is_lazy=True) as client:
        with pytest.raises(errors.BrowserGoneError, match="ready in time"):
            await visit(client, site, "/static/1", deadline_s=0.3)
        may_start.set()
        assert marks(await visit(client, site, "/static/1")) == 60
        assert len(starts) == 1


async def test_a_start_ends_with_the_browsers(
    browser_settings: BrowserSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def launch_never(*arguments: Any, **options: Any) -> Any:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(browser_pool, "launch_chromium", launch_never)
    async with Browsers(browser_settings, is_lazy=True) as client:
        starting = asyncio.create_task(client.start(Tier.LIGHT))
        await begun.wait()
    with pytest.raises(errors.BrowserGoneError, match="being closed"):
        await starting
