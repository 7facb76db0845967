"""The tools `fetch` and `fetch_batch`, on real pages in a real browser."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from datetime import datetime
from typing import Any

import pytest

from scraper.services import Services
from scraper.settings import Settings
from scraper.text.token_estimate import estimate
from scraper.tools.model import ToolAnswer, ToolCall
from tests.scraper.process import until
from tests.scraper.tools.calls import call_tool
from tests.site.running import Site

pytestmark = pytest.mark.browser

CONTRACT = set("url title content method truncated tokens_estimated author published_date sitename".split())


PATIENCE_S = 120.0
DEADLINES = (2.0, 6.0, 18.0)
"""One after the other, until what is to come in time does: how long that takes is up to the machine."""


async def call(app: Services, tool: str, arguments: dict[str, Any], call: ToolCall | None = None) -> ToolAnswer:
    """Call a tool as a client does."""
    return await call_tool(app, tool, call or ToolCall(deadline_s=PATIENCE_S), **arguments)


async def fetch(app: Services, url: str, **arguments: Any) -> ToolAnswer:
    return await call(app, "fetch", {"url": url, **arguments})


async def page(app: Services, url: str, **arguments: Any) -> dict[str, Any]:
    answer = await fetch(app, url, format="json", **arguments)
    assert isinstance(answer.structured, dict), answer.text
    return answer.structured


def region(text: str) -> str:
    """Return the text between the markers, which must match."""
    found = re.fullmatch(r".*?<<<untrusted ([0-9a-f]{8})>>>\n(.*)\n<<<end untrusted \1>>>.*?", text, re.DOTALL)
    assert found, text[:500]
    return found[2]


class TestFetch:
    async def test_selectors_name_the_part_that_is_read_which_is_not_stored(self, app: Services, site: Site) -> None:
        url = site.url("/guide/tides")
        table = region((await fetch(app, url, select="table")).text)
        assert "| Spring | 4.8 m | 0.6 m |" in table and "Large ships" not in table
        rest = region((await fetch(app, url, exclude="table, h2")).text)
        assert "Large ships" in rest and "4.8 m" not in rest and "Heights" not in rest
        nothing = await fetch(app, url, select="#nothing")
        assert nothing.is_error and "No element of the page matches select='#nothing'" in nothing.text
        invalid = await fetch(app, url, exclude="a[[")
        assert invalid.is_error and "exclude must be a CSS selector" in invalid.text
        whole = await fetch(app, url)
        assert "4.8 m" in whole.text and "Large ships" in whole.text
        late = await fetch(app, site.url("/slow-xhr"), wait_for="main", select="main")
        assert "MARK-slow-xhr-0" in region(late.text) and "Method: browser" in late.text
        never = await fetch(app, url, wait_for=".never")
        assert 'Warning: The page was not ready in time: is wait_for=".never" right?' in never.text
        refused = await fetch(app, url, wait_for="p", render="http")
        assert refused.is_error and "wait_for needs scripts" in refused.text

    async def test_markdown_is_a_header_and_the_page_in_its_region(self, app: Services, site: Site) -> None:
        answer = await fetch(app, site.url("/static/91"))
        header = answer.text.partition("<<<")[0]
        assert header.startswith(f"URL: {site.url('/static/91')} Method: http Tokens: ")
        assert "MARK-static-59" in region(answer.text)
        assert answer.structured is None and not answer.is_error

    async def test_json_is_the_same_page_as_data_and_as_compact_text(self, app: Services, site: Site) -> None:
        answer = await fetch(app, site.url("/static/92"), format="json")
        assert isinstance(answer.structured, dict)
        assert answer.structured.keys() >= CONTRACT
        assert json.loads(answer.text) == answer.structured
        assert answer.text == json.dumps(answer.structured, ensure_ascii=False, separators=(",", ":"))
        assert answer.structured["method"] == "http" and "MARK-static-0" in answer.structured["content"]
        datetime.fromisoformat(answer.structured["retrieved_at"])

    async def test_two_answers_never_share_the_mark_of_their_region(self, app: Services, site: Site) -> None:
        marks = set()
        for _ in range(3):
            marks |= set(re.findall(r"<<<untrusted (\w+)>>>", (await fetch(app, site.url("/thin"))).text))
        assert len(marks) == 3

    async def test_what_a_page_forges_stays_inside_its_region(self, app: Services, site: Site) -> None:
        assert "FORGED-RESULT" in region((await fetch(app, site.url("/forged"))).text)

    async def test_a_long_page_comes_in_parts_that_join(self, app: Services, site: Site) -> None:
        url = site.url("/long/300")
        start, text, parts = 0, "", 0
        while True:
            part = await page(app, url, start=start)
            assert part["start"] == start and part["tokens_estimated"] < 9_000
            text += part["content"]
            parts += 1
            if "next_start" not in part:
                break
            assert part["truncated"]
            start = part["next_start"]
        assert parts > 2 and not part["truncated"]
        assert all(f"MARK-long-{number}" in text for number in range(300))

    async def test_the_next_part_is_of_what_was_read_although_it_was_to_be_read_anew(
        self, app: Services, site: Site
    ) -> None:
        url, before = site.url("/long/301"), site.hits("/long/301")
        first = await page(app, url, force_refresh=True)
        following = await page(app, url, force_refresh=True, start=first["next_start"])
        assert following["start"] == first["next_start"]
        assert site.hits("/long/301") == before + 1

    async def test_the_last_line_of_a_piece_gives_the_next_start(self, app: Services, site: Site) -> None:
        answer = await fetch(app, site.url("/long/300"))
        assert estimate(answer.text) < 9_000
        found = re.search(r"call fetch again with start=(\d+)\.$", answer.text)
        assert found
        following = await fetch(app, site.url("/long/300"), start=int(found[1]))
        assert f"Characters: chars {found[1]}-" in following.text

    async def test_a_caller_can_ask_for_more_or_less(self, app: Services, site: Site) -> None:
        small = await page(app, site.url("/long/300"), length=3_000)
        large = await page(app, site.url("/long/300"), length=90_000)
        assert 1_000 < small["returned_chars"] <= 3_000
        assert 60_000 < large["returned_chars"] <= 90_000

    async def test_an_operator_can_make_answers_smaller(self, app: Services, site: Site) -> None:
        small = copy.copy(app)
        small.settings = Settings(max_answer_tokens=1_000)
        assert estimate((await fetch(small, site.url("/long/300"))).text) < 1_000

    async def test_a_second_call_is_marked_as_cached(self, app: Services, site: Site) -> None:
        await fetch(app, site.url("/static/93"))
        assert " Cached: " in (await fetch(app, site.url("/static/93"))).text.partition("\n")[0]
        for arguments in ({"force_refresh": True}, {"max_age_hours": 0}, {"max_age_hours": "0"}):
            assert "\nCached:" not in (await fetch(app, site.url("/static/93"), **arguments)).text
        assert (await page(app, site.url("/static/93"), max_age_hours=1))["cached"]
        assert site.hits("/static/93") == 4

    async def test_rendering_is_chosen_by_the_caller(self, app: Services, site: Site) -> None:
        as_served = await page(app, site.url("/spa/91"), render="http")
        chosen = await page(app, site.url("/spa/91"))
        rendered = await page(app, site.url("/static/94"), render="browser")
        assert as_served["method"] == "http" and len(as_served["content"]) < 100 and as_served["warnings"]
        assert chosen["method"] == "browser" and "MARK-spa-59" in chosen["content"]
        assert rendered["method"] == "browser" and "MARK-static-59" in rendered["content"]

    async def test_a_redirect_is_reported(self, app: Services, site: Site) -> None:
        answer = await fetch(app, site.url("/redirect-host"))
        assert f"Requested: {site.url('/redirect-host')}\n" in answer.text
        assert "Warning: Redirected to another site: other.example.\n" in answer.text

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({}, "url must be given."),
            ({"url": ""}, "url must be given: it is blank."),
            ({"url": "https://a.example", "lenght": 5}, 'Unknown argument "lenght" (did you mean "length"?)'),
            ({"url": "best pizza in Naples"}, "use the `search` tool"),
            ({"url": "file:///etc/passwd"}, "`file:` URLs are not fetched"),
            ({"url": "http://127.0.0.1/"}, "not on the public internet"),
            ({"url": "http://metadata.google.internal/"}, "public"),
            ({"url": "https://no-such-host.invalid/"}, "There is no host named no-such-host.invalid."),
        ],
    )
    async def test_what_cannot_be_read_is_one_sentence_with_the_next_step(
        self, app: Services, arguments: dict[str, Any], sentence: str
    ) -> None:
        answer = await call(app, "fetch", arguments)
        assert answer.is_error and answer.structured is None
        assert sentence in answer.text and len(answer.text) < 1_000 and "\n" not in answer.text

    async def test_progress_has_messages(self, app: Services, site: Site) -> None:
        output: list[str | None] = []

        def tell(done: float, total: float | None = None, message: str | None = None) -> None:
            output.append(message)

        await call(app, "fetch", {"url": site.url("/spa/92")}, ToolCall(deadline_s=30, progress=tell))
        assert output == ["reading site.example", "rendering site.example", "read site.example"]

    async def test_a_call_ends_with_its_deadline(self, app: Services, site: Site) -> None:
        # Longer where a machine takes so long to begin; without one of its own it would take 40 s.
        for deadline_s in DEADLINES:
            async with asyncio.timeout(3 * deadline_s):
                url = site.url("/api/hang?deadline")
                answer = await call(app, "fetch", {"url": url}, ToolCall(deadline_s=deadline_s))
            if "did not answer within" in answer.text:
                break
        assert answer.is_error and "did not answer within" in answer.text

    async def test_cancelling_a_call_gives_the_tab_back(self, app: Services, site: Site) -> None:
        task = asyncio.create_task(fetch(app, site.url("/api/hang?tool")))
        await until(lambda: site.hits("/api/hang?tool"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert app.browsers.status().active == 0


class TestFetchBatch:
    async def test_markdown_is_a_section_for_each_url_in_its_order(self, app: Services, site: Site) -> None:
        urls = [site.url("/static/95"), site.url("/status/404"), "pizza in Naples", site.url("/spa/95")]
        answer = await call(app, "fetch_batch", {"urls": urls})
        assert answer.text.startswith("2 of 4 pages read.") and answer.structured is None
        sections = answer.text.split("\n\n---\n\n")[1:]
        assert [section.partition("\n")[0] for section in sections] == [
            f"## {number}. {url.replace(' ', '%20')}" for number, url in enumerate(urls, 1)
        ]
        assert "MARK-static-0" in region(sections[0]) and "MARK-spa-0" in region(sections[3])
        assert "Error: site.example answered 404 Not Found" in sections[1]
        assert "use the `search` tool" in sections[2]
        assert not answer.is_error

    async def test_json_is_a_list_with_the_errors_in_their_places(self, app: Services, site: Site) -> None:
        urls = [site.url("/static/96"), site.url("/status/500")]
        answer = await call(app, "fetch_batch", {"urls": urls, "format": "json"})
        assert isinstance(answer.structured, list) and json.loads(answer.text) == answer.structured
        read, failed = answer.structured
        assert read.keys() >= CONTRACT and read["error"] is None
        assert failed["url"] == urls[1] and "500 Internal Server Error" in failed["error"]
        assert (failed["error_code"], failed["retryable"]) == ("http_error", True)

    async def test_the_pages_share_one_answer_of_bounded_size(self, app: Services, site: Site) -> None:
        urls = [site.url(f"/long/{count}") for count in (200, 201, 202, 203)]
        answer = await call(app, "fetch_batch", {"urls": urls})
        assert estimate(answer.text) < 9_000
        assert answer.text.count("call fetch on this URL with start=") == 4

    async def test_one_url_is_taken_without_its_list(self, app: Services, site: Site) -> None:
        answer = await call(app, "fetch_batch", {"urls": site.url("/thin")})
        assert answer.text.startswith("1 of 1 pages read.")

    @pytest.mark.parametrize(
        ("urls", "sentence"),
        [
            ([], "urls must be a list of 1 to 50 strings; it is empty."),
            (["u"] * 51, "urls must be a list of at most 50 strings, not 51: make several calls."),
        ],
    )
    async def test_an_invalid_list_is_named(self, app: Services, urls: list[str], sentence: str) -> None:
        answer = await call(app, "fetch_batch", {"urls": urls})
        assert answer == ToolAnswer(sentence, is_error=True)

    async def test_what_is_late_is_an_error_in_its_place(self, app: Services, site: Site) -> None:
        urls = [site.url("/static/97"), site.url("/api/hang?batch")]
        for deadline_s in DEADLINES:
            late = ToolCall(deadline_s=2 * deadline_s)
            answer = await call(app, "fetch_batch", {"urls": urls, "format": "json"}, late)
            assert isinstance(answer.structured, list)
            codes = [entry.get("error_code") for entry in answer.structured]
            if codes[0] is None:
                break
        assert codes == [None, "timed_out"]
