"""Tests for the comparison of two versions of a page."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from scraper.site.page_changes import compare_pages, mark_words, split_blocks
from tests.growth import assert_linear
from tests.site.traps.made_site import Prose

PAGE = """# Ferries

The morning ferry leaves at half past six, whatever the tide, and takes two hundred passengers.

## Prices

| Ticket | Price |
| --- | --- |
| Adult | 12 EUR |
| Child | 6 EUR |

- Bicycles travel free of charge on weekdays.
- Dogs need a muzzle and a ticket of their own.

```python
print("ferry")
```
"""


def kinds(old: str, new: str, *again: str) -> list[tuple[str, str]]:
    """Return the kind and the new (or old) text of each change."""
    return [(change.kind, change.new or change.old) for change in compare_pages(old, new, again).changes]


def test_blocks_are_paragraphs_items_rows_headings_and_code() -> None:
    found = [(block.kind, block.heading) for block in split_blocks(PAGE)]
    assert found == [
        ("heading", "Ferries"), ("text", "Ferries"), ("heading", "Prices"), ("row", "Prices"), ("row", "Prices"),
        ("row", "Prices"), ("text", "Prices"), ("text", "Prices"), ("code", "Prices"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("the same", "the same"),
        ("whatever the tide", "**whatever** the [tide](https://a.example/?sid=1)"),
        ("# Ferries", "## Ferries"),
        ("```python", "``` py"),
        ("whatever the tide", "whatever ![the tide](my pic (1).png)"),
    ],
)
def test_formatting_and_link_targets_are_no_change(old: str, new: str) -> None:
    assert not compare_pages(PAGE, PAGE.replace(old, new) if old else PAGE).is_changed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("12 EUR", "21 EUR"),
        ("| Child | 6 EUR |", "| Child | 7 EUR |"),
        ("half past six", "half past five"),
        ("Dogs need", "Dogs do not need"),
        ('"ferry"', '"boat"'),
    ],
)
def test_an_edit_is_one_change_with_both_texts(old: str, new: str) -> None:
    (change,) = compare_pages(PAGE, PAGE.replace(old, new)).changes
    assert change.kind == "edited" and old in change.old and new in change.new
    assert change.only_numbers == ("EUR" in old)


def test_blocks_that_come_go_and_move() -> None:
    item = "- Dogs need a muzzle and a ticket of their own.\n"
    assert kinds(PAGE, PAGE.replace(item, "")) == [("removed", item.strip())]
    assert kinds(PAGE.replace(item, ""), PAGE) == [("added", item.strip())]
    moved = PAGE.replace(item, "").replace("- Bicycles", f"{item}- Bicycles")
    assert [kind for kind, _ in kinds(PAGE, moved)] == ["moved"]
    assert not compare_pages(PAGE, moved).is_changed


def test_an_item_at_the_top_of_a_list_is_one_change() -> None:
    news = "- A second ferry sails from May on.\n"
    assert kinds(PAGE, PAGE.replace("- Bicycles", f"{news}- Bicycles")) == [("added", news.strip())]


def test_the_numbers_of_list_items_are_no_text() -> None:
    old = "1. Open the valve.\n2. Fill the tank.\n3. Close the valve."
    new = "1. Check the seal.\n2. Open the valve.\n3. Fill the tank.\n4. Close the valve."
    assert [(one.kind, one.new) for one in compare_pages(old, new).changes] == [("added", "1. Check the seal.")]


def test_a_leading_year_is_text() -> None:
    (change,) = compare_pages("2024. Annual report published", "2025. Annual report published").changes
    assert change.kind == "edited" and change.only_numbers


def test_a_page_that_was_empty_gains_blocks() -> None:
    assert {change.kind for change in compare_pages("", PAGE).changes} == {"added"}
    assert {change.kind for change in compare_pages(PAGE, "").changes} == {"removed"}


def test_a_page_that_was_replaced_has_no_edits() -> None:
    comparison = compare_pages(PAGE, "# Other\n\nNothing of the old text is left on this page, which is new.")
    assert {change.kind for change in comparison.changes} == {"added", "removed"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Last updated: 4 minutes ago", "Last updated: 2 hours ago"),
        ("1,204 views · 12 comments", "1,377 views · 15 comments"),
        ("14 people are viewing this page", "3 people are viewing this page"),
        ("Page generated in 0.123 seconds", "Page generated in 0.2 seconds"),
        ("Request id: 09af88c1", "Request id: 77be12d0"),
        ("© 2025 Harbour", "© 2026 Harbour"),
        ("Updated on 3 May 2026 at 10:15", "Updated on 4 May 2026 at 09:00"),
        ("Vor 3 Wochen bearbeitet", "Vor 4 Wochen bearbeitet"),
        ("Publicado hace 2 horas", "Publicado hace 5 horas"),
        ("il y a 3 jours", "il y a une semaine"),
        ("5 минут назад", "2 часа назад"),
        ("3分前", "2時間前"),
        ("Mis à jour le 3 mai 2026 à 10:15", "Mis à jour le 4 juin 2026 à 9:00"),
        ("Stand: 3. Mai 2026, 10:15 Uhr", "Stand: 4. Mai 2026, 9:00 Uhr"),
        ("1204 visitas", "1377 visitas"),
        ("Aggiornato il 3 maggio 2026", "Aggiornato il 4 giugno 2026"),
        ("更新日時：2026年5月3日", "更新日時：2026年6月12日"),
        ("12 commentaires · 311 vues", "15 commentaires · 402 vues"),
        ("1 234 vues", "1 377 vues"),
        ("12 people are viewing this now", "31 people are viewing this now"),
        ("Besucher: 1.204", "Besucher: 1.377"),
        ("閲覧数 1,203", "閲覧数 1,344"),
        ("Online users: 311", "Online users: 402"),
        ("Written yesterday at 10:15", "Written today at 10:15"),
    ],
)
def test_noise_is_no_change(old: str, new: str) -> None:
    comparison = compare_pages(f"{PAGE}\n{old}\n", f"{PAGE}\n{new}\n")
    assert not comparison.is_changed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The price was updated by the office", "The price was set by the office"),
        ("Build 18362 is required for this", "Build 19041 is required for this"),
        ("It needs version 3.11 of Python", "It needs version 3.12 of Python"),
        ("Applications close on 14 March 2027", "Applications close on 2 April 2027"),
        ("Commit 1a2b3c4 introduced the fault", "Commit 9d8e7f6 introduced the fault"),
        ("Login is not required for readers", "Login is required for readers"),
        ("Next to the station is a bakery with bread", "Next to the station is a bakery with cakes"),
        ("There are 5 rooms", "There are 6 rooms"),
        ("The free plan has up to 100 views per day", "The free plan has up to 50 views per day"),
        ("Bis zu 5 Kommentare sind frei", "Bis zu 7 Kommentare sind frei"),
        ("At least 5 comments are required", "At least 7 comments are required"),
        ("Stornieren Sie bis 3 Tage vor der Anreise", "Stornieren Sie bis 5 Tage vor der Anreise"),
        ("キャンセル は 出発 の 3日前まで 無料", "キャンセル は 出発 の 5日前まで 無料"),
        ("Le musée ouvre le 3 mai 2026 à dix heures", "Le musée ouvre le 4 juin 2026 à dix heures"),
        ("7", "9"),
        ("$49.00", "$45.00"),
        ("4 May 2026", "11 May 2026"),
        ("4. maj 2026", "11. maj 2026"),
        ("2. Platz", "3. Platz"),
        ("20 %", "30 %"),
        ("2026-05-04", "2026-06-01"),
        ("10:15", "11:40"),
        ("The bridge was built 120 years ago", "The bridge was built 90 years ago"),
        ("Das Kloster wurde vor 700 Jahren gebaut", "Das Kloster wurde vor 300 Jahren gebaut"),
        ("The ferry leaves today at 10:15", "The ferry leaves today at 11:30"),
        ("Checksum: 3f786850e387550fdab836ed7e6dc881", "Checksum: 89e6c98d92887913cadf06b2adb97f26"),
        ("Written in C", "Written in C#"),
        ("Send it to the office", "Send it to the Office"),
        ("Load <https://ferry.example/plan-1.zip>", "Load <https://ferry.example/plan-2.zip>"),
        ("The limit is 5 mg", "The limit is > 5 mg"),
        ("4 stars", "3 stars"),
        ("The Blue party got 12,004 votes", "The Blue party got 15,310 votes"),
        ("Free accounts see 5 comments a day", "Free accounts see 2 comments a day"),
        ("The offer is valid until 10:00 on Friday", "The offer is valid until 18:00 on Friday"),
        ("Opening hours updated: the office opens at 8:00", "Opening hours updated: the office opens at 9:30"),
    ],
)
def test_numbers_and_words_that_people_follow_are_changes(old: str, new: str) -> None:
    assert [kind for kind, _ in kinds(f"{PAGE}\n{old}\n", f"{PAGE}\n{new}\n")] == ["edited"]


@pytest.mark.parametrize(("old", "new"), [("✅", "❌"), ("★★★★☆", "★★★☆☆")])
def test_a_symbol_alone_is_content(old: str, new: str) -> None:
    assert kinds(f"{PAGE}\n{old}\n", f"{PAGE}\n{new}\n") == [("removed", old), ("added", new)]


def test_a_second_reading_shows_what_differs_on_each_visit() -> None:
    ads = [f"Buy {what} from our partner this week.\n\n" for what in ("shirts", "piano lessons", "web hosting")]
    old, new, again = (PAGE.replace("## Prices", f"{ad}## Prices") for ad in ads)
    assert compare_pages(old, new).is_changed
    assert not compare_pages(old, new, [again]).is_changed
    edited = new.replace("12 EUR", "15 EUR"), again.replace("12 EUR", "15 EUR")
    assert [kind for kind, _ in kinds(old, *edited)] == ["edited"]


def test_words_are_marked() -> None:
    assert mark_words("It costs 12 EUR now", "It costs 15 EUR today") == "It costs [-12-] {+15+} EUR [-now-] {+today+}"


def test_a_megabyte_of_text_takes_no_quadratic_time() -> None:
    chance = random.Random(1)
    words = [f"word{at}" for at in range(5_000)]
    rows = [" ".join(chance.choices(words, k=20)) for _ in range(6_000)]
    changed = [row + " more" if at % 7 == 0 else row for at, row in enumerate(rows)]
    chance.shuffle(same := ["the same line of a page"] * 500)

    def versions(count: int) -> tuple[str, str]:
        return "\n\n".join(rows[:count] + same), "\n\n".join(changed[:count] + same[:400])

    assert_linear(lambda pair: compare_pages(*pair), versions, 1_000)


TEASER = "### [{title}](/p/{at})\n\n{text} …\n\n"


def with_teasers(numbers: Sequence[int], *, form: str = TEASER, price: str = "12 EUR") -> str:
    """Return the page with a list of teasers between two parts of its text."""
    rows = []
    for at in numbers:
        prose = Prose(("teaser", at))
        text = " ".join(prose.paragraphs(1).removeprefix("<p>").split()[:20])
        rows.append(form.format(at=at, title=prose.title(), text=text, price=3 * at + 10))
    return PAGE.replace("12 EUR", price).replace("## Prices", f"## You might like\n\n{''.join(rows)}\n\n## Prices")


@pytest.mark.parametrize(
    "form", [TEASER, "- [{title}](/p/{at})\n", "From our shop: {title} now for only {price} EUR, free shipping\n\n"]
)
def test_rotating_teasers_are_no_change_if_some_stay_by_chance(form: str) -> None:
    old, new, *again = (
        with_teasers(numbers, form=form) for numbers in ((1, 2, 3, 4), (1, 5, 6, 7), (8, 5, 9, 2), (4, 7, 10, 3))
    )
    assert compare_pages(old, new).is_changed
    assert not compare_pages(old, new, again).is_changed
    edited = [
        with_teasers(numbers, form=form, price="15 EUR") for numbers in ((1, 5, 6, 7), (8, 5, 9, 2), (4, 7, 10, 3))
    ]
    assert [kind for kind, _ in kinds(old, *edited)] == ["edited"]


def test_a_long_text_that_is_removed_beside_an_advertisement_is_a_change() -> None:
    text = "Every passenger with a bicycle pays six crowns more, and has to come half an hour before the ferry leaves."

    def show(advertisement: str, paragraph: str = "") -> str:
        return f"{PAGE}\n{paragraph}\n\n{advertisement}\n\nThe office is closed on Sundays.\n"

    again = show("Buy two shirts today."), show("Learn piano in a month.")
    assert kinds(show("Travel by coach.", text), again[0], again[1]) == [("removed", text)]


def test_an_edit_beside_rotating_teasers_is_found() -> None:
    old, new, *again = (with_teasers(numbers) for numbers in ((1, 2, 3), (4, 5, 6), (7, 8, 9), (2, 10, 11)))
    edited = [text.replace("takes two hundred", "takes three hundred") for text in (new, *again)]
    assert [(kind, "three hundred" in text) for kind, text in kinds(old, *edited)] == [("edited", True)]


def test_a_list_that_becomes_numbered_is_no_change() -> None:
    old = "- Open the valve.\n- Fill the tank.\n* Close the valve."
    new = "1. Open the valve.\n2. Fill the tank.\n3) Close the valve."
    assert compare_pages(old, new).changes == ()
    assert [kind for kind, _ in kinds(old, new.replace("tank", "basin"))] == ["edited"]


def test_a_clock_goes_on_as_long_as_the_time_between_the_versions() -> None:
    def alarms(old: str, new: str, elapsed_s: float) -> bool:
        return compare_pages(f"{PAGE}\n{old}\n", f"{PAGE}\n{new}\n", elapsed_s=elapsed_s).is_changed

    assert not alarms("12:41", "13:02", 21 * 60)
    assert not alarms("23:50", "0:20", 86_400 + 30 * 60)
    assert alarms("12:41", "13:02", 60)
    assert not alarms("Answered 11 months ago by Ann", "Answered 1 year ago by Ann", 86_400)
    assert alarms("Answered 3 years ago by Ann", "Answered 1 year ago by Ann", 86_400)


def test_one_changed_line_of_code_is_one_change_and_the_order_of_keys_is_none() -> None:
    old = '```json\n{\n  "price": 49,\n  "name": "Cedar chair"\n}\n```'
    assert not compare_pages(old, '```json\n{\n  "name": "Cedar chair",\n  "price": 49\n}\n```').is_changed
    (change,) = compare_pages(old, old.replace("49", "45")).changes
    assert (change.kind, change.new.strip()) == ("edited", '"price": 45,')
