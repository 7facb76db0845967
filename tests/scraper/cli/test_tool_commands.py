"""`fetch` and `fetch-batch` as a person or a script uses them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
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
    output = await output_of(*SEARCH_MCP, "fetch", site.url("/static/1"), env=here)
    assert (output.code, output.err) == (0, "")
    assert "static" in output.out
    assert output.out.endswith("\n")


async def test_a_page_that_needs_javascript_is_rendered(site: Site, here: dict[str, str]) -> None:
    output = await output_of(*SEARCH_MCP, "fetch", site.url("/timer"), "--render", "browser", "--format=json", env=here)
    page = json.loads(output.out)
    assert output.code == 0
    assert page["method"] == "browser"
    assert "timer" in page["content"]


def test_start_and_length_cut_a_page(site: Site, here: dict[str, str]) -> None:
    arguments = ("fetch", site.url("/static/1"), "--start", "100", "--length", "300", "--format", "json")
    output = command_output(*arguments, env=here)
    assert 0 < len(json.loads(output.out)["content"]) <= 300


def test_what_goes_wrong_is_a_sentence_on_stderr(site: Site, here: dict[str, str]) -> None:
    output = command_output("fetch", site.url("/wall/forbidden"), env=here)
    assert (output.code, output.out) == (1, "")
    assert "403" in output.err
    assert "Traceback" not in output.err


def test_fetch_of_a_query_suggests_search(here: dict[str, str]) -> None:
    output = command_output("fetch", "weather in Berlin", env=here)
    assert (output.code, output.out) == (1, "")
    assert "search" in output.err


async def test_many_pages_come_from_words_a_file_and_stdin(site: Site, here: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "urls"
    file.write_text(f"# pages\n\n{site.url('/static/2')}\n")
    arguments = ("fetch-batch", site.url("/static/1"), "-", "-f", str(file), "--format", "json")
    output = await output_of(*SEARCH_MCP, *arguments, env=here, stdin=site.url("/static/3").encode() + b"\n")
    assert (output.code, output.err) == (0, "")
    assert [page["url"][-1] for page in json.loads(output.out)] == ["1", "3", "2"]


def test_a_page_that_fails_does_not_fail_its_batch(site: Site, here: dict[str, str]) -> None:
    urls = (site.url("/static/1"), site.url("/wall/forbidden"))
    output = command_output("fetch-batch", *urls, "--format", "json", env=here)
    assert output.code == 0
    first, second = json.loads(output.out)
    assert not first.get("error")
    assert "403" in json.dumps(second["error"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupted_call_leaves_no_browser(site: Site, here: dict[str, str], number: signal.Signals) -> None:
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


async def test_an_unwritable_answer_is_reported_in_one_line(site: Site, here: dict[str, str]) -> None:
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


DEMO = (*SEARCH_MCP, "demo-engines")
TRIES = 6
PATIENT = """
from scraper.search import engine_page, searcher

