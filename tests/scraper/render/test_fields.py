"""Extracted fields of several pages as text."""

from __future__ import annotations

from scraper.errors import NetworkError, ScraperError
from scraper.facts.fields.model import PageFields
from scraper.render.fields import pages_as_markdown

BAD = NetworkError("The server did not answer.", target="https://a.example/bad")


def page(number: int) -> tuple[str, PageFields | ScraperError]:
    url = f"https://a.example/{number}"
    return url, PageFields(url, values={"price": str(number)}, recipe='{"version": 1}')


def test_recipe_is_written_once_also_if_the_last_page_failed() -> None:
    failed: tuple[str, PageFields | ScraperError] = ("https://a.example/bad", BAD)
    for outcomes in ([page(1), failed], [failed, page(1), page(2)], [page(1), page(2), failed]):
        text = pages_as_markdown(outcomes, region="0a1b", budget=5_000)
        assert text.count('{"version": 1}') == 1
    assert "Recipe" not in pages_as_markdown([failed, failed], region="0a1b", budget=5_000)
