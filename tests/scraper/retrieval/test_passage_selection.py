"""Passages of a long page are relevant to the question, self-contained and within the budget."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scraper.extract.text import token_estimate
from scraper.model import Document, Excerpt
from scraper.retrieval.passage_selection import LINK_TOKENS, find_near_copies, select_from_page, select_passages

FILLER = "The weather over the bay was calm and nobody had anything to report that day. "
FERRY = "The night ferry to Borkum carries bicycles free of charge between October and March."


def page(*parts: str, filler: int = 12) -> str:
    """Passages far apart in a long text."""
    between = "\n\n".join([FILLER * 5] * filler)
    return f"\n\n{between}\n\n".join(("# Harbour news", *parts, "The end."))


def shown(excerpts: list[Excerpt]) -> str:
    return "\n".join(excerpt.text for excerpt in excerpts)


def of(markdown: str, question: str, budget: int = 300) -> list[Excerpt]:
    return select_from_page(Document("https://example.org/", markdown=markdown), question, budget)


@pytest.mark.parametrize(
    ("passage", "question"),
    [
        (FERRY, "which ferry takes bicycles for free in winter?"),
        (FERRY, "ferries Borkum bicycle"),
        ("Die Fähre nach Borkum befördert Fahrräder im Winter kostenlos.", "Fahrrad kostenlos Fahre"),
        ("冬の間、ボルクム行きの夜行フェリーは自転車を無料で運びます。", "自転車は無料ですか"),
        ("冬季前往博尔库姆的夜间渡轮免费运送自行车。", "渡轮上自行车收费吗"),
        ("เรือข้ามฟากกลางคืนไปบอร์คุมขนส่งจักรยานฟรีในฤดูหนาว", "จักรยานฟรีไหม"),
        ("Ночной паром до Боркума зимой бесплатно перевозит велосипеды.", "бесплатный провоз велосипедов"),
        ("겨울에는 보르쿰행 야간 페리가 자전거를 무료로 운송합니다.", "자전거 무료"),
    ],
)
def test_the_passage_that_answers_is_found_wherever_it_stands(passage: str, question: str) -> None:
    excerpts = of(page("First.", passage, "Last."), question)
    assert passage in shown(excerpts)


def test_heading_counts_for_the_chunks_below_it() -> None:
    text = page("First.", "## Opening hours on Sundays\n\nFrom nine to five, closed at noon.", "Last.")
    excerpts = of(text, "opening hours sunday")
    assert "From nine to five" in shown(excerpts)


def test_an_excerpt_tells_where_it_stands() -> None:
    text = page("First.", f"## Ferries\n\n{FILLER * 8}\n\n{FERRY}", "Last.")
    (excerpt,) = (one for one in of(text, "ferry Borkum bicycles") if FERRY in one.text)
    assert text[excerpt.start : excerpt.end].strip() == excerpt.text
    assert "Ferries" in excerpt.heading or "## Ferries" in excerpt.text


def test_a_page_that_fits_is_shown_whole() -> None:
    (excerpt,) = of(f"# Title\n\n{FILLER}\n\n{FERRY}", "unrelated words", 500)
    assert excerpt.start == 0 and FILLER.strip() in excerpt.text and FERRY in excerpt.text


def test_a_page_without_a_word_of_the_question_shows_its_beginning() -> None:
    excerpts = of(page("First."), "zygote 42 квант")
    assert excerpts and excerpts[0].start == 0


def test_rows_of_a_table_come_with_its_head() -> None:
    rows = "\n".join(f"| item {number} | {FILLER} |" for number in range(60))
    text = f"| Name | Note |\n| --- | --- |\n{rows}\n| ferry Borkum | bicycles free |\n"
    excerpts = of(text, "Borkum bicycles", 200)
    assert "| ferry Borkum | bicycles free |" in shown(excerpts)
    assert excerpts[-1].text.startswith("| Name | Note |\n| --- | --- |\n")


def test_lines_of_code_stand_between_fences() -> None:
    code = "\n".join(f"print('line {number} of the weather report')" for number in range(200))
    excerpts = of(f"Intro.\n\n```python\n{code}\nferry.load(bicycles)\n{code}\n```\n\nEnd.", "ferry bicycles", 400)
    (found,) = (one for one in excerpts if "ferry.load(bicycles)" in one.text)
    assert found.text.startswith("```python\n") and found.text.endswith("\n```")


def test_share_of_a_page_depends_on_its_relevance() -> None:
    about = page(*(f"{FERRY} Point {number}." for number in range(8)), filler=4)
    other = page("Bicycles are sold here.", "Nothing more.", filler=20)
    first, second = select_passages([about, other], "night ferry Borkum bicycles October", 900)
    assert sum(map(cost, first)) > 2 * sum(map(cost, second)) > 0


def test_every_page_that_bears_on_the_question_has_its_say() -> None:
    loud = page(*(f"{FERRY} Point {number}." for number in range(30)), filler=2)
    quiet = page("First.", "Bicycles ride for free.", "Last.")
    chosen = select_passages([loud, quiet], "night ferry Borkum bicycles October free", 600)
    assert "Bicycles ride for free." in shown(chosen[1])


def test_a_link_leads_to_each_excerpt() -> None:
    excerpts = of(page("First.", FERRY, "Last."), "ferry Borkum bicycles")
    assert any(one.fragment == "text=The%20night%20ferry%20to%20Borkum,October%20and%20March" for one in excerpts)


def cost(excerpt: Excerpt) -> int:
    return token_estimate.estimate(excerpt.text) + LINK_TOKENS


BLOCKS = st.sampled_from(
    [
        "# Ferry",
        FERRY,
        FILLER * 9,
        "- ferry\n- bicycles",
        "```\nferry\n\ny\n```",
        "| a |\n| - |\n" + "| ferry |\n" * 90,
        "自転車" * 400,
        "w" * 5000,
    ]
)


@settings(deadline=None)
@given(
    st.lists(st.lists(BLOCKS, max_size=6).map("\n\n".join), min_size=1, max_size=3),
    st.sampled_from(["ferry bicycles", "自転車", "", "?", "zzz"]),
    st.integers(120, 2_000),
)
def test_the_budget_is_never_exceeded(texts: list[str], question: str, budget: int) -> None:
    chosen = select_passages(texts, question, budget)
    assert len(chosen) == len(texts)
    assert sum(cost(excerpt) for page in chosen for excerpt in page) <= budget
    for page_excerpts in chosen:
        assert all(one.end <= other.start for one, other in pairwise(page_excerpts))


def test_no_pages_are_no_excerpts() -> None:
    assert select_passages([], "anything", 500) == []
    assert of("", "anything") == []


WORDS = "harbour ferry bicycle winter office count island storm captain timetable coffee rope light".split()


def story(seed: int, length: int = 400) -> str:
    chosen = random.Random(seed)
    return " ".join(f"{chosen.choice(WORDS)}{chosen.randrange(40)}" for _ in range(length))


def test_a_copy_with_other_boxes_around_it_is_a_copy() -> None:
    agency = story(1)
    assert find_near_copies([agency, f"# The Paper\n\n{story(2, 60)}\n\n{agency}\n\n{story(3, 60)}"]) == [None, 0]


def test_a_shortened_copy_is_a_copy() -> None:
    agency = story(1)
    assert find_near_copies([agency, " ".join(agency.split()[:200])]) == [None, 0]


def test_links_of_another_site_do_not_hide_a_copy() -> None:
    words = story(1).split()
    one = " ".join(f"[{word}](https://one.example/{word})" for word in words)
    other = " ".join(f"[{word}](https://other.example/t/{word})" for word in words)
    assert find_near_copies([one, other]) == [None, 0]


def test_an_edited_copy_is_a_copy_and_a_rewritten_one_is_not() -> None:
    words = story(1).split()
    edited = [("replaced" if at % 60 == 0 else word) for at, word in enumerate(words)]
    rewritten = [("replaced" if at % 6 == 0 else word) for at, word in enumerate(words)]
    assert find_near_copies([" ".join(words), " ".join(edited), " ".join(rewritten)]) == [None, 0, None]


def test_different_texts_with_one_frame_are_different() -> None:
    frame = story(9, 120)
    assert find_near_copies([f"{frame}\n\n{story(1)}", f"{frame}\n\n{story(2)}"]) == [None, None]


def test_every_copy_names_the_first() -> None:
    assert find_near_copies([story(1), story(2), story(1), story(2), story(1)]) == [None, None, 0, 1, 0]


def test_short_texts_are_copies_only_when_they_are_equal() -> None:
    assert find_near_copies(["Access denied for this page today", "Access denied for this page today"]) == [None, 0]
    assert find_near_copies(["Access denied for this page", "Access denied for that page", "", ""]) == [None] * 4


def test_texts_without_spaces_compare_too() -> None:
    one = "".join(chr(0x4E00 + random.Random(1).randrange(3000)) for _ in range(1)) + "".join(
        chr(0x4E00 + (number * 7919) % 3000) for number in range(600)
    )
    other = "".join(chr(0x4E00 + (number * 6007) % 3000) for number in range(600))
    assert find_near_copies([one, one[:400], other]) == [None, 0, None]
