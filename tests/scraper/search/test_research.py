"""Research finds sources and their passages about a question, within budget and deadline."""

from __future__ import annotations

import re
from typing import Any

import pytest

from browsers import Browsers
from scraper import errors
from scraper.model import CachePolicy, Reading
from scraper.reading.fetcher import Fetcher
from scraper.render import research_report as render
from scraper.render.research_report import ResearchReport
from scraper.search.research import Researcher, ResearchQuery
from scraper.search.searcher import Searcher
from scraper.settings import Settings
from scraper.store.protocols import NullPageStore
from scraper.text import token_estimate
from scraper.workers import WorkerPool
from tests.scraper.search.pages import Library, Listed, url_of

QUESTION = "Do ferries to Borkum carry bicycles in winter?"
ANSWER = "The night ferry to Borkum carries bicycles free of charge from October to March."
NAMES = ("a", "b", "c", "d", "e", "f")


def page(name: str, *, answers: bool = False) -> str:
    """Return a long page of unique words, with the answer in its middle if `answers`."""
    parts = [f"Note {number} of {name}: {name}{number} was seen near {name}{number * 7}." for number in range(400)]
    return "\n\n".join([f"# Log of {name}", *parts[:200], *([ANSWER] if answers else []), *parts[200:]])


async def research(
    workers: WorkerPool, listed: Listed, library: Library, *, budget: int = 3_000, deadline_s: float = 20.0, **how: Any
) -> ResearchReport:
    researcher = Researcher(listed.searcher, library.fetcher, workers)
    return await researcher.research(ResearchQuery(QUESTION, **how), budget=budget, deadline_s=deadline_s)


def read(brief: ResearchReport) -> list[str]:
    return [one.url for one in brief.pages if isinstance(one.outcome, Reading)]


async def test_the_best_pages_are_read_and_the_relevant_passage_is_returned(workers: WorkerPool) -> None:
    library = Library({name: page(name, answers=name == "b") for name in NAMES})
    brief = await research(workers, Listed(*NAMES), library)
    assert read(brief) == [url_of(name) for name in "abc"]
    assert ANSWER in "".join(excerpt.text for excerpt in brief.pages[1].excerpts)
    assert "text=The%20night%20ferry" in brief.pages[1].excerpts[0].fragment


async def test_more_results_are_requested_than_read(workers: WorkerPool) -> None:
    listed = Listed(*NAMES)
    brief = await research(workers, listed, Library({name: page(name) for name in "cdef"}), depth=3)
    assert listed.asked[0].max_results == 6
    assert read(brief) == [url_of(name) for name in "cde"]
    assert [type(one.outcome) for one in brief.pages[:2]] == [errors.NoContentError, errors.NoContentError]


async def test_duplicates_of_one_text_get_no_excerpts(workers: WorkerPool) -> None:
    library = Library({"a": page("x", answers=True), "b": page("x", answers=True), "c": page("c")})
    brief = await research(workers, Listed("a", "b", "c"), library)
    assert [one.same_as for one in brief.pages] == [None, 0, None]
    assert brief.pages[0].excerpts and not brief.pages[1].excerpts
    assert "3 pages, 2 independent" in render.as_markdown(brief, region="0123456789ab")


async def test_without_fetch_nothing_is_read(workers: WorkerPool) -> None:
    library = Library({})
    brief = await research(workers, Listed(*NAMES), library, fetch=False)
    assert library.asked == [] and brief.pages == () and len(brief.search.results) == 6


@pytest.mark.parametrize("age_s", [None, 0.0, 7_200.0])
async def test_the_maximum_age_applies_to_searches_and_pages(workers: WorkerPool, age_s: float | None) -> None:
    listed, library = Listed("a"), Library({"a": page("a")})
    await research(workers, listed, library, cache=CachePolicy(age_s))
    assert listed.asked[0].cache.max_age_s == age_s and library.asked[0].cache.max_age_s == age_s


async def test_the_answer_has_pages_read_before_the_deadline(workers: WorkerPool) -> None:
    library = Library({"a": page("a", answers=True)} | dict.fromkeys(NAMES[1:]))
    brief = await research(workers, Listed(*NAMES), library, deadline_s=2.0)
    assert read(brief) == [url_of("a")] and brief.pages[0].excerpts
    assert any(isinstance(one.outcome, errors.FetchTimeoutError) for one in brief.pages)


async def test_no_results_are_an_answer(workers: WorkerPool) -> None:
    brief = await research(workers, Listed(hint="Fewer words."), Library({}))
    assert brief.pages == () and brief.search.hint == "Fewer words."


@pytest.mark.parametrize("depth", [1, 3, 8])
async def test_an_answer_stays_within_the_budget_at_any_depth(workers: WorkerPool, depth: int) -> None:
    names = [f"s{number}" for number in range(16)]
    library = Library({name: page(name, answers=True) for name in names})
    brief = await research(workers, Listed(*names), library, depth=depth, budget=7_500)
    text = render.as_markdown(brief, region="0123456789ab")
    assert len(read(brief)) == depth
    assert token_estimate.estimate(text) < 9_000


async def test_an_error_of_the_search_names_the_question(workers: WorkerPool) -> None:
    fault = errors.InvalidArgumentError("query is empty.", target="query", next_step="Describe it.")
    with pytest.raises(errors.InvalidArgumentError, match=r"^question is empty\.$"):
        await research(workers, Listed(error=fault), Library({}))


async def test_the_error_for_an_unknown_engine_is_that_of_the_searcher(workers: WorkerPool) -> None:
    fault = errors.InvalidArgumentError('engines names "x", which is none.', target="engines")
    with pytest.raises(errors.InvalidArgumentError, match="engines names"):
        await research(workers, Listed(error=fault), Library({}))


async def test_beginnings_are_returned_without_a_worker(workers: WorkerPool) -> None:
    closed = WorkerPool(1)
    library = Library({name: page(name) for name in "abc"})
    brief = await research(closed, Listed("a", "b", "c"), library, budget=2_000)
    assert all(one.excerpts[0].text.startswith("# Log of ") for one in brief.pages)
    assert sum(token_estimate.estimate(one.excerpts[0].text) for one in brief.pages) <= 2_000


@pytest.mark.browser
@pytest.mark.usefixtures("engines_have_time")
async def test_question_to_passages_end_to_end(
    searcher: Searcher, engine_browsers: Browsers, engine_settings: Settings, workers: WorkerPool, caller: str
) -> None:
    fetcher = Fetcher(engine_browsers, workers, NullPageStore(), engine_settings)
    told: list[str] = []
    researcher = Researcher(searcher, fetcher, workers)
    brief = await researcher.research(
        ResearchQuery("tidal power cost", depth=3),
        budget=4_000,
        deadline_s=120.0,
        principal=caller,
        progress=lambda done, total=None, message=None: told.append(str(message)),
    )
    assert len(read(brief)) == 3 and not brief.search.errors
    assert all("tidal power cost" in excerpt.text for one in brief.pages for excerpt in one.excerpts[:1])
    text = render.as_markdown(brief, region="0123456789ab")
    assert len(re.findall(r"^\[\d\] ", text, re.MULTILINE)) == len(brief.search.results) == 6
    assert "#:~:text=" in text
    assert told[0] == "searching" and told[-1] == "done"
    await fetcher.close()
