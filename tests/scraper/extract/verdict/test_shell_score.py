"""Tests of the shell score of `scraper.extract.verdict.verdict`: content that exists only in scripts."""

from __future__ import annotations

import json
import math

from lxml import etree

from scraper.extract.verdict.verdict import FEATURES, measure
from scraper.html.page.page_tree import PageHead, ScriptElement
from tests.scraper.soon import soon

_PROSE = "The ferry left in the morning with all that the island needs for a week, and came back empty. " * 4


def letters_in_data(data: str) -> int:
    """Return the number of letters of long texts in a page's data that its body does not show."""
    head = PageHead(scripts=(ScriptElement("application/json", data, ""),))
    values = measure(head, etree.Element("body"), "")
    return round(math.expm1(values[FEATURES.index("texts only in data")]))


def test_long_texts_in_data_count_by_their_letters() -> None:
    assert letters_in_data(json.dumps({"text": _PROSE, "short": "a few words"})) == sum(map(str.isalpha, _PROSE))


def test_brackets_that_are_no_tags_are_gone_through_once() -> None:
    data = [_PROSE + "<" * 19_000 + str(number) for number in range(20)]
    with soon():
        assert letters_in_data(json.dumps(data)) > 0


def test_json_in_json_is_looked_through_once_and_its_last_part_counts() -> None:
    inner = json.dumps([{"name": f"part {number}"} for number in range(8_000)] + [{"text": _PROSE}])
    data = json.dumps({"state": inner})
    assert len(data) > 200_000
    assert 0 < letters_in_data(data) < 20_000
    assert letters_in_data(data[:-2]) == 0, "it is not closed"
