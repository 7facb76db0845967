"""Dates in machine formats, in texts and at the start of search snippets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.text import date_parsing
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
        ("03.18.2008 - Text", _day(2008, 3, 18), "Text"),
        ("3/4/2024 · Text", _day(2024, 4, 3), "Text"),
        ("27-06-2012 · Text", _day(2012, 6, 27), "Text"),
    ],
)
def test_date_at_the_start_of_a_snippet_is_split_off(snippet: str, date: datetime, rest: str) -> None:
    assert date_parsing.split_date(snippet, NOW) == (date, rest)


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
def test_relative_date_counts_back_from_the_response(snippet: str, ago: timedelta) -> None:
    assert date_parsing.split_date(snippet, NOW) == (NOW - ago, "Text")


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
def test_sentence_that_begins_like_a_date_stays_whole(snippet: str) -> None:
    assert date_parsing.split_date(snippet, NOW) == (None, snippet)


def test_leap_day_without_year_is_no_date_in_a_year_without_it() -> None:
    assert date_parsing.split_date("Feb 29 — Text", datetime(2026, 1, 10, tzinfo=UTC)) == (None, "Feb 29 — Text")


def test_date_alone_leaves_no_text() -> None:
    assert date_parsing.split_date("May 20, 2024", NOW) == (_day(2024, 5, 20), "")


@given(st.text(max_size=200))
def test_any_text_is_accepted(text: str) -> None:
    moment, rest = date_parsing.split_date(text, NOW)
    assert (moment is None and rest == text) or (moment is not None and moment.tzinfo is not None)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-05-17", datetime(2024, 5, 17, tzinfo=UTC)),
        ("2024-05-17T10:00:00Z", datetime(2024, 5, 17, 10, tzinfo=UTC)),
        ("2024-05-17T10:00:00+0200", datetime(2024, 5, 17, 8, tzinfo=UTC)),
        ("2024-05-17T00:00:00+02:00", datetime(2024, 5, 17, tzinfo=UTC)),
        ("2024-05-17T00:00:00-0800", datetime(2024, 5, 17, tzinfo=UTC)),
        ("Fri, 17 May 2024 00:00:00 +0900", datetime(2024, 5, 17, tzinfo=UTC)),
        ("2024-05-17T00:30:00+02:00", datetime(2024, 5, 16, 22, 30, tzinfo=UTC)),
        ("Fri, 17 May 2024 10:00:00 GMT", datetime(2024, 5, 17, 10, tzinfo=UTC)),
        ("2024/5/7", datetime(2024, 5, 7, tzinfo=UTC)),
        ("May 17, 2024", datetime(2024, 5, 17, tzinfo=UTC)),
        ("Fri May  7 10:00:00 2024", datetime(2024, 5, 7, 10, tzinfo=UTC)),
        ("Posted on Fri May  7 10:00:00 CET 2024", datetime(2024, 5, 7, tzinfo=UTC)),
        ("17 May 2024", datetime(2024, 5, 17, tzinfo=UTC)),
        ("Fri May 17 2024 10:00:00 GMT+0200 (CEST)", datetime(2024, 5, 17, 8, tzinfo=UTC)),
        ("1715940000", datetime(2024, 5, 17, 10, tzinfo=UTC)),
        ("2024051710", datetime(2024, 5, 17, tzinfo=UTC)),
        ("20240517103000", datetime(2024, 5, 17, tzinfo=UTC)),
        ("1715940000000", datetime(2024, 5, 17, 10, tzinfo=UTC)),
        ("2024年5月17日", datetime(2024, 5, 17, tzinfo=UTC)),
        ("17.05.2024", datetime(2024, 5, 17, tzinfo=UTC)),
        ("0001-01-01T00:00:00+23:59", None),
        ("1970-01-01", None),
        ("2024-13-45", None),
        ("99999-01-01", None),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_machine_formats_are_parsed(text: str, moment: datetime | None) -> None:
    assert date_parsing.parse_date(text) == moment


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("17 de mayo de 2024", (5, 17)), ("17 maggio 2024", (5, 17)), ("17. června 2024", (6, 17)),
        ("17 juillet 2024", (7, 17)), ("17 juin 2024", (6, 17)), ("17 мая 2024", (5, 17)),
        ("17 Mart 2024", (3, 17)),
        ("17 marraskuuta 2024", (11, 17)), ("17 listopada 2024", (11, 17)), ("17.05.2024", (5, 17)),
        ("12/25/2024", (12, 25)), ("25/12/2024", (12, 25)),
        ("Sept. 3rd, 2024", (9, 3)), ("2024-05-17", (5, 17)), ("2024. 5. 17.", (5, 17)),
        ("17 травня 2024 р.", (5, 17)), ("17 ianuarie 2024", (1, 17)), ("17 Μαΐου 2024", (5, 17)),
        ("17 rujna 2024", (9, 17)), ("17. lipnja 2024", (6, 17)), ("17 lipca 2024", (7, 17)),
        ("2024. május 17.", (5, 17)), ("2024 m. gegužės 17 d.", (5, 17)), ("17. maí 2024", (5, 17)),
        ("ngày 17 tháng 5 năm 2024", (5, 17)), ("17 tháng 5, 2024", (5, 17)), ("17 Agustus 2024", (8, 17)),
        ("17 พฤษภาคม 2567", (5, 17)), ("१७ मई २०२४", (5, 17)), ("17 בינואר 2024", (1, 17)),
        ("١٧ مايو ٢٠٢٤", (5, 17)), ("17 أغسطس 2024", (8, 17)), ("17 май 2024", (5, 17)),
        ("17. července 2024", (7, 17)), ("17 thg 5, 2024", (5, 17)),
        ("۱۷ مه ۲۰۲۴", (5, 17)), ("17 اگست 2024", (8, 17)), ("17 மே 2024", (5, 17)), ("மே 17, 2024", (5, 17)),
        ("17 ఆగస్టు 2024", (8, 17)), ("१७ मे २०२४", (5, 17)), ("17 ઑગસ્ટ 2024", (8, 17)), ("17 ਮਈ 2024", (5, 17)),
        ("17 ಮೇ 2024", (5, 17)), ("2024 മേയ് 17", (5, 17)), ("17 მაისი 2024", (5, 17)), ("17 ივნისს, 2024", (6, 17)),
        ("17 մայիսի 2024", (5, 17)), ("17 հուլիսի, 2024", (7, 17)), ("17 мамыр 2024", (5, 17)),
    ],
)  # fmt: skip
def test_dates_in_text_are_found_in_many_languages(text: str, day: tuple[int, int]) -> None:
    moment = date_parsing.find_date(text)
    assert moment is not None and (moment.year, moment.month, moment.day) == (2024, *day)


@pytest.mark.parametrize("text", ["03/04/2024", "31.02.2024", "version 1.2.2024.5", "in 2024", "17 Foo 2024", ""])
def test_ambiguous_or_invalid_dates_are_none(text: str) -> None:
    assert date_parsing.find_date(text) is None


def test_publications_may_be_older_than_the_web() -> None:
    assert date_parsing.parse_date("1965-04-19") is None
    assert date_parsing.parse_date("1965-04-19", earliest=1) == _day(1965, 4, 19)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Mon, 03/04/2024 - 09:15", _day(2024, 3, 4)),
        ("Mon, 04/03/2024 - 09:15", _day(2024, 3, 4)),
        ("lun., 04/03/2024", _day(2024, 3, 4)),
        ("segunda-feira, 04/03/2024", _day(2024, 3, 4)),
        ("03/04/2024 (Monday)", _day(2024, 3, 4)),
        ("Tue, 07/11/2023 - 17:57", _day(2023, 7, 11)),  # also a Tuesday with the day first, but the default of Drupal
        ("Tue, 07/11/2023", None),
        ("Fri, 03/04/2024 - 09:15", None),
        ("3/4/2024 9:15:00 AM", _day(2024, 3, 4)),
        ("12/3/2024, 1:00 pm", _day(2024, 12, 3)),
        ("3/12/2024 9:15:00 AM", None),
        ("03/04/2024 9:15:00 AM", None),
        ("3/4/2024 9:15", None),
        ("2024/03", _day(2024, 3, 1)),
        ("2024-3", _day(2024, 3, 1)),
        ("2024/13", None),
    ],
)
def test_the_day_of_the_week_or_the_format_decides_between_day_and_month(text: str, date: datetime | None) -> None:
    assert date_parsing.parse_date(text) == date
