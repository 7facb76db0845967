"""Visible and hidden text in every kind of markup of the site, read rendered and as served."""

from __future__ import annotations

import re

import pytest

from scraper.model import ReadRequest
from scraper.services import Services
from scraper.settings import Settings
from tests.site.hidden import CARRIERS, MORE_CARRIERS
from tests.site.running import Site

pytestmark = pytest.mark.browser

COVERED = {"under another box"}
"""Text under other boxes is not detected: this would need the position of every word."""

THROUGH = {"browser": COVERED, "http": COVERED | {"noscript with scripts on"}}
LOST = {
    "browser": {"content before an element"},
    "http": {"content before an element", "visible inside invisible", "the alt text of a picture"},
}
"""The last one is an image of one pixel among links, which the model may not classify as content."""


@pytest.fixture(scope="module")
def settings(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    data = str(tmp_path_factory.mktemp("data"))
    return Settings.load({"SEARCH_MCP_DATA": data, "SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable}, {})


@pytest.mark.parametrize("render", ["browser", "http"])
async def test_only_visible_text_is_read(settings: Settings, site: Site, render: str) -> None:
    async with Services.open(settings) as app:
        pages = [
            await app.fetcher.fetch(ReadRequest(site.url(path), render=render, deadline_s=240))
            for path in ("/hidden", "/hidden/more")
        ]
    read = set(re.findall(r"(?:HIDDEN|SHOWN)-\d+", "".join(page.document.markdown for page in pages)))
    named = dict(enumerate(CARRIERS + MORE_CARRIERS, 1))
    through = {one.name for number, one in named.items() if not one.seen and f"HIDDEN-{number:02}" in read}
    lost = {one.name for number, one in named.items() if one.seen and f"SHOWN-{number:02}" not in read}
    assert through <= THROUGH[render]
    assert lost <= LOST[render]
