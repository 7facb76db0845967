"""Checks of the text of an answer, and failures that the answer does not announce."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.cases.model import Case
from benchmarks.cases.text_cases import judge
from benchmarks.cases.text_checks import Answer, ReadText, holds

_MARKDOWN = """# The *harbor*

Ferries leave at **9:30**, not at 8\\*. See [the plan](https://a.example/plan_(new).pdf) &amp; `go --now`.

| Ship | Length |
| --- | --- |
| Anna | 120 m |
| a\\|b | 88 m |

<table><tr><td>Berta</td><td>77 <b>m</b></td></tr></table>

- item

  ```python
  for ship in ships:
      print(ship)
  ```
"""


@pytest.mark.parametrize(
    "check",
    [
        {"has": "not at 8*. See the plan & go --now"},
        {"has": "[the plan](https://a.example/plan_(new).pdf)"},
        {"has": "item", "times": 1},
        {"hasnot": "Ferries leave at 8"},
        {"order": ["9:30", "the plan", "Anna"]},
        {"near": ["Ferries", "9:30"], "within": 12},
        {"line": r"^Ferries leave at 9:30"},
        {"noline": "^menu$"},
        {"match": r"Anna \| 120 m \|\n"},
        {"raw": r"\*\*9:30\*\*"},
        {"code": "for ship in ships:\n    print(ship)", "language": "python"},
        {"code": "print(ship)", "part": True},
        {"heading": "The harbor", "level": 1},
        {"heading": "Title of the page", "level": 1},
        {"row": ["Berta", "77 m"]},
        {"cells": ["a|b", "88 m"]},
        {"column": ["Length", "120 m", "Anna"]},
        {"warning": "one picture"},
        {"noerror": "damaged"},
        {"meta": {"author": "ada"}},
        {"any": [{"has": "absent"}, {"has": "item"}]},
    ],
)
def test_checks_hold(check: dict[str, Any]) -> None:
    facts = {"title": "Title of the page", "author": "Ada B."}
    assert holds(check, ReadText.of(Answer(_MARKDOWN, facts, ["One picture is not read."])))


@pytest.mark.parametrize(
    "check",
    [
        {"has": "absent"},
        {"has": "item", "max": 0},
        {"hasnot": "the plan & go"},
        {"order": ["the plan", "9:30"]},
        {"near": ["Ferries", "Anna"], "within": 12},
        {"noline": "^Ferries"},
        {"code": "for ship in ships:"},
        {"code": "print(ship)", "part": True, "language": "ruby"},
        {"heading": "The harbor", "level": 2},
        {"row": ["120 m", "Anna"]},
        {"cells": ["Anna", "88 m"]},
        {"column": ["Ship", "120 m", "Anna"]},
        {"error": "damaged"},
        {"all": [{"has": "absent"}, {"has": "item"}]},
    ],
)
def test_checks_fail(check: dict[str, Any]) -> None:
    assert holds(check, ReadText.of(Answer(_MARKDOWN))) is False


def test_an_unread_page_proves_nothing() -> None:
    assert holds({"hasnot": "anything"}, ReadText.of(Answer("  \n"))) is False


def test_a_fact_that_a_reader_does_not_report_is_not_counted() -> None:
    case = _case([{"meta": {"pages": 3}}, {"has": "words"}])
    assert len(judge(case, {"a.pdf": Answer("words")}).judgments) == 1


def test_an_unknown_check_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown check"):
        holds({"contains": "words"}, ReadText.of(Answer("words")))


@pytest.mark.parametrize(
    ("answer", "is_silent"),
    [
        (Answer("other words"), True),
        (Answer("other words", warnings=["Headings of this format appear as plain text."]), True),
        (Answer("other words", warnings=["Two parts of the mail are not read."]), False),
        (Answer(error="error_code: malformed. The file is damaged."), False),
    ],
)
def test_a_failure_is_silent_unless_a_refusal_or_a_warning_announces_it(answer: Answer, is_silent: bool) -> None:
    (judgment,) = judge(_case([{"has": "lost words"}]), {"a.pdf": answer}).judgments
    assert not judgment.holds
    assert judgment.is_silent == is_silent


def _case(expect: list[dict[str, Any]]) -> Case:
    return Case("documents", "one", Path(), {"file": "a.pdf", "expect": expect}, {"a.pdf": ""})
