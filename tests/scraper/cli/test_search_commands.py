"""`search` and `research` against the local copies of the engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scraper.cli.in_process import command_output
from tests.scraper.process import output_of

DEMO = ("-m", "devtools.demo_engines")
TRIES = 6
PATIENT = """
from scraper.search import engine_query, searcher

searcher.ENGINE_DEADLINE_S = engine_query.BLOCK_PAGE_LIMIT_S = engine_query.PARSE_LIMIT_S = 100.0
searcher.Searcher.search.__kwdefaults__["deadline_s"] = 100.0
"""
"""An engine's ten seconds hold the browser's start too, for which a loaded machine was seen to need them."""


@pytest.mark.thorough
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
