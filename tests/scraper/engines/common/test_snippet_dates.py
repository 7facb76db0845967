"""Dates at the start of snippets, in the languages of the engines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.engines.common import snippet_dates
from tests.scraper.engines.pages import NOW


def _day(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("snippet", "date", "rest"),
    [
        ("May 20, 2024Harassment is", _day(2024, 5, 20), "Harassment is"),
        ("Jan 7, 2024 · A text", _day(2024, 1, 7), "A text"),
        ("14 Oct 2023 ... Text", _day(2023, 10, 14), "Text"),
        ("April 15, 2026 - text in lower case", _day(2026, 4, 15), "text in lower case"),
        ("20.08.2025—Text", _day(2025, 8, 20), "Text"),
        ("2025-08-20 · Text", _day(2025, 8, 20), "Text"),
        ("2024年1月30日成都", _day(2024, 1, 30), "成都"),
        ("2024년 1월 30일 — 서울", _day(2024, 1, 30), "서울"),
        ("28 thg 1, 2013 · Text", _day(2013, 1, 28), "Text"),
        ("9. Juni 2024 · Text", _day(2024, 6, 9), "Text"),
        ("1. März 2021 — Text", _day(2021, 3, 1), "Text"),
        ("3 mars 2021 · Texte", _day(2021, 3, 3), "Texte"),
        ("12 de mayo de 2022 · Texto", _day(2022, 5, 12), "Texto"),
        ("5 сентября 2023 г. — Текст", _day(2023, 9, 5), "Текст"),
        ("Aug 3 — Text", _day(2026, 8, 3), "Text"),
        ("Dec 24 — Text", _day(2025, 12, 24), "Text"),
    ],
)
def test_days_are_read_and_cut_off(snippet: str, date: datetime, rest: str) -> None:
    assert snippet_dates.split_date(snippet, NOW) == (date, rest)


@pytest.mark.parametrize(
    ("snippet", "ago"),
    [
        ("2 days ago · Text", timedelta(days=2)),
        ("1 week ago - Text", timedelta(days=7)),
        ("an hour ago — Text", timedelta(hours=1)),
        ("5 days agoText", timedelta(days=5)),
        ("Il y a 17 heures · Text", timedelta(hours=17)),
        ("vor 3 Tagen — Text", timedelta(days=3)),
        ("hace 2 semanas · Text", timedelta(days=14)),
        ("há 4 dias · Text", timedelta(days=4)),
        ("3 天之前 · Text", timedelta(days=3)),
        ("7小时前Text", timedelta(hours=7)),
        ("2 時間前 — Text", timedelta(hours=2)),
        ("6시간 전 · Text", timedelta(hours=6)),
        ("2 ngày trước · Text", timedelta(days=2)),
        ("5 дней назад — Text", timedelta(days=5)),
        ("2 gün önce · Text", timedelta(days=2)),
        ("yesterday · Text", timedelta(days=1)),
        ("昨天 · Text", timedelta(days=1)),
    ],
)
def test_spans_count_back_from_the_answer(snippet: str, ago: timedelta) -> None:
    assert snippet_dates.split_date(snippet, NOW) == (NOW - ago, "Text")


@pytest.mark.parametrize(
    "snippet",
    [
        "Jan 7, 2024 was a Sunday",
        "10 hours of music",
        "30+ years ago we began",
        "March madness begins",
        "2024 in review",
        "Feb 31, 2024 · no such day",
        "1.2.3.4 is an address",
        "",
    ],
)
def test_sentences_that_begin_like_a_date_stay_whole(snippet: str) -> None:
    assert snippet_dates.split_date(snippet, NOW) == (None, snippet)


def test_a_date_alone_leaves_nothing() -> None:
    assert snippet_dates.split_date("May 20, 2024", NOW) == (_day(2024, 5, 20), "")


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    moment, rest = snippet_dates.split_date(text, NOW)
    assert (moment is None and rest == text) or (moment is not None and moment.tzinfo is not None)
