"""Words of every script are indexed by SQLite, and queries find them."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.store.query import parse_query
from scraper.store.sqlite.page_queries import rank_pages, register_ranking_function
from scraper.store.tokenization import TOKENIZER, fold_aligned, to_index_text

TEXTS = {
    1: "C++ and node.js with asyncio.gather, it's fine",
    2: "機械学習は楽しい",
    3: "การเรียนรู้ของเครื่อง",
    4: "Café au lait",
    5: "C# versus C, on the #general channel",
    6: "학교에서 공부했다",
    7: "हिन्दी में लिखा",
    8: "学習Python入門",
    9: "ＦＵＬＬ width",
}


def index_of(texts: dict[int, str]) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    register_ranking_function(connection)
    connection.execute(
        "CREATE VIRTUAL TABLE words USING fts5(title, text, content = '', contentless_delete = 1, "
        f'tokenize = "{TOKENIZER}")'
    )
    for number, text in texts.items():
        connection.execute("INSERT INTO words (rowid, title, text) VALUES (?, '', ?)", (number, to_index_text(text)))
    return connection


@pytest.fixture(scope="module")
def index() -> Iterator[apsw.Connection]:
    connection = index_of(TEXTS)
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("C++", {1}),
        ("C#", {5}),
        ("C", {5}),
        ("node.js", {1}),
        ('"node js"', {1}),
        ("asyncio.gather", {1}),
        ("async*", {1}),
        ("it's", {1}),
        ("general", {5}),
        ("学習", {2, 8}),
        ("機械学習", {2, 8}),
        ('"機械学習"', {2}),
        ("機械学習とは何ですか", {2, 8}),
        ("学習Python", {8}),
        ("python NOT 機械学習", {8}),
        ("공부하는학교", {6}),
        ("習", {2, 8}),
        ("門", {8}),
        ("楽しい", {2}),
        ("学習python", {8}),
        ("การ", {3}),
        ("เรียน", {3}),
        ("학교", {6}),
        ("공부", {6}),
        ("cafe", {4}),
        ("CAFÉ", {4}),
        ("हिन्दी", {7}),
        ("full", {9}),
        ("node OR lait", {1, 4}),
        ("node NOT gather", set()),
        ("(node OR lait) NOT fine", {4}),
        ("NEAR(node gather, 5)", {1}),
        ("NEAR(node gather, 1)", set()),
        ("text:node", {1}),
        ("title:node", set()),
        ("node and", {1}),
        ("NOT", set()),
        ("a AND", set()),
        ('"unclosed', set()),
        ('"node', {1}),
        ("col:x", set()),
        ("*", set()),
        ("NEAR(", set()),
        ("😀", set()),
        ("", set()),
        ("\0", set()),
        ("((((", set()),
        ("x" * 10_000, set()),
        ("node " * 3_000, {1}),
        ("(" * 3_000 + "node", {1}),
    ],
)
def test_a_query_finds_the_expected_texts(index: apsw.Connection, query: str, found: set[int]) -> None:
    assert {number for _, number in rank_pages(index, "words", parse_query(query), 50)} == found


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from('a "b c* ( ) AND OR NOT NEAR( , 5 : ^ - + title: 学'.split())).map(" ".join)
)
def test_no_query_is_an_error(query: str) -> None:
    with index_of({1: "a b c 学習"}) as connection:
        rank_pages(connection, "words", parse_query(query), 5)


@given(st.text())
def test_fold_aligned_preserves_offsets(text: str) -> None:
    assert len(fold_aligned(text)) == len(text)


@pytest.mark.parametrize("query", ["a AND", '"open', "NEAR(", "(a", "NOT b", "node.js", "it's"])
def test_a_note_reports_invalid_fts5_syntax(query: str) -> None:
    assert parse_query(query).note


@pytest.mark.parametrize("query", ["a b", '"a b"', "a* OR b", "a NOT (b OR c)", "title:a", "NEAR(a b, 3)", "Größe"])
def test_valid_fts5_syntax_has_no_note(query: str) -> None:
    assert parse_query(query).note == ""


def test_a_word_of_the_title_counts_more_than_one_of_the_text() -> None:
    connection = index_of({})
    connection.execute("INSERT INTO words (rowid, title, text) VALUES (1, 'other', 'wind mill'), (2, 'wind', 'mill')")
    assert [number for _, number in rank_pages(connection, "words", parse_query("wind"), 5)] == [2, 1]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    texts = dict.fromkeys(range(1, 50), "common words again")
    connection = index_of(texts | {50: "common common common", 51: "rare filler filler"})
    assert rank_pages(connection, "words", parse_query("common OR rare"), 1)[0][1] == 51


def test_among_more_hits_than_are_weighed_the_newest_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from scraper.store.sqlite import page_queries

    monkeypatch.setattr(page_queries, "RANKED_LIMIT", 10)
    connection = index_of(dict.fromkeys(range(1, 101), "same"))
    assert [number for _, number in rank_pages(connection, "words", parse_query("same"), 3)] == [100, 99, 98]
