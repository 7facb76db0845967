# ruff: noqa: E501  (texts stand as they were counted)
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scraper.text.token_estimate import estimate, fit_prefix

# Each text is repeated ten times; its tokens in cl100k and o200k were counted with these encodings themselves.
# The prose is article 1 of the Universal Declaration of Human Rights.
COUNTED = [
    (
        "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience "
        "and should act towards one another in a spirit of brotherhood.",
        321,
        321,
    ),
    (
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt "
        "und sollen einander im Geiste der Brüderlichkeit begegnen.",
        440,
        390,
    ),
    (
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и "
        "должны поступать в отношении друг друга в духе братства.",
        740,
        410,
    ),
    (
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με "
        "λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
        1720,
        710,
    ),
    (
        "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميراً وعليهم أن يعامل بعضهم بعضاً بروح "
        "الإخاء.",
        880,
        430,
    ),
    ("人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。", 500, 350),
    (
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを"
        "授けられており、互いに同胞の精神をもって行動しなければならない。",
        930,
        720,
    ),
    (
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 "
        "서로 형제애의 정신으로 행동하여야 한다.",
        850,
        510,
    ),
    (
        "| Name | Price | In stock |\n| --- | --- | --- |\n| Blue widget | 12.50 | yes |\n| Red widget | 8.99 | no |\n"
        "| Green widget | 103.00 | yes |\n",
        480,
        480,
    ),
]


@pytest.mark.parametrize(("text", "cl100k", "o200k"), COUNTED)
def test_the_estimate_is_near_the_counts_of_two_encodings(text: str, cl100k: int, o200k: int) -> None:
    assert estimate(text * 10) == pytest.approx((cl100k + o200k) / 2, rel=0.2)


def test_empty_text_has_no_tokens() -> None:
    assert estimate("") == 0
    assert fit_prefix("", 0, 100) == 0
    assert fit_prefix("text", 4, 100) == 0
    assert fit_prefix("text", 0, 0) == 0


@given(st.text(alphabet="ab 1,\nяこ字😀é", max_size=400), st.integers(0, 50), st.integers(0, 120))
def test_a_prefix_uses_its_whole_budget(text: str, start: int, budget: int) -> None:
    start = min(start, len(text))
    count = fit_prefix(text, start, budget)
    assert estimate(text[start : start + count]) <= budget
    if start + count < len(text):
        assert estimate(text[start : start + count + 1]) >= budget or count == 6 * budget
