"""A query means what FTS5 understands if FTS5 accepts it; no query fails or takes long."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scraper.store.query import parse_query, tokenize
from scraper.store.tokenization import TOKENIZER

WORDS = ("a", "b", "c")
PIECES = st.sampled_from(
    [
        *WORDS,
        *("AND", "OR", "NOT", "AND", "OR", "NOT"),
        *("(", ")", "(", ")"),
        *('"a b"', '"b"', '"c a"*', '"a ""b"" c"', "ab*", "a*", "^a", "^ b", "+", "*", "abc"),
        *("title:", "text :", "- title :", "{title text}:", "title:b", "-text:c", "Text:a"),
        *("NEAR(a b)", "NEAR(a c, 0)", 'NEAR("a b" c,1)', "NEAR(a* b , 2)"),
    ]
)


def longer(text: str) -> str:
    """Lengthen all words to three letters or more, because shorter prefixes are limited."""
    return re.sub(r"\b(?=[abcx]+\b)", "kk", text)


QUERIES = st.lists(PIECES, min_size=1, max_size=8).map(" ".join).map(longer)


def texts() -> Iterator[str]:
    """Yield every row of up to three words, and a few with words inside others or far apart."""
    for count in range(4):
        for row in itertools.product(WORDS, repeat=count):
            yield " ".join(row)
    yield from ("abc", "abc a", "ab c b", "a x x b", "b x x x a x c")


@pytest.fixture(scope="module")
def pages() -> apsw.Connection:
    """Create an FTS5 table of all pairs of a text with a short text as title."""
    connection = apsw.Connection(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE words USING fts5 (title, text, tokenize = "{TOKENIZER}")')
    with connection:
        for title, text in itertools.product(("", "a", "b", "c a", "b c"), texts()):
            connection.execute("INSERT INTO words VALUES (?, ?)", (longer(title), longer(text)))
    return connection


def matching(connection: apsw.Connection, expression: str) -> set[int] | None:
    """Return the rows that FTS5 finds, or None if it rejects the expression."""
    if not expression:
        return set()
    try:
        return {
            int(str(row[0])) for row in connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,))
        }
    except apsw.SQLError:
        return None


@given(QUERIES)
@example("kka NOT kkb kkc")
@example("kka OR kkb kkc NOT kka AND kkb")
@example("title: kka + kkb")
@example("- title : (kka OR kkb) AND ^kkc")
@example("- {title text} : kka")
@example("title: (text: kka OR kkb)")
def test_valid_fts5_syntax_matches_as_in_fts5(pages: apsw.Connection, query: str) -> None:
    expected = matching(pages, query)
    wanted = parse_query(query)
    found = matching(pages, wanted.expression)
    assert found is not None
    if expected is not None:
        assert found == expected
        assert not wanted.note
    else:
        assert wanted.note


@pytest.mark.parametrize("piece", [" ", "title ", "title: ", "{title ", "- ", '"', '"a', "(", "NEAR(a ", "a + "])
def test_no_query_is_gone_through_again_from_each_of_its_signs(piece: str) -> None:
    """Check that the time is linear: quadratic, the blanks alone would take minutes."""
    assert len(tokenize(piece * (100_000 // len(piece)))) <= 100_000


@given(st.text(st.sampled_from("ab\"()*+^:-{},. \0'🙂éNEARTOD中文字_"), max_size=40) | st.text(max_size=80))
def test_whatever_is_written_is_an_expression_that_fts5_takes(pages: apsw.Connection, query: str) -> None:
    wanted = parse_query(query)
    assert matching(pages, wanted.expression) is not None
    for phrase in wanted.phrases:
        assert matching(pages, phrase) is not None


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("(kka OR kkb) kkc", "(kka OR kkb) AND kkc"),
        ("kkc (kka OR kkb)", "kkc AND (kka OR kkb)"),
        ("(kka) (kkb) NOT kkc", "(kka AND kkb) NOT kkc"),
    ],
)
def test_words_beside_brackets_are_required_with_a_note(pages: apsw.Connection, query: str, same: str) -> None:
    wanted = parse_query(query)
    assert matching(pages, wanted.expression) == matching(pages, same)
    assert "read as AND" in wanted.note


@pytest.mark.parametrize("query", ["NOT a", "a AND", "a OR OR b", "(a", 'a "b', "foo(a", "title:"])
def test_invalid_syntax_is_searched_as_words_with_a_note(query: str) -> None:
    wanted = parse_query(query)
    assert "NOT" not in wanted.expression.replace('"NOT"', "")
    assert "not valid" in wanted.note


@pytest.mark.parametrize("query", ["*", '""', "+ * +", "🙂", "***", "()", ",;"])
def test_a_query_without_words_finds_nothing_and_the_answer_says_so(query: str) -> None:
    wanted = parse_query(query)
    assert wanted.expression == "" and wanted.note


def test_a_blank_query_needs_no_comment() -> None:
    assert parse_query("  \n").note == "" and parse_query("  \n").expression == ""


def test_prefixes_that_would_gather_half_the_index_are_looked_for_as_words() -> None:
    few, many = parse_query("a* OR b*"), parse_query(" OR ".join(f"{letter}*" for letter in "abcdefgh"))
    assert few.expression.count("*") == 2 and not few.note
    assert many.expression.count("*") == 2 and "Too short" in many.note and "c*" in many.note
    assert parse_query(" OR ".join(f"{letter}*" for letter in "中文字日本語")).expression.count("*") == 6


def test_of_a_pasted_page_as_one_phrase_the_beginning_is_looked_for() -> None:
    wanted = parse_query('"' + "again " * 2_000 + '"')
    assert len(wanted.expression) < 600 and "Only 500 characters" in wanted.note
