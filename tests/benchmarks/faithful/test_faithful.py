"""The benchmark of single elements: scorer, annotations and made pages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.faithful.__main__ import means, own_answer
from benchmarks.faithful.content import Content
from benchmarks.faithful.gold import ENDS, FOLDER, KINDS, Gold, Post, ends_of, gold_from, read_gold
from benchmarks.faithful.made import LEAST_MADE, PER_KIND, made_pages, templates
from benchmarks.faithful.score import Answer, score
from benchmarks.faithful.words import has_date, words

FIRST = (
    "The kettle in the kitchen of my mother leaks, and the shop in the village repairs such old things no longer. "
    "Has anyone here opened one of this make, and which tools are needed for the screws below the base plate?"
)
SECOND = (
    "Replace the rubber ring below the lid, which costs about two euros, and clean the edge with vinegar before it."
)
GOLD_FILES = sorted(FOLDER.glob("*/*.json"))
KEYS = set("kind url headings optional_headings posts other_authors code tables lists price date author".split())


def thread() -> Gold:
    facts = {
        "kind": "phpbb",
        "url": "https://forum.example.org/1",
        "headings": ["My kettle"],
        "posts": [
            {"author": "mara_7", "dates": ["2024-03-05"], **ends_of(FIRST)},
            {"author": "Old Oskar", "dates": ["Mar 7"], **ends_of(SECOND)},
        ],
    }
    return gold_from("test/1", facts)


def page(**facts: object) -> Gold:
    return gold_from("test/1", {"kind": "docs", "url": "https://example.org/", **facts})


def test_posts_with_author_and_date_before_their_text_are_found() -> None:
    markdown = f"# My kettle\n\n## mara_7, 5 March 2024\n\n{FIRST}\n\n## Old Oskar on Mar 7th\n\n{SECOND}\n"
    found = score(thread(), Answer(markdown))
    assert set(found.values()) == {1.0}
    assert set(found) == {"headings", "headings.precision", "posts.author", "posts.date", "posts.text"}


def test_a_heading_may_name_the_author_of_a_post_that_is_not_annotated() -> None:
    markdown = "# My kettle\n\n### #1 · Mara Lee · May 1, 2024\n\nIt leaks.\n"
    assert score(page(headings=["My kettle"]), Answer(markdown))["headings.precision"] == 0.5
    found = score(page(headings=["My kettle"], other_authors=["Mara Lee"]), Answer(markdown))
    assert found["headings.precision"] == 1


def test_author_and_date_below_the_text_belong_to_no_post() -> None:
    markdown = f"# My kettle\n\n{FIRST}\n\nmara_7, 2024-03-05\n\n{SECOND}\n\nOld Oskar, Mar 7\n"
    found = score(thread(), Answer(markdown))
    assert (found["posts.author"], found["posts.date"], found["posts.text"]) == (0, 0, 1)


def test_a_quote_of_the_post_before_does_not_hide_an_author() -> None:
    markdown = f"mara_7 2024-03-05\n\n{FIRST}\n\nOld Oskar Mar 7\n\n> mara_7 wrote: {FIRST * 6}\n\n{SECOND}\n"
    assert score(thread(), Answer(markdown))["posts.author"] == 1


def test_a_post_with_missing_words_is_incomplete() -> None:
    hole = " ".join([*FIRST.split()[:8], *FIRST.split()[-8:]])
    assert score(thread(), Answer(f"{hole}\n\n{SECOND}"))["posts.text"] == 0.5
    assert score(thread(), Answer(f"{FIRST[:60]}\n\n{SECOND}"))["posts.text"] == 0.5


def test_the_discussion_of_an_answer_counts() -> None:
    discussion = [
        {"author": "mara_7", "date": "2024-03-05T10:00:00Z", "text": FIRST},
        {"author": "somebody", "date": "", "text": SECOND[:70]},
    ]
    found = score(thread(), Answer("", discussion=discussion))
    assert (found["posts.author"], found["posts.date"], found["posts.text"]) == (0.5, 0.5, 0.5)


def test_headings_count_missing_and_superfluous_ones() -> None:
    gold = page(headings=["One", "Two", "Three"], optional_headings=["Contents"])
    found = score(gold, Answer("# One\n\n## Two [edit](#)\n\n## Contents\n\n## You may also like\n"))
    assert found == {"headings": pytest.approx(2 / 3), "headings.precision": 0.75}
    assert score(gold, Answer("One, Two and Three.", title="Three - Example")) == {"headings": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("fence", "share"),
    [
        ("```py\na = 1\n\nif a:\n    b()\n```", 1),
        ("```\na = 1\n\nif a:\n    b()\n```", 0),
        ("```py\na = 1\nif a:\nb()\n```", 0),
        ("```py\na = 1\n```\n\n```py\nif a:\n    b()\n```", 0),
    ],
)
def test_code_needs_every_line_and_the_language(fence: str, share: float) -> None:
    assert score(page(code=[["python", "a = 1\nif a:\n    b()"]]), Answer(fence)) == {"code": share}


def test_a_table_scores_its_rows_found_in_one_table() -> None:
    gold = page(tables=[[["Name", "Size"], ["a", "1"], ["b", ""], ["Group"]]])
    assert score(gold, Answer("| Name | Size |\n|-|-|\n| a | 1 |\n| b | |\n| Group | Group |\n")) == {"tables": 1}
    assert score(gold, Answer("| Name | Size |\n|-|-|\n| a | 2 |\n| b | |\n")) == {"tables": 0.5}
    assert score(gold, Answer("Name Size a 1 b")) == {"tables": 0}


@pytest.mark.parametrize(
    ("markdown", "share"),
    [
        ("- flour\n- two eggs\n- salt", 1),
        ("### flour\n\n$2\n\n### two eggs\n\n### salt", 1),
        ("| flour | 1 |\n|-|-|\n| two eggs | 2 |\n| salt | 3 |", 1),
        ("- flour\n- salt", 0),
        ("flour, two eggs, salt", 0),
    ],
)
def test_a_list_is_complete_or_missed(markdown: str, share: float) -> None:
    assert score(page(lists=[["flour", "two eggs", "1. salt"]]), Answer(markdown)) == {"lists": share}


@pytest.mark.parametrize(
    ("price", "markdown", "share"),
    [
        ("$1,299.00", "Now $1299", 1),
        ("8,71 \u20ac", "8.71 EUR", 1),
        ("1.299,00 \u20ac", "\u20ac 1,299.00", 1),
        ("$25.00", "25 people", 0),
        ("$25.00", "$25.50", 0),
    ],
)
def test_a_price_needs_its_amount_beside_a_currency(price: str, markdown: str, share: float) -> None:
    assert score(page(price=price), Answer(markdown)) == {"facts.price": share}


def test_facts_are_found_in_the_text_or_beside_it() -> None:
    gold = page(author="Ines Nov\u00e1k", date="2024-09-03")
    assert set(score(gold, Answer("By Ines Nov\u00e1k, Sept. 3rd, 2024")).values()) == {1}
    assert set(score(gold, Answer("", author="Ines Nov\u00e1k", date="2024-09-03")).values()) == {1}
    assert set(score(gold, Answer("By Ines, 4 September 2024")).values()) == {0}


@pytest.mark.parametrize("text", ["2024-09-03T10:00", "September 3, 2024", "3 Sep 2024", "03.09.2024", "9/3/24"])
def test_a_date_counts_in_any_usual_spelling(text: str) -> None:
    assert has_date(["2024-09-03"], words(text))
    assert not has_date(["2024-09-05"], words(text))


def test_annotations_exist() -> None:
    assert len(GOLD_FILES) >= 160


@pytest.mark.parametrize("path", GOLD_FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_annotation_is_well_formed(path: Path) -> None:
    facts = json.loads(path.read_text(encoding="utf-8"))
    gold = read_gold(path)
    assert set(facts) <= KEYS
    assert gold.kind in KINDS
    assert gold.url.startswith("http")
    assert any((gold.headings, gold.posts, gold.code, gold.tables, gold.lists, gold.price, gold.date, gold.author))
    assert all(text.strip() for text in (*(gold.headings or ()), *gold.optional_headings))
    for post in gold.posts:
        check_post(post)
    assert all(text.strip() for _, text in gold.code)
    assert all(rows and all(any(row) for row in rows) for rows in gold.tables)
    assert all(items and all(words(item) for item in items) for items in gold.lists)
    assert gold.date is None or has_date([gold.date], words(gold.date))


def check_post(post: Post) -> None:
    count = min(ENDS, post.words)
    assert post.words > 0
    assert post.first == " ".join(words(post.first))
    assert (len(post.first.split()), len(post.last.split())) == (count, count)
    assert post.author is None or words(post.author)
    assert all(words(date) for date in post.dates)


def test_made_pages_complete_the_real_ones() -> None:
    real = Counter({KINDS[0]: 9, KINDS[1]: 4})
    made = Counter(gold.kind for gold, _ in made_pages(real))
    assert made[KINDS[0]] == LEAST_MADE
    assert made[KINDS[1]] == PER_KIND - 4
    assert all(made[kind] == PER_KIND for kind in KINDS[2:])


def test_made_pages_hold_what_their_annotation_names() -> None:
    for gold, html in made_pages({}):
        text = words(html)
        joined = " ".join(text)
        assert all(" ".join(words(heading)) in joined for heading in gold.headings or ()), gold.id
        assert all(post.first in joined and post.last in joined for post in gold.posts), gold.id
        assert all(" ".join(words(item)) in joined for items in gold.lists for item in items), gold.id


def test_made_pages_are_the_same_each_time() -> None:
    assert list(made_pages({})) == list(made_pages({}))
    assert Content("a").title() != Content("b").title()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_templates(kind: str) -> None:
    assert all("frame" in template.parts for template in templates(kind))
    assert templates(kind)


def test_own_answer_is_what_fetch_returns() -> None:
    gold, html = next((gold, html) for gold, html in made_pages({}) if gold.kind == "encyclopedia")
    answer = own_answer((gold, html))
    assert gold.headings is not None
    assert answer.title == gold.headings[0]
    assert score(gold, answer)["lists"] == 1


def test_a_figure_is_the_mean_of_the_pages_that_have_it() -> None:
    assert means([{"code": 1.0, "lists": 0.5}, {"lists": 0.0}]) == {"code": 1.0, "lists": 0.25}
