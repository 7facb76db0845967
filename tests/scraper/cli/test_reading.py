"""`fetch` and `fetch-batch` as a person or a script uses them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import psutil
import pytest

from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import START_S, alive, chromium_of, output_of, running, until
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def test_a_page_is_printed_and_nothing_else(site: Site, here: dict[str, str]) -> None:
    told = await output_of(*SEARCH_MCP, "fetch", site.url("/static/1"), env=here)
    assert (told.code, told.err) == (0, "")
    assert "static" in told.out
    assert told.out.endswith("\n")


async def test_a_page_that_needs_javascript_is_rendered(site: Site, here: dict[str, str]) -> None:
    told = await output_of(
        *SEARCH_MCP, "fetch", site.url("/timer"), "--render", "browser", "--format=json", env=here
    )
    page = json.loads(told.out)
    assert told.code == 0
    assert page["method"] == "browser"
    assert "timer" in page["content"]


def test_start_and_length_cut_a_page(site: Site, here: dict[str, str]) -> None:
    arguments = ("fetch", site.url("/static/1"), "--start", "100", "--length", "300", "--format", "json")
    told = command_output(*arguments, env=here)
    assert 0 < len(json.loads(told.out)["content"]) <= 300


def test_what_goes_wrong_is_a_sentence_on_stderr(site: Site, here: dict[str, str]) -> None:
    told = command_output("fetch", site.url("/wall/forbidden"), env=here)
    assert (told.code, told.out) == (1, "")
    assert "403" in told.err
    assert "Traceback" not in told.err


def test_a_query_is_told_of_search(here: dict[str, str]) -> None:
    told = command_output("fetch", "weather in Berlin", env=here)
    assert (told.code, told.out) == (1, "")
    assert "search" in told.err


async def test_many_pages_come_from_words_a_file_and_stdin(
    site: Site, here: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "urls"
    file.write_text(f"# pages\n\n{site.url('/static/2')}\n")
    arguments = ("fetch-batch", site.url("/static/1"), "-", "-f", str(file), "--format", "json")
    told = await output_of(*SEARCH_MCP, *arguments, env=here, stdin=site.url("/static/3").encode() + b"\n")
    assert (told.code, told.err) == (0, "")
    assert [page["url"][-1] for page in json.loads(told.out)] == ["1", "3", "2"]


def test_a_page_that_fails_does_not_fail_its_batch(site: Site, here: dict[str, str]) -> None:
    urls = (site.url("/static/1"), site.url("/wall/forbidden"))
    told = command_output("fetch-batch", *urls, "--format", "json", env=here)
    assert told.code == 0
    first, second = json.loads(told.out)
    assert not first.get("error")
    assert "403" in json.dumps(second["error"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupted_call_leaves_no_browser(
    site: Site, here: dict[str, str], number: signal.Signals
) -> None:
    url = site.url("/slow-answer/25000")
    async with running(*SEARCH_MCP, "fetch", url, env=here, stdin=DEVNULL, stdout=PIPE) as program:
        process = psutil.Process(program.process.pid)
        await until(lambda: not site.open("/slow-answer/25000"))  # of the one before
        await until(lambda: site.open("/slow-answer/25000"), limit_s=START_S)
        chromium = chromium_of(process)
        assert chromium
        program.process.send_signal(number)
        assert await program.ended() == 130
        assert "Traceback" not in "".join(program.said)
    await until(lambda: not alive(chromium))


async def test_a_pipe_that_breaks_is_no_noise(site: Site, here: dict[str, str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    async with running(*SEARCH_MCP, "fetch", site.url("/static/1"), env=here, stdout=writing) as program:
        os.close(writing)
        assert await program.ended() == 1
        assert program.said == []


async def test_an_answer_that_cannot_be_written_is_told_in_a_line(site: Site, here: dict[str, str]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    async with running(*SEARCH_MCP, "fetch", site.url("/static/1"), env=here, stdout=full) as program:
        os.close(full)
        assert await program.ended() == 1
    assert program.said == ["Error: The answer cannot be written: No space left on device.\n"]


async def test_a_terminal_sees_a_bar_on_stderr_alone(site: Site, here: dict[str, str]) -> None:
    """`script` gives the command a terminal; its stdout goes to a file beside."""
    master, slave = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *SEARCH_MCP, "fetch-batch", site.url("/static/1"), site.url("/static/2")),
        env={**os.environ, **here, "TERM": "xterm"},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=slave,
    )
    os.close(slave)
    # Read while it runs: what a terminal holds unread is soon full, and who writes more to it waits.
    reading = asyncio.create_task(asyncio.to_thread(_shown, master))
    try:
        async with asyncio.timeout(START_S):
            out, _ = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        shown = await reading
        os.close(master)
    assert process.returncode == 0
    assert b"\x1b" not in out
    assert b"\x1b" in shown
    assert b"2/2" in shown


def _shown(terminal: int) -> bytes:
    """All that is written to a terminal until its other end is closed."""
    shown = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 65_536):
            shown += chunk
    return shown
