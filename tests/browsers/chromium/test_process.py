"""A browser that cannot start is reported at once, and a missing sandbox is logged."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from browsers.chromium import locate, process
from browsers.chromium.playwright_driver import PlaywrightDriver, ProfileDir
from browsers.chromium.renderer_limits import command_line, list_tree_pids
from browsers.chromium.switches import LaunchPlan
from browsers.client import Browsers
from browsers.errors import NoBrowserError
from browsers.model import Request, Tier
from browsers.pool import browser_pool
from browsers.settings import BrowserSettings
from tests.browsers.chromium.machines import program
from tests.browsers.visits import visit
from tests.site.running import Site

pytestmark = [pytest.mark.browser, pytest.mark.own_processes]

SAY_VERSION = '[ "$1" = --version ] && { echo Chromium 156.0.8078.79; exit 0; }'


async def refusal_of(settings: BrowserSettings) -> NoBrowserError:
    async with Browsers(settings) as browsers:
        with pytest.raises(NoBrowserError) as caught:
            await browsers.visit(Request("http://somewhere.example/", deadline_s=240))
    return caught.value


def only(executable: Path) -> BrowserSettings:
    return BrowserSettings(light_executable=str(executable), full_executable=str(executable))


async def test_browser_that_exits_at_launch_fails_at_once(tmp_path: Path) -> None:
    dying = program(tmp_path / "dying", f"{SAY_VERSION}\necho no such luck >&2; exit 1")
    async with asyncio.timeout(120):  # loaded machines were seen to need ten times the usual second
        refusal = await refusal_of(only(dying))
    assert str(refusal) == f"Chromium at {dying} does not start: no such luck."
    assert "install-browser" in refusal.next_step


async def test_configured_path_of_another_program_is_named_in_the_error(tmp_path: Path) -> None:
    other = program(tmp_path / "other", "echo an editor")
    refusal = await refusal_of(only(other))
    assert str(other) in str(refusal)
    assert refusal.next_step == "Correct the path in the settings, then run `search-mcp doctor`."


async def test_missing_sandbox_is_logged_as_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = locate.find_chromium(Tier.LIGHT, None)
    assert found is not None
    # An ordinary user on a host without user namespaces: Chromium starts with --no-sandbox alone.
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    script = f'{SAY_VERSION}\ncase "$*" in *--no-sandbox*) exec {found.executable} "$@";; esac\nexit 1'
    choosy = program(tmp_path / "choosy", script)
    with caplog.at_level(logging.WARNING, logger="browsers"):
        async with Browsers(only(choosy)) as browsers:
            async with asyncio.timeout(120):  # a loaded machine: it takes a second on a quiet one
                while not browsers.status().ready:  # noqa: ASYNC110  # a browser's start sets no event of ours
                    await asyncio.sleep(0.05)
            assert [process.sandboxed for process in browsers.status().browsers] == [False]
    assert "CHROMIUM RUNS WITHOUT ITS SANDBOX" in caplog.text


ASK = """
import asyncio
from browsers import Browsers, Request
from browsers.errors import NoBrowserError

async def ask():
    async with Browsers() as browsers:
        try:
            await browsers.visit(Request("http://somewhere.example/", deadline_s=240))
        except NoBrowserError as refusal:
            print(refusal, refusal.next_step)