searcher.ENGINE_DEADLINE_S = engine_page.WALL_LIMIT_S = engine_page.PARSE_LIMIT_S = 100.0
searcher.Searcher.search.__kwdefaults__["deadline_s"] = 100.0
"""
"""An engine's ten seconds hold the browser's start too, for which a loaded machine was seen to need them."""


@pytest.mark.browser
async def test_a_search_against_the_demonstration_waits_walls_out_and_names_refusals(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(PATIENT)
    env = {"PYTHONPATH": str(tmp_path)}
    moods = ("--mood", "mojeek=altcha", "--mood", "bing=wall")
    asked = ("search", "tidal power", "--engine", "mojeek", "--engine", "bing", "--format", "json")
    for _ in range(TRIES):
        output = await output_of(*DEMO, *moods, *asked, env=env)
        # A wall is waited out for so long and no longer.
        if output.code == 0 and "timeout" not in json.loads(output.out)["errors"].values():
            break
    assert (output.code, output.err) == (0, "")
    answer = json.loads(output.out)
    assert len(answer["results"]) == 10
    assert answer["errors"] == {"bing": "captcha"}


@pytest.mark.browser
async def test_a_search_without_answers_exits_with_one() -> None:
    output = await output_of(*DEMO, "--mood", "brave=limited", "search", "tidal power", "--engine", "brave")
    assert output.code == 1 and output.out == ""
    assert output.err.startswith('No engine answered "tidal power"')


async def test_demo_engines_prints_variables_and_stops_on_signal() -> None:
    async with running(*DEMO, stdout=PIPE) as program:
        await program.until("The engines are served")
        program.process.terminate()
        assert await program.ended() == 0
        assert program.process.stdout is not None
        output = (await program.process.stdout.read()).decode()
    assert re.search(r"^export SEARCH_MCP_TEST_KEY_PIN=\S{43}=$", output, re.MULTILINE)
    assert "html.duckduckgo.com=127.0.0.1:" in output


async def test_demo_engines_requires_a_checkout() -> None:
    hidden = "import sys; sys.modules['tests'] = None; from scraper.cli.main import run; "
    output = await output_of("-c", hidden + "sys.exit(run(['demo-engines', 'search', 'tides']))")
    assert (output.code, output.out) == (1, "")
    assert "which the installed package does not contain" in output.err and "checkout of the sources" in output.err
    assert "Traceback" not in output.err


def test_an_unknown_mood_is_reported() -> None:
    output = command_output("demo-engines", "--mood", "bing=gloomy")
    assert output.code == 2 and "There is no mood 'gloomy'" in output.err
    output = command_output("demo-engines", "--mood", "goggle=wall")
    assert output.code == 2 and "There is no engine 'goggle'" in output.err
    output = command_output("demo-engines", "--mood", "bing")
    assert output.code == 2 and "written engine=mood" in output.err


def test_the_engines_are_listed_with_what_they_are_good_for() -> None:
    output = command_output("engines")
    assert output.code == 0
    assert output.out.splitlines()[0].startswith("duckduckgo (default): ")
    assert len(output.out.splitlines()) == 7


@pytest.mark.browser
async def test_pages_are_compared(site: Site, here: dict[str, str]) -> None:
    urls = (site.url("/long/300"), site.url("/static/1"))
    output = await output_of(*SEARCH_MCP, "compare", "note 217", *urls, "--format", "json", env=here)
    assert (output.code, output.err) == (0, "")
    compared = json.loads(output.out)
    assert compared["urls"] == list(urls) and "MARK-long-217" in compared["excerpts"][0]["excerpt"]


@pytest.mark.browser
def test_compare_with_one_url_suggests_fetch(site: Site, here: dict[str, str]) -> None:
    output = command_output("compare", "note 217", site.url("/static/1"), env=here)
    assert (output.code, output.out) == (1, "")
    assert "use `fetch`" in output.err


@pytest.mark.browser
def test_an_unknown_engine_error_lists_the_known_engines(here: dict[str, str]) -> None:
    output = command_output("research", "tides", "--engine", "bingo", env=here)
    assert (output.code, output.out) == (1, "")
    assert "bingo" in output.err and "mojeek" in output.err


async def test_the_data_of_a_page_are_printed_and_nothing_else(site: Site, here: dict[str, str]) -> None:
    url = site.url("/shop/injected")
    output = await output_of(*SEARCH_MCP, "extract-structured", url, "--format", "json", env=here)
    assert (output.code, output.err) == (0, "")
    assert json.loads(output.out)["product"]["price"]["value"] == 49.9


def test_data_that_cannot_be_read_is_a_sentence_on_stderr(site: Site, here: dict[str, str]) -> None:
    output = command_output("extract-structured", site.url("/status/404"), env=here)
    assert (output.code, output.out) == (1, "") and "404 Not Found" in output.err
