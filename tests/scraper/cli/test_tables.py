"""Rows of answers as CSV and JSON lines."""

from __future__ import annotations

from pathlib import Path

from scraper.cli.tool_output import as_table, is_table


def test_only_csv_and_json_lines_are_tables() -> None:
    assert is_table(Path("a.csv")) and is_table(Path("a.JSONL"))
    assert not is_table(Path("a.md")) and not is_table(None)


def test_records_are_rows_with_all_columns() -> None:
    answer = {"url": "http://a.example/", "records": [{"title": 'A "b", c'}, {"title": "D", "price": "$1"}]}
    assert as_table(answer, Path("a.csv")) == 'title,price\n"A ""b"", c",\nD,$1\n'
    assert as_table(answer, Path("a.jsonl")) == '{"title": "A \\"b\\", c"}\n{"title": "D", "price": "$1"}\n'


def test_values_are_one_row_per_page() -> None:
    pages = [{"url": "u1", "values": {"a": "1", "b": None}}, {"url": "u2", "error": "gone"}]
    assert as_table({"url": "u1", "pages": pages}, Path("a.csv")) == "url,a,b\nu1,1,\nu2,,\n"
