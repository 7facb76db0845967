"""A browser that cannot start is told in words, at once, and a missing sandbox is told aloud."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from browsers.browsers import Browsers
from browsers.chromium import locate
from browsers.errors import NoBrowser
from browsers.model import Request, Tier
from browsers.settings import BrowserSettings
from tests.browsers.chromium.machines import program

pytestmark = pytest.mark.browser

SAY_VERSION = '[ "$1" = --version ] && { echo Chromium 156.0.8078.79; exit 0; }'


async def refusal_of(settings: BrowserSettings) -> NoBrowser:
    async with Browsers(settings) as browsers:
        with pytest.raises(NoBrowser) as caught:
            await browsers.visit(Request("http://somewhere.example/", deadline_s=60))
    return caught.value


def only(executable: Path) -> BrowserSettings:
    return BrowserSettings(light_executable=str(executable), full_executable=str(executable))


async def test_a_browser_that_dies_at_its_start_is_not_waited_for(tmp_path: Path) -> None:
    dying = program(tmp_path / "dying", f"{SAY_VERSION}\necho no such luck >&2; exit 1")
    started = time.monotonic()
    refusal = await refusal_of(only(dying))
    assert str(dying) in str(refusal) and "install-browser" in refusal.next_step
    # Generous: loaded machines were seen to need ten times the usual second.
    assert time.monotonic() - started < 60


async def test_a_path_of_the_settings_that_leads_to_another_program_is_named_and_not_to_be_installed(
    tmp_path: Path,
) -> None:
    other = program(tmp_path / "other", "echo an editor")
    refusal = await refusal_of(only(other))
    assert str(other) in str(refusal)
    assert refusal.next_step == "Correct the path in the settings, then run `search-mcp doctor`."


async def test_a_host_that_forbids_the_sandbox_gets_a_browser_without_and_a_loud_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = locate.find(Tier.LIGHT, None)
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
from browsers.errors import NoBrowser

async def ask():
    async with Browsers() as browsers:
        try:
            await browsers.visit(Request("http://somewhere.example/", deadline_s=60))
        except NoBrowser as refusal:
            print(refusal, refusal.next_step)

asyncio.run(ask())
"""


def test_a_driver_that_does_not_start_is_told_in_words() -> None:
    # In a process of its own: Playwright never lets go of the transport of a driver that did not start.
    asked = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**os.environ, "PLAYWRIGHT_NODEJS_PATH": "/bin/false"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert re.match(r"Playwright's driver does not start: \S", asked.stdout), asked.stderr
    assert asked.stdout.count("\n") == 1
    assert "install-browser" in asked.stdout
