"""Tests for the inverted index in memory, without a service."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scraper.store import inverted_index
from scraper.store.index_model import Tokenizer, parse_query
from scraper.store.inverted_index import InvertedIndex, _WordSequence

WORDS = st.sampled_from("aa bb cc dd ee".split())


@pytest.mark.parametrize("buffer_words", [4, 65_536])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    added=st.lists(st.tuples(st.integers(0, 5), st.lists(WORDS, max_size=6)), max_size=30),
    asked=st.lists(st.tuples(st.sampled_from(["", "+", "-"]), st.lists(WORDS, min_size=1, max_size=2)), max_size=4),
)
def test_an_index_matches_a_linear_scan(
    buffer_words: int,
    monkeypatch: pytest.MonkeyPatch,
    added: list[tuple[int, list[str]]],
    asked: list[tuple[str, list[str]]],
) -> None:
    monkeypatch.setattr(inverted_index, "BUFFER_WORDS", buffer_words)
    monkeypatch.setattr(inverted_index, "COMPACT_AT", 3)
    index, texts = InvertedIndex(), {}
    for number, words in added:
        index.add(str(number), words)
        texts[str(number)] = words
    query = parse_query(" ".join(f'{sign}"{" ".join(words)}"' for sign, words in asked), Tokenizer())
    expected = {doc_id for doc_id, words in texts.items() if _matches(words, asked)}
    hits, total = index.search(query, 100)
    assert {doc_id for doc_id, _ in hits} == expected and total == len(expected)
    assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)


def _matches(text: list[str], asked: list[tuple[str, list[str]]]) -> bool:
    wanted = [words for sign, words in asked if sign != "-"]
    unwanted = [words for sign, words in asked if sign == "-"]
    return (
        bool(wanted) and all(_in(words, text) for words in wanted) and not any(_in(words, text) for words in unwanted)
    )


def _in(words: list[str], text: list[str]) -> bool:
    return any(text[at : at + len(words)] == words for at in range(len(text)))


def test_replaced_documents_are_removed_by_compaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverted_index, "COMPACT_AT", 10)
    index = InvertedIndex()
    for number in range(100):
        index.add("a", ["same", f"n{number}"])
        index.add("b", ["same", "other"])
        index.add("none", [])
    assert len(index._words) < 40 and len(index) == 3 and "none" in index
    assert index.search(parse_query("n99", Tokenizer()), 5)[0][0][0] == "a"
    assert index.search(parse_query("n50", Tokenizer()), 5) == ([], 0)
    assert [doc_id for doc_id, _ in index.search(parse_query('"same other"', Tokenizer()), 5)[0]] == ["b"]


@pytest.mark.parametrize("folder", ["", "none"])
def test_words_beyond_the_buffer_are_in_files_without_a_name_if_there_is_space(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str
) -> None:
    monkeypatch.setattr(inverted_index, "BUFFER_WORDS", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / folder))
    words = _WordSequence()
    stream = np.arange(1_000, dtype=np.uint64)
    stream[::10] = np.uint64(hash("mill") & 0xFFFFFFFFFFFFFFFF)
    for part in np.array_split(stream, 50):
        words.append(part.tobytes())
    assert list(words.find("mill")) == list(range(0, 1_000, 10))
    parts = list(words.iter_parts())
    assert len(parts) == 11 and list(np.concatenate(parts)) == list(stream)
    assert not list(tmp_path.iterdir())


def test_phrases_end_with_their_document() -> None:
    index = InvertedIndex()
    index.add("a", ["wind"])
    index.add("b", ["mill", "wind", "mill"])
    assert [doc_id for doc_id, _ in index.search(parse_query('"wind mill"', Tokenizer()), 5)[0]] == ["b"]
