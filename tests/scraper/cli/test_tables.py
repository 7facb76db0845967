"""Rows of answers as CSV and JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from scraper.cli.tool_output import as_table, is_table
from scraper.facts.fields.model import PageFields


def test_only_csv_and_json_lines_are_tables() -> None:
    assert is_table(Path("a.csv")) and is_table(Path("a.JSONL"))
    assert not is_table(Path("a.md")) and not is_table(None)


def test_records_are_rows_with_all_columns() -> None:
    page = PageFields("http://a.example/", records=({"title": 'A "b", c'}, {"title": "D\nE", "price": "$1"}))
    assert as_table([page], Path("a.csv")) == 'title,price\n"A ""b"", c",\n"D\nE",$1\n'
    assert as_table([page], Path("a.jsonl")) == '{"title": "A \\"b\\", c"}\n{"title": "D\\nE", "price": "$1"}\n'


def test_values_are_one_row_per_page() -> None:
    pages = [PageFields("u1", {"a": "1", "b": None}), PageFields("u2", {"a": "half \ud83d"})]
    assert as_table(pages, Path("a.csv")) == "url,a,b\nu1,1,\nu2,half ?,\n"


@pytest.mark.parametrize("text", ["=1+1", '=HYPERLINK("http://a.example")', "@SUM(A1)", "+1+cmd|' /C calc'!A0", "-2+3"])
def test_a_formula_is_a_text_in_csv(text: str) -> None:
    page = PageFields("u", {"a": text})
    assert as_table([page], Path("a.csv")).splitlines()[1].partition(",")[2].strip('"').startswith("'")
    assert f'"a": "{text[:4]}' in as_table([page], Path("a.jsonl"))


@pytest.mark.parametrize("text", ["-5", "+49 (30) 123 45-6", "-12.50 €", "- 3 %", "a=b", "x@a.example"])
def test_amounts_and_numbers_with_a_sign_are_unchanged(text: str) -> None:
    assert as_table([PageFields("u", {"a": text})], Path("a.csv")) == f"url,a\nu,{text}\n"
