"""Rules of the PDF reader can be switched off one by one, and a set does not decide about its own rules."""

from __future__ import annotations

from unittest import mock

import pytest

from benchmarks.documents.left_out import RULES, Rule, _gain
from tests.scraper.documents.builders import drawn_pdf, line, parse, text_at

PAGE = [
    text_at(60, 60, "Towns", 18),
    *(text_at(x, 120 + 14 * y, f"{name}{y}") for y in range(4) for x, name in ((60, "Town"), (200, "1"))),
    *(line(50, 200 + 20 * y, 350, 200 + 20 * y) for y in range(3)),
    *(line(x, 200, x, 240) for x in (50, 200, 350)),
    *(text_at(x, 214 + 20 * y, f"Cell{y}") for y in range(2) for x in (60, 220)),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_reader_reads_without_a_rule(rule: Rule) -> None:
    with mock.patch.object(rule.module, rule.attribute, rule.off):
        text = parse(drawn_pdf(PAGE)).markdown
    assert "Town3" in text
    assert text.count("Cell1") == 2


def test_set_does_not_decide_about_its_own_rules() -> None:
    with_rule = {"docling_order": 0.9, "docling_tables": 0.9, "icdar": 0.8}
    without = {"docling_order": 0.5, "docling_tables": 0.3, "icdar": 0.8}
    assert _gain(with_rule, without, "docling") == 0
    assert _gain(with_rule, without, "icdar") == pytest.approx(0.5)
