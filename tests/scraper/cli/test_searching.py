"""Searches from the command line, against the engines that the command itself can serve."""

from __future__ import annotations

import json
import re
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import output_of, running

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
        told = await output_of(*DEMO, *moods, *asked, env=env)
        # A wall is waited out for so long and no longer.
        if told.code == 0 and "timeout" not in json.loads(told.out)["errors"].values():
            break
    assert (told.code, told.err) == (0, "")
    answer = json.loads(told.out)
    assert len(answer["results"]) == 10
    assert answer["errors"] == {"bing": "captcha"}


@pytest.mark.browser
async def test_that_nobody_answered_is_an_exit_code() -> None:
    told = await output_of(*DEMO, "--mood", "brave=limited", "search", "tidal power", "--engine", "brave")
    assert told.code == 1 and told.out == ""
    assert told.err.startswith('No engine answered "tidal power"')


async def test_the_demonstration_tells_the_variables_and_ends_when_told() -> None:
    async with running(*DEMO, stdout=PIPE) as program:
        await program.until("The engines are served")
        program.process.terminate()
        assert await program.ended() == 0
        assert program.process.stdout is not None
        told = (await program.process.stdout.read()).decode()
    assert re.search(r"^export SEARCH_MCP_TEST_KEY_PIN=\S{43}=$", told, re.MULTILINE)
    assert "html.duckduckgo.com=127.0.0.1:" in told


async def test_without_a_checkout_the_demonstration_says_what_it_needs() -> None:
    hidden = "import sys; sys.modules['tests'] = None; from scraper.cli.main import run; "
    told = await output_of("-c", hidden + "sys.exit(run(['demo-engines', 'search', 'tides']))")
    assert (told.code, told.out) == (1, "")
    assert "no part of the installed package" in told.err and "checkout of the sources" in told.err
    assert "Traceback" not in told.err


def test_a_mood_that_there_is_not_is_told() -> None:
    told = command_output("demo-engines", "--mood", "bing=gloomy")
    assert told.code == 2 and "There is no mood 'gloomy'" in told.err
    told = command_output("demo-engines", "--mood", "goggle=wall")
    assert told.code == 2 and "There is no engine 'goggle'" in told.err
    told = command_output("demo-engines", "--mood", "bing")
    assert told.code == 2 and "written engine=mood" in told.err


def test_the_engines_are_listed_with_what_they_are_good_for() -> None:
    told = command_output("engines")
    assert told.code == 0
    assert told.out.splitlines()[0].startswith("duckduckgo (asked when none is named): ")
    assert len(told.out.splitlines()) == 7
