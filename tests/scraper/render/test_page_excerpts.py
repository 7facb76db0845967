"""Quotes of several pages stay within one budget."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from scraper.model import Document, Reading
from scraper.render.research_report import fit_excerpts, page_as_json
from scraper.retrieval.model import PageExcerpts
from scraper.retrieval.passage_selection import select_passages
from scraper.text.token_estimate import estimate

URL = "https://site.example/"
MATCHING = "\n\n".join(f"The ferry number {number} lands at the pier when the tide is low." for number in range(80))
OTHER = "\n\n".join(f"A heading of the wind {number}, and nothing else in this paragraph." for number in range(80))


def page_of(markdown: str, question: str, tokens: int) -> PageExcerpts:
    (excerpts,) = select_passages([markdown], question, tokens)
    document = Document(URL, markdown=markdown, text=markdown)
    return PageExcerpts(URL, Reading(document, URL, URL, 200, "http", False, datetime.now(UTC)), tuple(excerpts))


def test_pages_with_and_without_a_match_share_the_budget() -> None:
    tokens = 400
    pages = [page_of(text, "ferry tide", tokens) for text in (MATCHING, OTHER, OTHER, OTHER)]
    fitted = fit_excerpts(pages, tokens, linked=False)
    contents = [str(page_as_json(page, tokens=tokens // len(pages))["content"]) for page in fitted]
    assert sum(estimate(content) for content in contents) <= tokens
    assert "ferry" in contents[0]
    assert all("wind" in content for content in contents[1:])


def test_a_single_quote_that_is_cut_keeps_its_fence_and_its_position() -> None:
    code = "\n".join(f"ferry_{number} = land_at_pier(tide={number}, wind=None)" for number in range(60))
    markdown = f"# Ferries\n\nThe pier is in the north.\n\n```python\n{code}\n```\n\nNothing else is here."
    page = page_of(markdown, "ferry_30 pier", 120)
    (excerpt,) = page.excerpts
    (cut,) = fit_excerpts([page], 60, linked=False)[0].excerpts
    assert len(cut.text) < len(excerpt.text) and estimate(cut.text) <= 60
    assert cut.text.startswith("```python\n") and cut.text.endswith("\n```")
    assert cut.text == f"```python\n{markdown[cut.start : cut.end]}\n```"


def test_without_a_match_the_language_of_the_page_is_named() -> None:
    page = page_of(OTHER, "Fähre", 200)
    assert isinstance(page.outcome, Reading)
    outcome = replace(page.outcome, document=replace(page.outcome.document, language="en"))
    answer = page_as_json(replace(page, outcome=outcome, excerpts=()), tokens=200)
    assert "The language of the page is `en`." in str(answer["warnings"])


def test_the_language_of_a_document_that_declares_none_is_that_of_its_text() -> None:
    german = "\n\n".join(f"Die Fähre {number} kommt am Morgen in den Hafen und bringt Fisch." for number in range(9))
    page = page_of(german, "storage", 200)
    answer = page_as_json(replace(page, excerpts=()), tokens=200)
    assert "The language of the page is `de`." in str(answer["warnings"])
