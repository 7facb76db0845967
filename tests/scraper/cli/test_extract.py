"""`extract-structured` as a person or a script uses it."""

from __future__ import annotations

import json

import pytest

from tests.scraper.cli.conftest import SEARCH_MCP
from tests.scraper.cli.in_process import command_output
from tests.scraper.process import output_of
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def test_the_data_of_a_page_are_printed_and_nothing_else(site: Site, here: dict[str, str]) -> None:
    url = site.url("/shop/injected")
    told = await output_of(*SEARCH_MCP, "extract-structured", url, "--format", "json", env=here)
    assert (told.code, told.err) == (0, "")
    assert json.loads(told.out)["product"]["price"]["value"] == 49.9


def test_what_goes_wrong_is_a_sentence_on_stderr(site: Site, here: dict[str, str]) -> None:
    told = command_output("extract-structured", site.url("/status/404"), env=here)
    assert (told.code, told.out) == (1, "") and "404 Not Found" in told.err
