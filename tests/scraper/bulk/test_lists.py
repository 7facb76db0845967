"""Lists of URLs in every form; what cannot be used is told."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from scraper.bulk import lists
from scraper.bulk.errors import UnusableList
from scraper.bulk.lists import Line


def test_a_text_has_a_url_a_line_and_comments(tmp_path: Path) -> None:
    source = tmp_path / "urls.txt"
    source.write_bytes(b"\xef\xbb\xbfhttp://a.example/\r\n\r\n# not this\n  http://b.example/  \nno url\n")
    assert list(lists.read(str(source))) == [
        Line("http://a.example/"),
        Line("http://b.example/"),
        Line("no url"),
    ]


def test_a_line_that_is_no_json_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    source = tmp_path / "urls.jsonl"
    source.write_text(
        '{"url": "http://a.example/", "x": 1}\n{"url": \n{"link": 1}\n{"url": "http://b.example/"}\n'
    )
    found = list(lists.read(str(source)))
    assert [line.text for line in found if not line.problem] == ["http://a.example/", "http://b.example/"]
    assert [line.problem for line in found if line.problem] == [
        "The line is not JSON.",
        "The line has no `url`.",
    ]


@pytest.mark.parametrize(("name", "separator"), [("urls.csv", ","), ("urls.tsv", "\t")])
def test_a_table_is_read_by_its_column(tmp_path: Path, name: str, separator: str) -> None:
    source = tmp_path / name
    rows = [["id", "URL"], ["1", "http://a.example/"], ["2", ""], ["3"], ["4", "http://b.example/"]]
    source.write_text("\n".join(separator.join(row) for row in rows))
    found = list(lists.read(str(source)))
    assert [line.text for line in found if not line.problem] == ["http://a.example/", "http://b.example/"]
    assert len(found) == 4


def test_a_table_without_the_column_cannot_be_used(tmp_path: Path) -> None:
    source = tmp_path / "urls.csv"
    source.write_text("id,address\n1,http://a.example/\n")
    with pytest.raises(UnusableList, match=r"has no column `url`; its first line is 'id, address'"):
        list(lists.read(str(source)))


def test_a_compressed_text_is_read(tmp_path: Path) -> None:
    source = tmp_path / "urls.txt.gz"
    source.write_bytes(gzip.compress(b"http://a.example/\n"))
    assert list(lists.read(str(source))) == [Line("http://a.example/")]


def test_bytes_of_another_encoding_cost_their_own_line_alone(tmp_path: Path) -> None:
    source = tmp_path / "urls.txt"
    source.write_bytes(b"http://a.example/\xe4\nhttp://b.example/\n")
    assert list(lists.read(str(source)))[1] == Line("http://b.example/")


def test_parquet_is_read_by_its_column(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    source = tmp_path / "urls.parquet"
    parquet.write_table(pa.table({"url": ["http://a.example/", None], "n": [1, 2]}), source)
    assert list(lists.read(str(source))) == [
        Line("http://a.example/"),
        Line("row 2", "The line has no `url`."),
    ]


def test_what_is_called_parquet_and_is_none_cannot_be_used(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    source = tmp_path / "urls.parquet"
    source.write_text("http://a.example/\n")
    with pytest.raises(UnusableList, match="is no Parquet"):
        list(lists.read(str(source)))


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(UnusableList, match=r"/nowhere/urls\.txt cannot be read: No such file"):
        list(lists.read("/nowhere/urls.txt"))