asyncio.run(ask())
"""


def test_driver_that_does_not_start_raises_a_clear_error() -> None:
    # Run in a separate process: Playwright never releases the transport of a driver that did not start.
    process_result = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**os.environ, "PLAYWRIGHT_NODEJS_PATH": "/bin/false"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert re.match(r"Playwright's driver does not start: \S", process_result.stdout), process_result.stderr
    assert process_result.stdout.count("\n") == 1
    assert "install-browser" in process_result.stdout


LIBRARY = "/opt/chrome: error while loading shared libraries: libnss3.so: cannot open shared object file"


def test_launch_error_contains_the_fatal_line_of_the_output() -> None:
    order = process.LaunchRequest(Tier.FULL, "/opt/chrome", LaunchPlan((), (), {}), 600_000_000)
    output = [
        "BrowserType.launch: Target page, context or browser has been closed",
        "Browser logs:",
        "<launching> /opt/chrome --headless",
        "[pid=7][err] [1:1:ERROR:bus.cc(407)] Failed to connect to the bus",
        f"[pid=7][err] {LIBRARY}",
        "Call log:",
        "  - <launching> /opt/chrome",
    ]
    result = str(process._no_browser(order, RuntimeError("\n".join(output))))
    assert result == f"Chromium at /opt/chrome does not start: {LIBRARY}."
    assert str(process._no_browser(order, RuntimeError(output[0]))).endswith(f"does not start: {output[0]}.")


@pytest.mark.parametrize(
    "trouble", [RuntimeError("can't start new thread"), OSError(errno.ENOSPC, "No space left on device")]
)
async def test_error_without_threads_or_disk_names_what_to_free(
    monkeypatch: pytest.MonkeyPatch, trouble: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr(browser_pool, "launch_chromium", fails)
    refusal = await refusal_of(BrowserSettings())
    words = getattr(trouble, "strerror", None) or str(trouble)
    assert f"cannot be started: {words}." in str(refusal) and "free some" in refusal.next_step
    assert "never retrieved" not in caplog.text


async def test_no_launch_without_sandbox_where_it_worked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bool] = []

    async def refuses(_: object, order: process.LaunchRequest, __: object, sandboxed: bool) -> None:
        tried.append(sandboxed)
        raise NoBrowserError("no memory")

    monkeypatch.setattr(process, "_launch_on_best_transport", refuses)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    order = process.LaunchRequest(Tier.LIGHT, "/opt/chrome", LaunchPlan((), (), {}), 600_000_000)
    for may_disable, expected in ((False, [True]), (True, [True, False])):
        tried.clear()
        with pytest.raises(NoBrowserError):
            await process.launch_chromium(
                PlaywrightDriver(ProfileDir()), order, Path(), may_disable_sandbox=may_disable
            )
        assert tried == expected


async def test_end_of_a_driver_is_not_logged_as_an_unretrieved_error(caplog: pytest.LogCaptureFixture) -> None:
    with ProfileDir() as folder:
        before = set(list_tree_pids(os.getpid()))
        driver = PlaywrightDriver(folder)
        dead = await driver.playwright()
        for pid in set(list_tree_pids(os.getpid())) - before:
            # Browsers of other tests may have started a renderer meanwhile.
            if b"run-driver" in command_line(pid):
                os.kill(pid, signal.SIGKILL)
        await driver.restart(dead)
        del dead, driver
        gc.collect()
        await asyncio.sleep(0)
    assert "never retrieved" not in caplog.text


def test_profile_folder_is_in_tmp_if_the_temporary_folder_has_a_long_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("a" * 40)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with ProfileDir() as folder:
        beneath = folder.path / "org.chromium.Chromium.XXXXXX" / "SingletonSocket"
        # The limit of a socket path on macOS, which is the lowest.
        assert len(os.fsencode(beneath)) <= 103
    assert not folder.path.exists()


@pytest.mark.thorough
async def test_full_browser_starts_with_a_long_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser_settings: BrowserSettings, site: Site
) -> None:
    long = tmp_path / ("a" * 60)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    monkeypatch.setenv("TMPDIR", str(long))
    async with Browsers(browser_settings) as browsers_client:
        await visit(browsers_client, site, "/static/1", tier=Tier.FULL)
        assert "full" in {one.tier for one in browsers_client.status().browsers}


async def test_driver_starts_without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    # Simulate a container whose user has no entry in passwd.
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    homes: list[str | None] = []
    start = asyncio.create_subprocess_exec

    async def recording(*arguments: str, **options: Any) -> asyncio.subprocess.Process:
        homes.append(options["env"].get("HOME"))
        return await start(*arguments, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", recording)
    with ProfileDir() as folder:
        driver = PlaywrightDriver(folder)
        await driver.playwright()
        await driver.close()
        assert homes == [str(folder.path)]
    assert "HOME" not in os.environ


async def test_the_driver_does_not_print_its_messages(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEBUGP", "1")
    with ProfileDir() as folder:
        driver = PlaywrightDriver(folder)
        try:
            await driver.playwright()
        finally:
            await driver.close()
    assert capfd.readouterr().out == ""


@pytest.mark.thorough
async def test_drivers_that_start_at_once_have_their_own_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.environ.get("TMPDIR")
    folders: list[str | None] = []
    start = asyncio.create_subprocess_exec

    async def recording(*arguments: str, **options: Any) -> asyncio.subprocess.Process:
        folders.append(options["env"].get("TMPDIR"))
        return await start(*arguments, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", recording)
    with ProfileDir() as one, ProfileDir() as other:
        drivers = [PlaywrightDriver(one), PlaywrightDriver(other)]
        try:
            await asyncio.gather(*(driver.playwright() for driver in drivers))
        finally:
            await asyncio.gather(*(driver.close() for driver in drivers))
        assert sorted(map(str, folders)) == sorted(map(str, (one.path, other.path)))
    assert os.environ.get("TMPDIR") == before
