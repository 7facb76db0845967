"""Tests for the dates of posts, also of posts whose dates are relative or unknown."""

from __future__ import annotations

import pytest

from scraper.facts.metadata.written_dates import find_written_date, may_hold_date
from tests.scraper.extract.discussion.forum_pages import forum_page, forum_post, read_posts


@pytest.mark.parametrize(
    "written",
    [
        "May 3, 2024",
        "3 May 2024",
        "3. Mai 2024",
        "3 mai 2024",
        "3 de mayo de 2024",
        "3 de maio de 2024",
        "3 maggio 2024",
        "3 mei 2024",
        "3 maj 2024",
        "3. maj 2024",
        "3. mai 2024",
        "3. toukokuuta 2024",
        "3. maí 2024",
        "3 мая 2024 г.",
        "3 травня 2024",
        "3 май 2024",
        "3. мај 2024",
        "3 maja 2024",
        "3. května 2024",
        "3. mája 2024",
        "2024. május 3.",
        "3 mai 2024",
        "3. svibnja 2024.",
        "3. maja 2024",
        "3 Μαΐου 2024",
        "3 Mayıs 2024",
        "3 Mei 2024",
        "3 tháng 5, 2024",
        "3 พฤษภาคม 2567",
        "3 मई 2024",
        "3 মে 2024",
        "2024年5月3日",
        "2024년 5월 3일",
        "3 במאי 2024",
        "3 مايو 2024",
        "3. mai 2024",
        "2024-05-03",
        "3 de maig de 2024",
        "03.05.2024",
        "2024/05/03",
        "3 mei 2024",
        "2024. gada 3. maijs",
    ],
)
def test_dates_are_read_in_many_languages(written: str) -> None:
    found = find_written_date(f"{written}")
    assert found is not None
    assert may_hold_date(f"\n  {written}\n")
    assert found[1] is not None
    assert found[1].date().isoformat() == "2024-05-03"


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2024. március 14.", "2024-03-14"),
        ("14. nóvember 2024", "2024-11-14"),
        ("14. фебруар 2024.", "2024-02-14"),
        ("14. новембар 2024.", "2024-11-14"),
        ("14 красавіка 2024 г.", "2024-04-14"),
        ("14 iyun 2024", "2024-06-14"),
        ("14 d’abril del 2024", "2024-04-14"),
        ("14 de xuño de 2024", "2024-06-14"),
        ("14 shkurt 2024", "2024-02-14"),
        ("14 مارچ، 2024", "2024-03-14"),
        ("14 בינו׳ 2024", "2024-01-14"),
        ("14 มีนาคม ค.ศ. 2024", "2024-03-14"),
        ("Hunyo 14, 2024", "2024-06-14"),
        ("14 Ogos 2024", "2024-08-14"),
        ("2024 թ. մարտի 14", "2024-03-14"),
        ("2024 ж. 14 наурыз", "2024-03-14"),
        ("14. listopada 2024.", "2024-10-14"),
        ("14 listopada 2024", "2024-11-14"),
        ("14. listopadu 2024", "2024-11-14"),
    ],
)
def test_months_of_further_languages(written: str, date: str) -> None:
    found = find_written_date(written)
    assert found is not None
    assert found[1] is not None
    assert found[1].date().isoformat() == date


@pytest.mark.parametrize(
    "written",
    [
        "2 hours ago",
        "vor 3 Tagen",
        "il y a 2 jours",
        "hace 3 horas",
        "há 2 dias",
        "3 дня назад",
        "3 gün önce",
        "3日前",
        "Yesterday at 4:27 PM",
        "an hour ago",
        "una ora fa",
        "vor einem Tag",
    ],
)
def test_relative_dates_stay_as_written(written: str) -> None:
    found = find_written_date(written)
    assert found is not None
    assert written.endswith(found[0])
    assert found[1] is None
    assert may_hold_date(written)


def test_a_sentence_without_numbers_and_words_of_dates_holds_no_date() -> None:
    assert not may_hold_date("The player repairs a bridge with 42 bolts.")


def test_the_date_behind_a_label_in_the_same_element_is_not_that_of_the_post() -> None:
    posts = [
        forum_post(number).replace(
            "<p>Joined: May 3, 2011</p>", f"<dd><strong>Founded:</strong> May {number}, 2011</dd>"
        )
        for number in range(1, 5)
    ]
    assert [str(post.published)[:4] for post in read_posts(forum_page("".join(posts)))] == ["2024"] * 4


@pytest.mark.parametrize("text", ["VLC media player", "Do plates make me healthier?", "A layer of tea"])
def test_parts_of_words_are_no_dates(text: str) -> None:
    assert find_written_date(text) is None
