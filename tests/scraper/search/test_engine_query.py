"""Result rows for another query (decoys) are detected; weak but real rows are not mistaken for decoys."""

from __future__ import annotations

from scraper.search.engine_query import are_decoys
from tests.scraper.search.rows import row

QUERY = "popular times of the harbour museum restaurant"


def rows(*texts: str) -> list[object]:
    return [row(n, f"https://a{n}.example/", text, text) for n, text in enumerate(texts, 1)]


def decoys(query: str, *texts: str) -> bool:
    return are_decoys(query, rows(*texts))  # type: ignore[arg-type]


def test_rows_about_the_first_word_only_are_decoys() -> None:
    assert decoys(QUERY, *(f"What popular means, part {n}" for n in range(10)))


def test_accents_and_case_do_not_hide_a_decoy() -> None:
    assert decoys("tình hình thời tiết Hà Nội hôm nay", *(f"Thơ Tình hay nhất số {n}" for n in range(8)))


def test_rows_about_the_query_are_not_decoys() -> None:
    assert not decoys(QUERY, *(f"Harbour museum: restaurant and popular times {n}" for n in range(10)))


def test_weak_mixed_rows_are_not_decoys() -> None:
    assert not decoys(QUERY, *(f"A museum of sorts, number {n}" for n in range(10)))


def test_short_queries_have_no_decoys() -> None:
    assert not decoys("popular harbour", *(f"What popular means, part {n}" for n in range(10)))


def test_two_rows_are_not_decoys() -> None:
    assert not decoys(QUERY, "What popular means", "More on popular")
