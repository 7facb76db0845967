"""Wishes of publishers in readings: reported without a further request, ignored, or obeyed."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from browsers import Browsers
from scraper import errors
from scraper.model import Reading, ReadRequest, Wish
from scraper.reading.fetcher import Fetcher
from scraper.render import page as page_rendering
from scraper.settings import Settings
from scraper.store.protocols import PageStore
from scraper.workers import WorkerPool
from tests.scraper.reading.fakes import CountingPages, ScriptedWorkers
from tests.scraper.reading.test_robots import SITE, RobotsBrowsers

NO_INPUT = "User-agent: *\nContent-Signal: ai-input=no, ai-train=no\nAllow: /"


def open_fetcher(client: RobotsBrowsers, settings: Settings) -> Fetcher:
    return Fetcher(
        cast(Browsers, client), cast(WorkerPool, ScriptedWorkers()), cast(PageStore, CountingPages()), settings
    )


async def read(fetcher: Fetcher, path: str) -> Reading:
    return await fetcher.fetch(ReadRequest(SITE + path, deadline_s=20))


async def test_a_report_requests_no_further_file() -> None:
    client = RobotsBrowsers(NO_INPUT)
    reading = await read(open_fetcher(client, Settings()), "/page")
    assert (reading.document.wishes, len(client.robots), len(client.pages)) == ((), 0, 1)


async def test_a_known_robots_txt_is_part_of_the_report() -> None:
    client = RobotsBrowsers(NO_INPUT)
    reading = await read(open_fetcher(client, Settings(robots="warn")), "/page")
    source = "robots.txt Content-Signal"
    assert reading.document.wishes == (Wish("input", "disallowed", source), Wish("train", "disallowed", source))
    text = page_rendering.as_markdown(reading, region="r")
    assert f"Wishes of the site: no AI input ({source}), no training ({source})" in text.partition("<")[0]
    data = page_rendering.as_json(reading)
    assert data["wishes"] == [
        {"use": "input", "value": "disallowed", "source": source},
        {"use": "train", "value": "disallowed", "source": source},
    ]


async def test_pages_without_statements_have_no_line() -> None:
    reading = await read(open_fetcher(RobotsBrowsers(), Settings(robots="warn")), "/page")
    assert "Wishes" not in page_rendering.as_markdown(reading, region="r")
    assert "wishes" not in page_rendering.as_json(reading)


async def test_off_names_none() -> None:
    reading = await read(open_fetcher(RobotsBrowsers(NO_INPUT), Settings(robots="warn", wishes="off")), "/page")
    assert reading.document.wishes == ()


async def test_who_obeys_loads_robots_txt_first_and_refuses_the_page() -> None:
    client = RobotsBrowsers(NO_INPUT)
    with pytest.raises(errors.RobotsDisallowedError, match=r"robots\.txt Content-Signal") as refused:
        await read(open_fetcher(client, Settings(wishes="obey")), "/page")
    assert "SEARCH_MCP_WISHES=obey" in (refused.value.next_step or "")
    assert (len(client.robots), len(client.pages)) == (1, 0)


async def test_who_obeys_reads_pages_of_publishers_that_only_disallow_training() -> None:
    client = RobotsBrowsers("User-agent: *\nContent-Signal: ai-train=no")
    reading = await read(open_fetcher(client, Settings(wishes="obey")), "/page")
    assert [wish.use for wish in reading.document.wishes] == ["train"]


async def test_a_robots_txt_that_cannot_be_read_states_nothing() -> None:
    client = RobotsBrowsers("", status=503)
    assert (await read(open_fetcher(client, Settings(wishes="obey")), "/page")).document.text == "Served."


async def test_who_obeys_refuses_a_page_that_was_stored_before() -> None:
    client = RobotsBrowsers("")
    fetcher = open_fetcher(client, Settings(wishes="obey"))
    reading = await read(fetcher, "/page")
    stored = replace(reading, document=replace(reading.document, wishes=(Wish("input", "disallowed", "meta"),)))
    with pytest.raises(errors.RobotsDisallowedError, match="meta"):
        fetcher.visitor.politeness.obey_wishes(stored)
