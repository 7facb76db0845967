"""Tests of `scraper.extract.content.context_features`."""

from __future__ import annotations

from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from scraper.extract.content.context_features import FIRST_WORDS, TOPICS
from scraper.text.terms import split_words


def expand_pattern(parsed: Any) -> list[str]:
    """Return all texts that a parsed expression matches; `x` for any letter."""
    texts = [""]
    for kind, value in parsed:
        if kind is _constants.LITERAL:
            parts = [chr(value)]
        elif kind is _constants.BRANCH:
            parts = [text for branch in value[1] for text in expand_pattern(branch)]
        elif kind is _constants.SUBPATTERN:
            parts = expand_pattern(value[3])
        elif kind is _constants.IN:
            parts = [chr(code) for what, code in value if what is _constants.LITERAL] or ["x"]
        elif kind is _constants.MAX_REPEAT:
            parts = [*([""] if value[0] == 0 else []), *expand_pattern(value[2])]
        else:
            assert kind is _constants.AT
            parts = [""]
        texts = [text + part for text in texts for part in parts]
    return texts


@pytest.mark.parametrize("topic", TOPICS)
def test_every_ascii_line_that_matches_a_topic_has_a_first_word(topic: str) -> None:
    lines = [text for text in expand_pattern(_parser.parse(TOPICS[topic].pattern)) if text.isascii()]
    assert len(lines) > 5
    for text in lines:
        assert TOPICS[topic].search(text)
        assert split_words(text, by_character=True)[0] in FIRST_WORDS, text
