"""Comparison of two to five pages by their passages about one question."""

from __future__ import annotations

import pytest

from scraper import errors
from scraper.model import Reading
from scraper.render import research_report as render
from scraper.search.research import find_excerpts_of_pages
from scraper.text import token_estimate
from scraper.workers import WorkerPool
from tests.scraper.search.pages import Library, url_of
from tests.scraper.search.test_research import ANSWER, QUESTION, page


async def test_each_page_has_relevant_excerpts(workers: WorkerPool) -> None:
    library = Library({name: page(name, answers=True) for name in "abcde"})
    urls = [url_of(name) for name in "abcde"]
    pages = await find_excerpts_of_pages(library.fetcher, workers, QUESTION, urls, budget=5_000)
    assert [one.url for one in pages] == urls
    assert all(ANSWER in "".join(excerpt.text for excerpt in one.excerpts) for one in pages)
    assert token_estimate.estimate(render.comparison_as_markdown(QUESTION, pages, region="0123456789ab")) < 6_000


async def test_a_failed_page_has_its_error_in_its_position(workers: WorkerPool) -> None:
    pages = await find_excerpts_of_pages(
        Library({"b": page("b")}).fetcher, workers, QUESTION, [url_of("a"), url_of("b")], budget=2_000
    )
    assert isinstance(pages[0].outcome, errors.NoContentError) and isinstance(pages[1].outcome, Reading)
    assert pages[1].excerpts and not pages[0].excerpts


async def test_duplicates_are_named_and_have_excerpts(workers: WorkerPool) -> None:
    library = Library({"a": page("x", answers=True), "b": page("x", answers=True)})
    pages = await find_excerpts_of_pages(library.fetcher, workers, QUESTION, [url_of("a"), url_of("b")], budget=2_000)
    assert pages[1].same_as == 0 and pages[1].excerpts


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ("a", "compare takes 2 to 5 different URLs, not 1. To read one page use `fetch`."),
        ("aa", "compare takes 2 to 5 different URLs, not 2 times the same. To read one page use `fetch`."),
        ("", "compare takes 2 to 5 different URLs, not 0. To read one page use `fetch`."),
        ("abcdef", "compare takes 2 to 5 URLs, not 6. To read more pages use `fetch_batch`."),
    ],
)
async def test_the_error_for_a_wrong_number_of_urls_names_the_right_tool(
    workers: WorkerPool, names: str, sentence: str
) -> None:
    library = Library({})
    with pytest.raises(errors.InvalidArgumentError) as caught:
        await find_excerpts_of_pages(library.fetcher, workers, QUESTION, [url_of(name) for name in names], budget=2_000)
    assert caught.value.sentence() == sentence and library.asked == []
