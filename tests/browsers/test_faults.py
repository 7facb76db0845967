"""Whatever is killed under load: visits fail typed or are made again, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import os.path
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from browsers import Browsers, BrowserSettings, Mode, Request, Tier, errors
from browsers.chromium import processes
from browsers.chromium.folder import PREFIX, RunFolder, sweep
from browsers.chromium.processes import tree_pids
from browsers.wires.pipe import Rendezvous
from tests.browsers.reading import marks, visit
from tests.site.running import Site

pytestmark = [
    pytest.mark.browser,
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
    return {pid: command_line(pid) for pid in tree_pids(os.getpid())[1:]}


def of_profile(lines: dict[int, str], folder: str) -> list[int]:
    return [pid for pid, line in lines.items() if folder in line]


def everyone() -> dict[int, str]:
    return {
        int(entry.name): command_line(int(entry.name))
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
    }


@pytest_asyncio.fixture
async def fresh(browser_settings: BrowserSettings) -> AsyncIterator[Browsers]:
    """A door of one's own, to be broken."""
    async with Browsers(browser_settings) as running:
        yield running


async def under_load(door: Browsers, site: Site, number: int, tier: Tier) -> str:
    try:
        url = site.url("/slow-xhr", f"host{number}.example")
        request = Request(url, mode=Mode.RENDER, tier=tier, deadline_s=40)
        return f"{marks(await door.visit(request))} marks"
    except errors.BrowsersError as error:
        return type(error).__name__


@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("victim", VICTIMS)
async def test_a_kill_under_load_is_survived(fresh: Browsers, site: Site, victim: str, tier: Tier) -> None:
    before = set(ours())
    await visit(fresh, site, "/static/1", tier=tier)
    folder = str(fresh.folder)
    visits = [asyncio.create_task(under_load(fresh, site, number, tier)) for number in range(1, 5)]
    await asyncio.sleep(0.7)
    targets = [
        pid
        for pid, line in ours().items()
        if pid not in before and VICTIMS[victim](line) and "pytest" not in line
    ]
    assert targets
    for pid in targets:
        os.kill(pid, signal.SIGKILL)
    killed_at = time.monotonic()
    assert marks(await visit(fresh, site, "/static/2", tier=tier, deadline_s=30)) == 60
    # Two seconds on a quiet machine; the bound only proves that nobody waits for a time-out.
    assert time.monotonic() - killed_at < 25
    outcomes = await asyncio.gather(*visits)
    assert set(outcomes) <= {"10 marks", "BrowserGone", "PageCrashed"}
    await fresh.close()
    assert not os.path.exists(folder)
    async with asyncio.timeout(10):
        while of_profile(everyone(), folder):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_browser_that_died_is_replaced_before_anybody_asks(fresh: Browsers, site: Site) -> None:
    before = set(ours())
    await visit(fresh, site, "/static/1")
    for pid, line in ours().items():
        if pid not in before and VICTIMS["browser"](line) and "pytest" not in line:
            os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(30):
        while not (fresh.status().restarts and fresh.status().ready):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_the_server_killed_leaves_no_chromium_and_the_next_start_sweeps(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Any other server of this machine would sweep the common folder at its own start.
    common = tempfile.mkdtemp(prefix="kill-")
    monkeypatch.setattr(tempfile, "tempdir", common)
    monkeypatch.setenv("TMPDIR", common)
    hosts = repr(site.test_hosts)
    program = (
        "import asyncio\n"
        "from browsers import Browsers, BrowserSettings, Request\n"
        "async def main():\n"
        f"    async with Browsers(BrowserSettings(test_hosts={hosts})) as door:\n"
        f"        await door.visit(Request({site.url('/static/1')!r}))\n"
        "        print(door.folder, flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    folder = (await process.stdout.readline()).decode().strip()
    assert of_profile(everyone(), folder)
    process.kill()
    await process.communicate()
    async with asyncio.timeout(10):
        while of_profile(everyone(), folder):  # noqa: ASYNC110 - processes of nobody
            await asyncio.sleep(0.1)
    assert os.path.exists(folder)
    with RunFolder():
        assert not os.path.exists(folder)
    os.rmdir(common)


async def test_the_folder_of_a_living_owner_is_not_swept() -> None:
    with RunFolder() as living:
        sweep()
        assert living.path.exists()
        assert living.path.name.startswith(PREFIX)
    assert not living.path.exists()


async def test_without_the_shared_pipe_the_nested_wire_serves(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rendezvous, "open", lambda self: False)
    async with Browsers(browser_settings) as door:
        assert marks(await visit(door, site, "/static/1", Mode.PEEK)) == 60
        assert marks(await visit(door, site, "/spa/1")) == 60
        assert marks(await visit(door, site, "/frames")) == 30


async def test_without_what_only_linux_has_a_dead_browser_is_noticed_and_replaced(
    browser_settings: BrowserSettings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on macOS: no descriptor tells of a process's end, and no /proc of its children and memory.
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    before = set(ours())
    monkeypatch.setattr(processes, "PROC", Path("/nonexistent"))
    async with Browsers(replace(browser_settings, housekeeping_s=0.1)) as door:
        assert marks(await visit(door, site, "/spa/1")) == 60
        monkeypatch.setattr(processes, "PROC", Path("/proc"))
        victims = [pid for pid, line in ours().items() if pid not in before and VICTIMS["browser"](line)]
        monkeypatch.setattr(processes, "PROC", Path("/nonexistent"))
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        assert marks(await visit(door, site, "/spa/2", deadline_s=30)) == 60
        assert victims and door.status().browsers[0].memory_bytes is None


async def test_without_a_chromium_the_error_says_how_to_get_one(
    browser_settings: BrowserSettings, site: Site
) -> None:
    broken = replace(browser_settings, light_executable="/nonexistent", full_executable="/nonexistent")
    async with Browsers(broken) as door:
        with pytest.raises(errors.NoBrowser) as caught:
            await visit(door, site, "/static/1")
        assert "search-mcp install-browser" in caught.value.next_step
        assert not door.status().ready


async def test_a_worn_browser_is_replaced_without_a_failed_visit(
    browser_settings: BrowserSettings, site: Site
) -> None:
    worn = replace(browser_settings, peeks_per_browser=3, housekeeping_s=0.2)
    async with Browsers(worn) as door:
        for number in range(12):
            assert marks(await visit(door, site, f"/static/{number}", Mode.PEEK)) == 60
            await asyncio.sleep(0.2)
        assert door.status().restarts == 0
        assert all(browser.peeks < 12 for browser in door.status().browsers)
