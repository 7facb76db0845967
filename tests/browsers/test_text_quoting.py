"""Text of pages in outlines and messages contains nothing that people do not see."""

from __future__ import annotations

import unicodedata

import pytest

from browsers.text_quoting import clean_text


def test_no_invisible_character_leaves_a_trace() -> None:
    invisible = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in {"Cf", "Cn", "Cs"}]
    invisible += [*"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\uffa0\ufe00\ufe0f\U000e0100"]
    for start in range(0, len(invisible), 10_000):
        part = invisible[start : start + 10_000]
        assert set(clean_text("a" + "b".join(part) + " " + " ".join(part) + "c")) == set("abc ")
        assert clean_text("a" + "".join(part) + "b " + " ".join(part) + " c") == "ab c"


@pytest.mark.parametrize(
    ("text", "cleaned"), [("  Sign\n in\u00a0", "Sign in"), ("Grüße 東京 👍", "Grüße 東京 👍"), ("a\tb\x00", "a b")]
)
def test_visible_text_is_one_line(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned
