"""Lists of URLs in every format; unusable lines are reported."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from scraper.bulk import url_lists
from scraper.bulk.model import UrlListError
from scraper.bulk.url_lists import ListLine


def test_text_has_one_url_per_line_and_comments(tmp_path: Path) -> None:
    source = tmp_path / "urls.txt"
    source.write_bytes(b"\xef\xbb\xbfhttp://a.example/\r\n\r\n# not this\n  http://b.example/  \nno url\n")
    assert list(url_lists.read_lines(str(source))) == [
        ListLine("http://a.example/"),
        ListLine("http://b.example/"),
        ListLine("no url"),
    ]


def test_an_invalid_json_line_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    source = tmp_path / "urls.jsonl"
    source.write_text('{"url": "http://a.example/", "x": 1}\n{"url": \n{"link": 1}\n{"url": "http://b.example/"}\n')
    found = list(url_lists.read_lines(str(source)))
    assert [line.text for line in found if not line.problem] == ["http://a.example/", "http://b.example/"]
    assert [line.problem for line in found if line.problem] == ["The line is not JSON.", "The line has no `url`."]


@pytest.mark.parametrize(
    ("name", "separator"), [("urls.csv", ","), ("urls.csv", ";"), ("urls.csv", "\t"), ("urls.tsv", "\t")]
)
def test_csv_is_read_by_its_column(tmp_path: Path, name: str, separator: str) -> None:
    source = tmp_path / name
    rows = [["id", "URL"], ["1", "http://a.example/"], ["2", ""], ["3"], ["4", "http://b.example/"]]
    source.write_text("\n".join(separator.join(row) for row in rows))
    found = list(url_lists.read_lines(str(source)))
    assert [line.text for line in found if not line.problem] == ["http://a.example/", "http://b.example/"]
    assert len(found) == 4


def test_a_quoted_field_may_contain_separators_and_line_breaks(tmp_path: Path) -> None:
    source = tmp_path / "urls.csv"
    source.write_bytes(b'\xef\xbb\xbf"note, long","url"\r\n"two\r\nlines","http://a.example/?q=1,2"\r\n\r\n')
    assert list(url_lists.read_lines(str(source))) == [ListLine("http://a.example/?q=1,2")]


def test_an_invalid_csv_line_is_reported_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    # The limit belongs to the whole process; restored after the test.
    request.addfinalizer(functools.partial(csv.field_size_limit, csv.field_size_limit()))
    monkeypatch.setattr(url_lists, "_MAX_FIELD", 30)
    source = tmp_path / "urls.csv"
    source.write_text(f"url\nhttp://a.example/\nhttp://b.example/{'x' * 40}\nhttp://c.example/\n")
    found = list(url_lists.read_lines(str(source)))
    assert [line.text for line in found] == ["http://a.example/", "line 3", "http://c.example/"]
    assert found[1].problem.startswith("The line is not CSV: field larger than field limit")


def test_a_list_is_streamed(tmp_path: Path) -> None:
    source = tmp_path / "urls.txt.gz"
    source.write_bytes(gzip.compress((b"http://a.example/" + b"x" * 500 + b"\n") * 30_000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in url_lists.read_lines(str(source))) == 30_000
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


def test_csv_without_the_column_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "urls.csv"
    source.write_text("id,address\n1,http://a.example/\n")
    with pytest.raises(UrlListError, match=r"has no column `url`; its first line is 'id, address'"):
        list(url_lists.read_lines(str(source)))


def test_a_compressed_text_is_read(tmp_path: Path) -> None:
    source = tmp_path / "urls.txt.gz"
    source.write_bytes(gzip.compress(b"http://a.example/\n"))
    assert list(url_lists.read_lines(str(source))) == [ListLine("http://a.example/")]


def test_invalid_utf_8_affects_only_its_line(tmp_path: Path) -> None:
    source = tmp_path / "urls.txt"
    source.write_bytes(b"http://a.example/\xe4\nhttp://b.example/\n")
    assert list(url_lists.read_lines(str(source)))[1] == ListLine("http://b.example/")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_read(tmp_path: Path, encoding: str) -> None:
    text = "http://a.example/\r\nhttp://b.example/ż\r\n"
    written = text.encode(encoding) if encoding == "utf-16" else b"\xfe\xff" + text.encode(encoding)
    expected = [ListLine("http://a.example/"), ListLine("http://b.example/ż")]
    for name, content in (("urls.txt", written), ("urls.txt.gz", gzip.compress(written))):
        (tmp_path / name).write_bytes(content)
        assert list(url_lists.read_lines(str(tmp_path / name))) == expected


def test_a_byte_order_mark_on_standard_input_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfhttp://a.example/\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    assert list(url_lists.read_lines("-")) == [ListLine("http://a.example/")]


@pytest.mark.parametrize(
    "content",
    [
        "http://a.example/\r\nhttp://b.example/\n".encode("utf-16"),
        gzip.compress(b'http://a.example/\n{"url": "http://b.example/"}\n', mtime=0),
        b"http://a.example/\rhttp://b.example/",
    ],
)
def test_standard_input_is_read_in_the_forms_of_files(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert list(url_lists.read_lines("-")) == [ListLine("http://a.example/"), ListLine("http://b.example/")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PAR1\0\0", "Standard input is not text"),
        (b'["http://a.example/"]', r"Standard input is one JSON array.*`jq -c '\.\[\]'` does"),
        (gzip.compress(b"http://a.example/\n" * 9_000, mtime=0)[:60], "Standard input cannot be read: Compressed file"),
    ],
)
def test_standard_input_without_lines_is_refused(monkeypatch: pytest.MonkeyPatch, content: bytes, said: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(UrlListError, match=said):
        list(url_lists.read_lines("-"))


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "urls.txt.gz"
    # A deflate block of an invalid type after a valid header.
    source.write_bytes(gzip.compress(b"http://a.example/\n")[:10] + b"\xff" * 40)
    with pytest.raises(UrlListError, match="cannot be read: Error -3 while decompressing"):
        list(url_lists.read_lines(str(source)))


@pytest.mark.parametrize("kind", ["binary", "large_binary", "large_string", "string_view", "dictionary"])
def test_parquet_with_any_text_type_is_read(tmp_path: Path, kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    text = pa.array(["http://a.example/"])
    column = text.dictionary_encode() if kind == "dictionary" else text.cast(getattr(pa, kind)())
    source = tmp_path / "urls.parquet"
    parquet.write_table(pa.table({"n": [1], "URL": column}), source)
    assert list(url_lists.read_lines(str(source))) == [ListLine("http://a.example/")]


def test_parquet_without_the_column_lists_its_columns(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    source = tmp_path / "urls.parquet"
    parquet.write_table(pa.table({"link": ["http://a.example/"], "n": [1]}), source)
    with pytest.raises(UrlListError, match="has no column `url`; its columns are 'link, n'"):
        list(url_lists.read_lines(str(source)))


def test_parquet_is_read_by_its_column(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    source = tmp_path / "urls.parquet"
    parquet.write_table(pa.table({"url": ["http://a.example/", None], "n": [1, 2]}), source)
    assert list(url_lists.read_lines(str(source))) == [
        ListLine("http://a.example/"),
        ListLine("row 2", "The line has no `url`."),
    ]


def test_a_parquet_file_of_another_format_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    source = tmp_path / "urls.parquet"
    source.write_text("http://a.example/\n")
    with pytest.raises(UrlListError, match="is not Parquet"):
        list(url_lists.read_lines(str(source)))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UrlListError, match=r"/nowhere/urls\.txt cannot be read: No such file"):
        list(url_lists.read_lines("/nowhere/urls.txt"))


def test_json_strings_are_urls(tmp_path: Path) -> None:
    source = tmp_path / "urls.jsonl"
    source.write_text('"http://a.example/\\u00e4"\n"http://b.example/\n')
    assert list(url_lists.read_lines(str(source))) == [
        ListLine("http://a.example/ä"),
        ListLine('"http://b.example/', "The line is not JSON."),
    ]


@pytest.mark.parametrize(
    "text", ['["http://a.example/",\n"http://b.example/"]', '\n[\n  {"url": "http://a.example/"}\n]', "[]"]
)
def test_a_json_array_is_refused_with_advice(tmp_path: Path, text: str) -> None:
    source = tmp_path / "urls.json"
    source.write_text(text)
    with pytest.raises(UrlListError, match=r"one JSON array: write one URL per line, as `jq -c '\.\[\]' /"):
        list(url_lists.read_lines(str(source)))


@pytest.mark.parametrize("name", ["urls.xlsx", "urls.csv", "urls.txt.gz"])
def test_a_binary_file_is_refused(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    content = b"PK\x03\x04\x14\x00\x06\x00\n\x00\xff\n"
    source.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(UrlListError, match="is not text: a list is text, CSV, JSON lines or Parquet"):
        list(url_lists.read_lines(str(source)))


def test_csv_without_column_names_is_refused_with_advice(tmp_path: Path) -> None:
    source = tmp_path / "urls.csv"
    source.write_text("http://a.example/\nhttp://b.example/\n")
    with pytest.raises(UrlListError, match=r"give the URLs alone, as lines of a \.txt file\."):
        list(url_lists.read_lines(str(source)))


def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "urls.txt")
    with pytest.raises(UrlListError, match="is not a file: pass the output of another program as standard input"):
        url_lists.compute_fingerprint(str(tmp_path / "urls.txt"))
