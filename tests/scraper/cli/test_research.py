"""`research` and `compare` as a person uses them."""

from __future__ import annotations

import json

import pytest

from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import output_of
from tests.site.running import Site


@pytest.mark.browser
async def test_pages_are_compared(site: Site, here: dict[str, str]) -> None:
    urls = (site.url("/long/300"), site.url("/static/1"))
    told = await output_of(*SEARCH_MCP, "compare", "note 217", *urls, "--format", "json", env=here)
    assert (told.code, told.err) == (0, "")
    compared = json.loads(told.out)
    assert compared["urls"] == list(urls) and "MARK-long-217" in compared["excerpts"][0]["excerpt"]


@pytest.mark.browser
def test_one_url_is_told_of_fetch(site: Site, here: dict[str, str]) -> None:
    told = command_output("compare", "note 217", site.url("/static/1"), env=here)
    assert (told.code, told.out) == (1, "")
    assert "use `fetch`" in told.err


@pytest.mark.browser
def test_an_engine_that_does_not_exist_is_told_with_those_that_do(here: dict[str, str]) -> None:
    told = command_output("research", "tides", "--engine", "bingo", env=here)
    assert (told.code, told.out) == (1, "")
    assert "bingo" in told.err and "mojeek" in told.err
