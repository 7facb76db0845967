"""Fusion of the rows of several engines into one list."""

from __future__ import annotations

import pytest

from scraper.search.fusion import EngineRanking, fuse_rankings, merge_duplicates
from tests.scraper.search.rows import listed, row

A, B, C, D = (f"https://{name}.example/page" for name in "abcd")


def urls(*lists: EngineRanking) -> list[str]:
    return [page.best.url for page in fuse_rankings(lists)]


def test_the_score_is_the_sum_of_reciprocal_ranks() -> None:
    page = next(page for page in fuse_rankings([listed("one", A, B), listed("two", B, A)]) if page.best.url == A)
    assert page.score == pytest.approx(1 / 61 + 1 / 62)


def test_a_page_of_two_engines_ranks_above_the_first_of_one() -> None:
    assert urls(listed("one", A, B), listed("two", C, D, B)) == [B, A, C, D]


def test_a_second_engine_over_one_index_has_a_reduced_vote() -> None:
    same = [listed("one", A, family="index"), listed("two", A, family="index")]
    apart = [listed("one", A), listed("two", A)]
    assert fuse_rankings(same)[0].score == pytest.approx(1.3 / 61)
    assert fuse_rankings(apart)[0].score == pytest.approx(2 / 61)


def test_an_engine_that_lists_a_page_twice_has_one_vote_for_it() -> None:
    (page,) = fuse_rankings([listed("one", A, f"{A}?utm_source=x")])
    assert page.score == pytest.approx(1 / 61)
    assert page.best.url == A


def test_engines_are_in_the_order_of_their_ranks() -> None:
    pages = fuse_rankings([listed("one", B, C, A), listed("two", A)])
    assert next(page for page in pages if page.best.url == A).engines == ("two", "one")


def test_a_wrapped_link_is_merged_by_headline_and_publisher() -> None:
    wrapped = row(
        1,
        "https://news.google.com/rss/articles/CBMiAA",
        "The ferry that came back - Harbour Review",
        source="Harbour Review",
        source_url="https://www.harbour.example",
    )
    direct = row(1, "https://harbour.example/ferry", "The ferry that came back")
    news, other = (EngineRanking("googlenews", "googlenews", (wrapped,)), EngineRanking("mojeek", "mojeek", (direct,)))
    for lists in ([news, other], [other, news]):
        (page,) = fuse_rankings(lists)
        assert page.best.url == "https://harbour.example/ferry"
        assert page.title == "The ferry that came back"
        assert set(page.engines) == {"googlenews", "mojeek"}


def test_a_wrapped_link_has_the_host_of_its_publisher() -> None:
    link = "https://news.google.com/rss/articles/CBMiAA"
    wrapped = row(1, link, "News - Paper", source="Paper", source_url="https://www.paper.example")
    (page,) = fuse_rankings([EngineRanking("googlenews", "googlenews", (wrapped,))])
    assert (page.best.url, page.host, page.title) == (link, "paper.example", "News")


def test_paths_that_differ_in_case_are_one_page_with_equal_titles() -> None:
    one = EngineRanking("one", "one", (row(1, "https://a.example/Js/", "JavaScript Tutorial"),))
    same = EngineRanking("two", "two", (row(1, "https://a.example/js/", "JavaScript Tutorial"),))
    other = EngineRanking("two", "two", (row(1, "https://a.example/js/", "Something else"),))
    assert len(fuse_rankings([one, same])) == 1
    assert len(fuse_rankings([one, other])) == 2


def test_the_snippet_that_covers_most_of_the_query_is_shown() -> None:
    rows = [
        EngineRanking("one", "one", (row(1, A, "T", "A long text about nothing that anybody would have asked for."),)),
        EngineRanking("two", "two", (row(2, A, "T", "Tidal power costs."),)),
    ]
    (page,) = fuse_rankings(rows)
    assert page.select_snippet(frozenset({"tidal", "power"})) == "Tidal power costs."
    assert page.select_snippet(frozenset()).startswith("A long text")


STORY = "Ferry lost in fog for eleven hours finds its way home by the smell of bread"
TOLD = "The morning ferry was lost in thick fog for eleven hours before the smell of a bakery led it home."


def copies(*rows: tuple[str, str, str]) -> list[tuple[str, tuple[str, ...]]]:
    engine = EngineRanking("one", "one", tuple(row(n, *entry) for n, entry in enumerate(rows, 1)))
    return [(page.best.url, page.also) for page in merge_duplicates(fuse_rankings([engine]), "")]


def test_one_story_on_two_hosts_is_merged() -> None:
    assert copies((A, f"{STORY} - Paper", "Short."), (B, f"{STORY} | Other", "")) == [(A, (B,))]
    assert copies((A, "One title", TOLD), (B, "Quite another", TOLD.replace("thick", "dense"))) == [(A, (B,))]


def test_equal_short_titles_are_two_pages() -> None:
    assert len(copies((A, "JavaScript Tutorial", "Learn it here."), (B, "JavaScript Tutorial", "Begin."))) == 2


def test_pages_of_one_site_are_duplicates_only_with_equal_titles() -> None:
    other = "https://a.example/second"
    assert len(copies((A, "Page one", TOLD), (other, "Page two", TOLD))) == 2
    assert len(copies((A, "Page one", TOLD), (other, "Page one", TOLD))) == 1


@pytest.mark.parametrize(
    "titles",
    [
        ("What's new in Python 3.12", "What's new in Python 3.13"),
        ("Sorting - Python 3.12.1 documentation", "Sorting - Python 3.13.0 documentation"),
        ("Budget of the harbour office 2025", "Budget of the harbour office 2026"),
        (
            "Report of the harbour office for the whole year | 2025",
            "Report of the harbour office for the whole year | 2026",
        ),
    ],
)
def test_different_versions_and_years_are_not_duplicates(titles: tuple[str, str]) -> None:
    for second in (B, "https://a.example/second"):
        assert len(copies((A, titles[0], TOLD), (second, titles[1], TOLD))) == 2
        assert len(copies((A, titles[0], TOLD), (second, titles[0], TOLD))) == 1


def test_words_of_the_query_do_not_count_for_the_similarity() -> None:
    query = "thời tiết Hà Nội hôm nay"
    one = "Dự báo thời tiết Hà Nội hôm nay: thời tiết hôm nay ở Hà Nội có mưa rào rải rác, trời âm u cả ngày"
    two = "Thời tiết Hà Nội hôm nay và ngày mai: thời tiết ở Hà Nội nắng nhẹ, gió mùa đông bắc cấp ba"
    engine = EngineRanking(
        "one", "one", (row(1, A, "Thời tiết Hà Nội", one), row(2, B, "Thời tiết hôm nay ở Hà Nội", two))
    )
    assert len(merge_duplicates(fuse_rankings([engine]), query)) == 2


def test_merging_duplicates_is_idempotent() -> None:
    engine = EngineRanking("one", "one", tuple(row(n, u, STORY, TOLD) for n, u in enumerate((A, B, C, D), 1)))
    once = merge_duplicates(fuse_rankings([engine]), "")
    assert merge_duplicates(once, "") == once
    assert once[0].also == (B, C, D)
