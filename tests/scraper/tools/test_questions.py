"""Question-aware reading with `fetch`, `fetch_batch` and `read_doc` on the test site."""

from __future__ import annotations

from typing import Any

import pytest

from scraper.services import Services
from scraper.text.token_estimate import estimate
from scraper.tools.model import ToolAnswer
from tests.scraper.tools.calls import call_tool
from tests.site.running import Site

pytestmark = pytest.mark.browser


async def call(app: Services, tool: str = "fetch", **arguments: Any) -> ToolAnswer:
    return await call_tool(app, tool, **arguments)


def region_of(text: str) -> str:
    return text.partition(">>>\n")[2].partition("\n<<<end")[0]


@pytest.mark.parametrize("tokens", [100, 150, 400, 1_500])
async def test_quotes_are_exact_in_order_and_within_the_budget(app: Services, site: Site, tokens: int) -> None:
    url = site.url("/long/300")
    whole = (await call(app, url=url)).reading
    answer = await call(app, url=url, question="What does note 217 say?", tokens=tokens, format="json")
    assert isinstance(answer.structured, dict) and whole is not None
    data, text = answer.structured, whole.document.markdown
    assert estimate(data["content"]) <= tokens
    starts = [row["start"] for row in data["excerpts"]]
    assert starts == sorted(starts) and data["excerpts"]
    for row in data["excerpts"]:
        assert text[row["start"] : row["end"]].strip() in data["content"]
    if tokens >= 150:
        assert "MARK-long-217" in data["content"]
        assert any("#:~:text=" in row["url"] for row in data["excerpts"])


async def test_markdown_has_the_quotes_in_a_region(app: Services, site: Site) -> None:
    answer = await call(app, url=site.url("/long/300"), question="What does note 217 say?", tokens=300)
    assert "MARK-long-217" in region_of(answer.text)
    assert estimate(region_of(answer.text)) <= 360
    assert not answer.is_empty


async def test_several_wordings_count_together(app: Services, site: Site) -> None:
    question = "words that nobody wrote | note 217"
    answer = await call(app, url=site.url("/long/300"), question=question, tokens=300)
    assert "MARK-long-217" in answer.text


async def test_without_a_match_outline_and_beginning_are_returned(app: Services, site: Site) -> None:
    answer = await call(app, url=site.url("/guide/tides"), question="zeppelin quark", tokens=100)
    assert "No passage has a word of the question" in answer.text
    assert "- Tides in the harbour (start=0)" in answer.text
    assert answer.is_empty


async def test_a_batch_shares_the_budget(app: Services, site: Site) -> None:
    urls = [site.url("/long/300"), site.url("/long/301"), site.url("/status/404")]
    answer = await call(app, "fetch_batch", urls=urls, question="note 217", tokens=500, format="json")
    assert isinstance(answer.structured, list)
    first, second, failed = answer.structured
    assert "MARK-long-217" in first["content"] and "MARK-long-217" in second["content"]
    assert estimate(first["content"]) + estimate(second["content"]) <= 500
    assert first["error"] is None and "404" in failed["error"]
    text = await call(app, "fetch_batch", urls=urls, question="note 217", tokens=500)
    assert text.text.count("MARK-long-217") >= 2 and "404" in text.text


async def test_a_sentence_longer_than_its_share_is_cut_at_a_word(app: Services, site: Site) -> None:
    urls = [site.url("/long/300"), site.url("/long-sentence")]
    for tokens in (100, 200, 400):
        answer = await call(app, "fetch_batch", urls=urls, question="note 217 | sluice", tokens=tokens, format="json")
        assert isinstance(answer.structured, list)
        _, row = answer.structured
        assert "sluice" in row["content"] and row["content"].endswith("[…]") and not row.get("warnings")
        assert sum(estimate(one["content"]) for one in answer.structured) <= tokens
        quote = row["excerpts"][0]
        assert row["total_chars"] > quote["end"]
    text = await call(app, "fetch_batch", urls=urls, question="note 217 | sluice", tokens=300)
    assert "No passage" not in text.text and "sluice" in text.text


async def test_a_document_is_read_for_a_question(app: Services, site: Site) -> None:
    source = site.url("/document/table.csv")
    answer = await call(app, "read_doc", source=source, question="zeppelin", tokens=100, format="json")
    assert isinstance(answer.structured, dict)
    assert answer.structured["source"] == source and answer.structured["format"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"question": "tide", "start": 5}, "start"),
        ({"question": "tide", "length": 5}, "length"),
        ({"question": " | "}, "must have words"),
        ({"question": "tide", "tokens": 0}, "tokens"),
        ({"question": "tide", "tokens": 99}, "tokens"),
        ({"question": "tide", "tokens": 8_001}, "tokens"),
    ],
)
async def test_contradictory_arguments_are_errors(
    app: Services, site: Site, arguments: dict[str, Any], part: str
) -> None:
    answer = await call(app, url=site.url("/guide/tides"), **arguments)
    assert answer.is_error and part in answer.text
