"""The pages of a site in the order of a question."""

from __future__ import annotations

from typing import Any

from scraper.site.model import SitePage
from scraper.site.url_patterns import rank_pages
from tests.growth import Hostile, hostile_inputs

ORIGIN = "https://site.example"


def pages(*rows: tuple[str, str]) -> list[SitePage]:
    return [SitePage(f"{ORIGIN}{path}", title, source="list") for path, title in rows]


def ranked(rows: list[SitePage], question: str | None) -> list[str]:
    return [page.url.removeprefix(ORIGIN) for page, _ in rank_pages(rows, question)]


def test_words_of_url_and_title_count() -> None:
    rows = pages(("/intro", "Introduction"), ("/guide/rate-limits", ""), ("/x1", "Limits of requests"), ("/rates", ""))
    assert ranked(rows, "What are the rate limits?")[0] == "/guide/rate-limits"


def test_forms_of_a_word_count() -> None:
    assert ranked(pages(("/a", ""), ("/throttling", "")), "throttle requests")[0] == "/throttling"
    assert ranked(pages(("/a", ""), ("/errorHandling", "")), "handling of an error")[0] == "/errorHandling"


def test_rare_words_count_more_than_frequent_ones() -> None:
    rows = pages(*((f"/docs/page-{number}", "Docs page") for number in range(20)), ("/docs/tide", "Tide"))
    assert ranked(rows, "docs page about the tide")[0] == "/docs/tide"


def test_without_a_question_linked_pages_come_first() -> None:
    listed, linked, start = (
        SitePage(f"{ORIGIN}/listed", source="list"),
        SitePage(f"{ORIGIN}/linked", place="nav"),
        SitePage(f"{ORIGIN}/", source="start"),
    )
    assert ranked([listed, linked, start], None) == ["/", "/linked", "/listed"]


def test_scores_are_shares() -> None:
    scores = [score for _, score in rank_pages(pages(("/tide", "Tide"), ("/a", "")), "tide")]
    assert 0.5 < scores[0] <= 1 and scores[1] == 0


@hostile_inputs(
    {
        "pages": (
            15_000,
            lambda n: pages(*((f"/docs/section-{number % 97}/page-{number}", f"Page {number}") for number in range(n))),
        )
    }
)
def test_many_pages_are_ranked_in_linear_time(hostile: Hostile[Any]) -> None:
    hostile.run(lambda rows: rank_pages(rows, "section 13 page 13"), limit_s=2)
