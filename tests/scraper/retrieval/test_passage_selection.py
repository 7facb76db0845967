"""Passages of a long page are relevant to the question, self-contained and within the budget."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.retrieval.model import Excerpt
from scraper.retrieval.passage_selection import LINK_TOKENS, QUOTE_TOKENS, select_passages
from scraper.text import token_estimate

FILLER = "The weather over the bay was calm and nobody had anything to report that day. "
FERRY = "The night ferry to Borkum carries bicycles free of charge between October and March."


def page(*parts: str, filler: int = 12) -> str:
    """Passages far apart in a long text."""
    between = "\n\n".join([FILLER * 5] * filler)
    return f"\n\n{between}\n\n".join(("# Harbour news", *parts, "The end."))


def shown(excerpts: list[Excerpt]) -> str:
    return "\n".join(excerpt.text for excerpt in excerpts)


def of(markdown: str, question: str, budget: int = 300) -> list[Excerpt]:
    return select_passages([markdown], question, budget)[0]


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


def test_a_code_block_that_is_too_long_is_cut_at_the_line_of_the_question() -> None:
    code = "\n".join(f"step{number} --quux {number}" for number in range(30))
    text = page("First.", f"## Install\n\n```bash\n{code}\n```", "Last.")
    for budget in (60, 100):
        (excerpt,) = select_passages([text], "quux step17", budget, link_tokens=QUOTE_TOKENS)[0]
        assert excerpt.text.startswith("```bash\nstep17 --quux 17\n") and excerpt.text.endswith("\n```")
        assert excerpt.score > 0 and token_estimate.estimate(excerpt.text) + QUOTE_TOKENS <= budget
        assert text[excerpt.start : excerpt.end] in excerpt.text


def test_heading_counts_for_the_chunks_below_it() -> None:
    text = page("First.", "## Opening hours on Sundays\n\nFrom nine to five, closed at noon.", "Last.")
    excerpts = of(text, "opening hours sunday")
    assert "From nine to five" in shown(excerpts)


def test_a_question_that_is_a_heading_finds_the_beginning_of_its_section() -> None:
    rows = "".join(f"- How to moor boat {n}: mooring a boat with rope {n}.\n" for n in range(60))
    page = (
        f"# Harbor\n\n{rows}\n## Mooring a boat\n\nFirst come the ropes. Then the knots.\n\n{rows}\n## Other\n\n{rows}"
    )
    (excerpts,) = select_passages([page], "mooring a boat?", 120)
    assert "First come the ropes. Then the knots." in "".join(excerpt.text for excerpt in excerpts)


def test_an_excerpt_tells_where_it_stands() -> None:
    text = page("First.", f"## Ferries\n\n{FILLER * 8}\n\n{FERRY}", "Last.")
    (excerpt,) = (one for one in of(text, "ferry Borkum bicycles") if FERRY in one.text)
    assert text[excerpt.start : excerpt.end].strip() == excerpt.text
    assert excerpt.heading == "Harbour news > Ferries" and "## Ferries" not in excerpt.text


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
    assert any(one.fragment == "text=The%20night%20ferry" for one in excerpts)


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


def test_wordings_are_scored_separately_and_added() -> None:
    text = page("Cancel by post.", FERRY, "Terminate the contract by letter or by mail.", "Last.")
    excerpts = of(text, "How do I cancel? | terminate contract", 400)
    assert "Terminate the contract" in shown(excerpts) and "Cancel by post." in shown(excerpts)
    best = max(excerpts, key=lambda one: one.score)
    assert "Terminate the contract" in best.text or "Cancel by post." in best.text


@pytest.mark.parametrize("question", ["what is it about", "и что это", "", "?", "|", "zygote 42 квант", "質問"])
def test_a_question_without_a_word_of_the_page_scores_nothing(question: str) -> None:
    excerpts = of(page("First."), question)
    assert excerpts and excerpts[0].start == 0 and not any(one.score for one in excerpts)


@pytest.mark.parametrize(
    "question",
    [
        "night ferry Borkum bicycles " + "harbour office counts island " * 80,
        '"night ferry" Borkum (bicycles)',
        "Night ferries to Borkum",
    ],
    ids=["2,000 characters", "quotes", "a heading"],
)
def test_unusual_questions_find_their_passage(question: str) -> None:
    text = page("First.", f"## Night ferries to Borkum\n\n{FERRY}", "Last.")
    assert FERRY in shown(of(text, question))


@pytest.mark.parametrize(
    ("markdown", "question", "part"),
    [
        (FERRY, "ferry bicycles", FERRY),
        ("calm weather over the bay " * 8_000 + FERRY + " more weather" * 15_000, "Borkum bicycles", "Borkum"),
        (
            "| Port | Fare |\n| --- | --- |\n" + "| Emden | 12 |\n" * 300 + "| Borkum | 9 |",
            "fare Borkum",
            "| Borkum | 9 |",
        ),
        ("```\n" + "wait()\n" * 300 + "ferry.load(bicycles)\n```", "ferry bicycles", "ferry.load(bicycles)"),
        ("1234567890 " * 60 + "ferry" + " 1234567890" * 60, "ferry", "1234567890"),
    ],
    ids=["one sentence", "one line of 400,000 characters", "table only", "code only", "digits only"],
)
def test_unusual_pages_keep_the_budget(markdown: str, question: str, part: str) -> None:
    (excerpts,) = select_passages([markdown], question, 120, link_tokens=QUOTE_TOKENS)
    assert part in shown(excerpts)
    assert sum(token_estimate.estimate(one.text) + QUOTE_TOKENS for one in excerpts) <= 120


def test_two_sentences_of_context_are_shown_if_the_budget_allows() -> None:
    about = f"{FERRY} It is painted white and blue. The fare for one is nine euros. Seals live on the sandbanks."
    excerpts = of(page("First.", about, "Last.", filler=40), "ferry Borkum bicycles", 300)
    assert "The fare for one is nine euros." in shown(excerpts)
    assert "Seals live" not in shown(excerpts)


def test_a_long_sentence_is_cut_at_a_pause() -> None:
    sentence = "The ferry " + "carries bicycles and dogs and cars and people " * 12 + "free of charge."
    (excerpt,) = of(sentence + f"\n\n{FILLER * 9}", "ferry bicycles", LINK_TOKENS + 30)
    assert sentence.startswith(excerpt.text) and sentence[len(excerpt.text)] == " "


@pytest.mark.parametrize(
    ("before", "after"), [("Bicycles are free on the ferry, and ", ""), ("", " and bicycles are free on the ferry.")]
)
@pytest.mark.parametrize("count", [1, 3])
def test_the_words_of_sentences_longer_than_their_share_are_shown(before: str, after: str, count: int) -> None:
    long = before + "of 74, 81/7 & (x/y) and " * 20 + after
    texts = [f"{FERRY} {FILLER * 30}"] + [f"# News {at}\n\n{long}\n\n{FILLER * 30}" for at in range(count)]
    budget = 70 * len(texts)
    assert token_estimate.estimate(long) > 2 * 70
    chosen = select_passages(texts, "bicycles ferry", budget, link_tokens=QUOTE_TOKENS)
    for text, excerpts in zip(texts[1:], chosen[1:], strict=True):
        (excerpt,) = excerpts
        assert excerpt.text == text[excerpt.start : excerpt.end] and excerpt.score > 0
        assert "ferry" in excerpt.text and "icycles" in excerpt.text
        # It begins and ends at words.
        assert not text[excerpt.start - 1].isalpha() and not text[excerpt.end].isalpha()
    cost = sum(token_estimate.estimate(one.text) + QUOTE_TOKENS for excerpts in chosen for one in excerpts)
    assert chosen[0] and cost <= budget


def test_words_in_the_middle_of_a_long_text_without_spaces_are_shown() -> None:
    text = (
        "港の天気は静かで報告することは何もなかったと言いながら" * 80
        + "自転車は無料で運ばれ"
        + "誰もが静かに待っていて" * 80
    )
    (excerpt,) = of(text, "自転車は無料ですか", LINK_TOKENS + 60)
    assert "自転車は無料" in excerpt.text
