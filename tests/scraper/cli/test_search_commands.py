"""`search` and `research` against the local copies of the engines."""

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

searcher.ENGINE_DEADLINE_S = engine_page.BLOCK_PAGE_LIMIT_S = engine_page.PARSE_LIMIT_S = 100.0
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


@pytest.mark.full_size
@pytest.mark.browser
async def test_a_search_without_answers_exits_with_one() -> None:
    output = await output_of(*DEMO, "--mood", "brave=limited", "search", "tidal power", "--engine", "brave")
    assert output.code == 3 and output.out == ""
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
    assert output.code == 2 and "There is no behavior 'gloomy'" in output.err
    output = command_output("demo-engines", "--mood", "goggle=wall")
    assert output.code == 2 and "There is no engine 'goggle'" in output.err
    output = command_output("demo-engines", "--mood", "bing")
    assert output.code == 2 and "written engine=mood" in output.err


def test_the_engines_are_listed_with_what_they_are_good_for() -> None:
    output = command_output("engines")
    assert output.code == 0
    assert output.out.splitlines()[0].startswith("duckduckgo (default): ")
    engines, sources = output.out.split("\n\nSources, used for a category or by name:\n")
    assert len(engines.splitlines()) == 7 and len(sources.splitlines()) == 34
    assert "stackexchange (question, json, 1 request in 1 s, 300 a day): " in sources


@pytest.mark.browser
def test_an_unknown_engine_error_lists_the_known_engines(here: dict[str, str]) -> None:
    output = command_output("research", "tides", "--engine", "bingo", env=here)
    assert (output.code, output.out) == (2, "")
    assert "bingo" in output.err and "mojeek" in output.err
