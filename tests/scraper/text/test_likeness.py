"""Texts with the same content are near copies, whatever surrounds them."""

from __future__ import annotations

import random

from scraper.text.likeness import find_near_duplicates

WORDS = "harbour ferry bicycle winter office count island storm captain timetable coffee rope light".split()


def story(seed: int, length: int = 400) -> str:
    chosen = random.Random(seed)
    return " ".join(f"{chosen.choice(WORDS)}{chosen.randrange(40)}" for _ in range(length))


def test_a_copy_with_other_boxes_around_it_is_a_copy() -> None:
    agency = story(1)
    assert find_near_duplicates([agency, f"# The Paper\n\n{story(2, 60)}\n\n{agency}\n\n{story(3, 60)}"]) == [None, 0]


def test_a_shortened_copy_is_a_copy() -> None:
    agency = story(1)
    assert find_near_duplicates([agency, " ".join(agency.split()[:200])]) == [None, 0]


def test_links_of_another_site_do_not_hide_a_copy() -> None:
    words = story(1).split()
    one = " ".join(f"[{word}](https://one.example/{word})" for word in words)
    other = " ".join(f"[{word}](https://other.example/t/{word})" for word in words)
    assert find_near_duplicates([one, other]) == [None, 0]


def test_an_edited_copy_is_a_copy_and_a_rewritten_one_is_not() -> None:
    words = story(1).split()
    edited = [("replaced" if at % 60 == 0 else word) for at, word in enumerate(words)]
    rewritten = [("replaced" if at % 6 == 0 else word) for at, word in enumerate(words)]
    assert find_near_duplicates([" ".join(words), " ".join(edited), " ".join(rewritten)]) == [None, 0, None]


def test_different_texts_with_one_frame_are_different() -> None:
    frame = story(9, 120)
    assert find_near_duplicates([f"{frame}\n\n{story(1)}", f"{frame}\n\n{story(2)}"]) == [None, None]


def test_every_copy_names_the_first() -> None:
    assert find_near_duplicates([story(1), story(2), story(1), story(2), story(1)]) == [None, None, 0, 1, 0]


def test_short_texts_are_copies_only_when_they_are_equal() -> None:
    assert find_near_duplicates(["Access denied for this page today", "Access denied for this page today"]) == [None, 0]
    assert find_near_duplicates(["Access denied for this page", "Access denied for that page", "", ""]) == [None] * 4


def test_texts_without_spaces_compare_too() -> None:
    one = "".join(chr(0x4E00 + random.Random(1).randrange(3000)) for _ in range(1)) + "".join(
        chr(0x4E00 + (number * 7919) % 3000) for number in range(600)
    )
    other = "".join(chr(0x4E00 + (number * 6007) % 3000) for number in range(600))
    assert find_near_duplicates([one, one[:400], other]) == [None, 0, None]
