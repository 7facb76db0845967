"""Each output format: written in parts, interrupted, and read with an independent library."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import resource
from pathlib import Path

import pytest

from scraper.bulk.model import Format, OutputPosition, OutputRow
from scraper.bulk.outputs.files import RowOutput
from tests.scraper.bulk.jobs import AT, numbers_in, outcome_of, rows_in

FORMATS = tuple(form for form in Format if form is not Format.MARKDOWN)
CLASSES = {
    Format.JSONL: ("files", "JsonlOutput"),
    Format.PARQUET: ("parquet", "ParquetOutput"),
    Format.WARC: ("warc", "WarcOutput"),
    Format.CSV: ("files", "CsvOutput"),
    Format.MARKDOWN: ("files", "MarkdownOutput"),
}


def opened(form: Format, folder: Path, place: OutputPosition, file_bytes: int = 0) -> RowOutput:
    pytest.importorskip({Format.WARC: "warcio", Format.PARQUET: "pyarrow"}.get(form, "json"))
    module, name = CLASSES[form]
    output_class = getattr(importlib.import_module(f"scraper.bulk.outputs.{module}"), name)
    output: RowOutput = output_class(folder, place, ("price", "url") if form is Format.CSV else ())
    output.file_bytes = file_bytes or output.file_bytes
    return output


@pytest.mark.parametrize("form", [form for form in FORMATS if form is not Format.CSV])
def test_rows_are_read_back_unchanged(tmp_path: Path, form: Format) -> None:
    output = opened(form, tmp_path, OutputPosition())
    output.append([outcome_of(1), outcome_of(2, failed=True)])
    output.append([outcome_of(3, rendered=True)])
    output.finish()
    output.close()
    first, second, third = rows_in(tmp_path, form)
    assert (first["url"], first["status"], first["title"]) == ("http://host1.example/1", 200, "Page 1")
    assert first["links"] == [{"url": "http://other.example/", "text": "Other"}]
    assert second["error"] == {"code": "timed_out", "message": "It took too long."}
    assert third["method"] == "browser"
    fields = dict(first["fields"])
    assert fields.pop("price") == "1 €" and list(fields.values()) == [None]
    assert dict(first["confidence"]) == {"price": 0.99} and second["fields"] is None
    if form is not Format.WARC:
        assert first["markdown"] == "# Page 1\n\nŻółw ? 1"
        assert second["markdown"] is None and second["json_ld"] is None


@pytest.mark.parametrize("form", [Format.JSONL, Format.PARQUET, Format.CSV])
def test_records_of_a_list_are_read_back_unchanged(tmp_path: Path, form: Format) -> None:
    records = ({"price": "1 €", "url": None}, {"price": "2 \ud83d", "url": "http://a.example/2"})
    row = dataclasses.replace(outcome_of(1).row, fields=None, records=records, next_page="http://a.example/3")
    output = opened(form, tmp_path, OutputPosition())
    output.append([dataclasses.replace(outcome_of(1), row=row), outcome_of(2)])
    output.finish()
    output.close()
    rows = rows_in(tmp_path, form)
    if form is Format.CSV:
        assert [(one["price"], one["url"]) for one in rows[:2]] == [("1 €", ""), ("2 ?", "http://a.example/2")]
        assert rows[0]["page_url"] == rows[1]["page_url"] and len(rows) == 3
    else:
        first, second = map(dict, rows[0]["records"])
        assert first == {"price": "1 €", "url": None} and second == {"price": "2 ?", "url": "http://a.example/2"}
        assert rows[0]["next_page"] == "http://a.example/3" and rows[1]["records"] is None


@pytest.mark.parametrize("form", FORMATS)
def test_the_name_of_a_file_is_synced_before_its_position_is_recorded(
    tmp_path: Path, form: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[set[str]] = []
    whole: set[int] = set()
    to_disk = os.fsync

    def fsync(file: int) -> None:
        whole.add(os.fstat(file).st_ino)
        if os.path.samestat(os.fstat(file), tmp_path.stat()):
            synced.append({path.name for path in tmp_path.iterdir()})
        to_disk(file)

    monkeypatch.setattr(os, "fsync", fsync)
    output = opened(form, tmp_path, OutputPosition())
    for number in range(1, 3):
        output.append([outcome_of(number)])
        assert {path.name for path in tmp_path.iterdir()} <= synced[-1]
    output.finish()
    output.close()
    written = list(tmp_path.glob("pages-*"))
    assert {path.name for path in written} <= synced[-1]
    if form is Format.PARQUET:  # the other formats append and sync each piece
        assert {path.stat().st_ino for path in written} <= whole


def test_markdown_is_a_file_for_each_page_with_its_facts_and_failures_are_listed(tmp_path: Path) -> None:
    output = opened(Format.MARKDOWN, tmp_path, OutputPosition())
    position = output.append([outcome_of(1), outcome_of(2, failed=True)])
    output.append([outcome_of(4, failed=True)])
    output.close()
    (page,) = (tmp_path / "host1.example").iterdir()
    text = page.read_text(encoding="utf-8")
    assert page.name == "1.md" and text.endswith("# Page 1\n\nŻółw ? 1\n")
    assert text.startswith('---\ntitle: "Page 1"\nurl: "http://host1.example/1?seen"\n')
    assert not (tmp_path / "host2.example").exists()
    # After a crash, the list of failures is cut, and pages are written again.
    output = opened(Format.MARKDOWN, tmp_path, position)
    odd = "http://host1.example/a/../b?x=1&" + "y" * 300
    output.append([outcome_of(4, failed=True), dataclasses.replace(outcome_of(1), row=OutputRow(odd, markdown="x"))])
    output.close()
    rows = [json.loads(line) for line in next(tmp_path.glob("pages-*.jsonl")).read_text().splitlines()]
    assert [row["url"] for row in rows] == [f"http://host{one % 3}.example/{one}" for one in (1, 2, 4)] + [odd]
    assert rows[0]["file"] == "host1.example/1.md" and rows[1]["error"]["code"] == "timed_out"
    (name,) = [path.name for path in (tmp_path / "host1.example").iterdir() if path.name != "1.md"]
    assert name.startswith("a-..-b-x-1-yyy") and len(name) < 140


def test_csv_has_a_column_for_each_field_and_one_row_for_each_page(tmp_path: Path) -> None:
    output = opened(Format.CSV, tmp_path, OutputPosition(), file_bytes=1)
    output.append([outcome_of(1), outcome_of(2, failed=True)])
    assert output.rotate() is not None
    output.append([outcome_of(3)])
    output.close()
    first, second = sorted(tmp_path.glob("pages-*.csv"))
    assert first.read_text("utf-8") == (
        "page_url,price,url,error\nhttp://host1.example/1,1 €,,\n"
        "http://host2.example/2,,,timed_out: It took too long.\n"
    )
    assert second.read_text("utf-8") == "page_url,price,url,error\nhttp://host0.example/3,3 €,,\n"


def test_a_formula_of_a_page_is_a_text_in_csv(tmp_path: Path) -> None:
    output = opened(Format.CSV, tmp_path, OutputPosition())
    outcome = outcome_of(1)
    output.append(
        [dataclasses.replace(outcome, row=dataclasses.replace(outcome.row, fields={"price": "=1+1", "url": "-5"}))]
    )
    output.close()
    (file,) = tmp_path.glob("pages-*.csv")
    assert file.read_text("utf-8").splitlines()[1] == "http://host1.example/1,'=1+1,-5,"


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    output = opened(Format.PARQUET, tmp_path, OutputPosition())
    output.append([outcome_of(1)])
    output.finish()
    output.close()
    (file,) = tmp_path.glob("pages-*.parquet")
    row = parquet.read_table(file).to_pylist()[0]
    assert row["fetched_at"] == AT
    assert row["json_ld"] == '[{"@type": "Article", "name": "Page 1"}]'
    assert row["timings"]["response_s"] == 0.1 and row["timings"]["judged_s"] is None
    assert parquet.ParquetFile(file).metadata.row_group(0).column(0).compression == "ZSTD"


def test_parquet_continues_with_the_columns_of_an_earlier_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    from scraper.bulk.outputs import parquet as ours

    new = ours.SCHEMA
    with monkeypatch.context() as earlier:
        earlier.setattr(ours, "SCHEMA", pa.schema([field for field in new if field.name not in {"images", "author"}]))
        output = opened(Format.PARQUET, tmp_path, OutputPosition())
        position = output.append([outcome_of(1)])
        output.close()
    output = opened(Format.PARQUET, tmp_path, position)
    output.append([outcome_of(2)])
    output.finish()
    output.append([outcome_of(3)])
    output.finish()
    output.close()
    first, second = (parquet.read_table(path) for path in sorted(tmp_path.glob("pages-*.parquet")))
    assert first["title"].to_pylist() == ["Page 1", "Page 2"] and "author" not in first.column_names
    assert second.schema.names == new.names and second.num_rows == 1


def test_parquet_has_row_groups_of_the_configured_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    from scraper.bulk.outputs import parquet as ours

    monkeypatch.setattr(ours, "GROUP_BYTES", 100_000)
    output = opened(Format.PARQUET, tmp_path, OutputPosition())
    for number in range(0, 40, 4):
        output.append([outcome_of(number + k, text=f"{number + k} " * 2_000) for k in range(4)])
    output.finish()
    output.close()
    (file,) = tmp_path.glob("pages-*.parquet")
    found = parquet.ParquetFile(file).metadata
    assert found.num_rows == 40
    assert found.num_row_groups >= 3
    sizes = [found.row_group(group).total_byte_size for group in range(found.num_row_groups)]
    assert max(sizes) < 200_000


def test_warc_has_the_response_and_its_conversions(tmp_path: Path) -> None:
    pytest.importorskip("warcio")
    from warcio.archiveiterator import ArchiveIterator

    output = opened(Format.WARC, tmp_path, OutputPosition())
    output.append([outcome_of(1, rendered=True), outcome_of(2, failed=True)])
    output.close()
    with next(tmp_path.glob("pages-*.warc.gz")).open("rb") as stream:
        found = [
            (record.rec_type, record.rec_headers, record.http_headers, record.content_stream().read())
            for record in ArchiveIterator(stream, check_digests="raise")
        ]
    kinds = [kind for kind, *_ in found]
    assert kinds == ["warcinfo", "response", "conversion", "conversion", "metadata", "metadata"]
    response = found[1]
    assert response[3] == b"<p>1</p>"
    assert response[2].statusline == "200 OK"
    assert response[2].get_header("content-encoding") is None
    assert response[2].get_header("content-length") == "8"
    assert response[2].get_header("x-note") == "two lines"
    assert response[1].get_header("WARC-Target-URI") == "http://host1.example/1?seen"
    assert response[1].get_header("WARC-Date") == "2026-05-01T12:30:15Z"
    rendered, text = found[2][1], found[3][1]
    assert rendered.get_header("Content-Type") == "text/html; charset=utf-8"
    assert text.get_header("Content-Type") == "text/markdown; charset=utf-8"
    assert rendered.get_header("WARC-Refers-To") == response[1].get_header("WARC-Record-ID")


def test_warc_encodes_headers_that_are_not_ascii(tmp_path: Path) -> None:
    pytest.importorskip("warcio")
    from warcio.archiveiterator import ArchiveIterator

    outcome = outcome_of(1)
    assert outcome.snapshot is not None
    headers = {
        "link": "<https://example.org/żółw>; rel=canonical",
        "content-disposition": 'inline; filename="żółw.html"',
        "x-broken": "a\udcff; b=\ud800",
    }
    output = opened(Format.WARC, tmp_path, OutputPosition())
    snapshot = dataclasses.replace(outcome.snapshot, headers=headers)
    output.append([dataclasses.replace(outcome, snapshot=snapshot)])
    output.close()
    with next(tmp_path.glob("pages-*.warc.gz")).open("rb") as stream:
        (found,) = (record.http_headers for record in ArchiveIterator(stream) if record.http_headers)
    assert found.get_header("link") == "<https://example.org/%C5%BC%C3%B3%C5%82w>; rel=canonical"
    assert found.get_header("content-disposition") == 'inline; filename="%C5%BC%C3%B3%C5%82w.html"'
    assert found.get_header("x-broken") == "a%3F; b=%3F"


def test_warc_marks_a_truncated_response(tmp_path: Path) -> None:
    pytest.importorskip("warcio")
    from warcio.archiveiterator import ArchiveIterator

    whole = outcome_of(1)
    assert whole.snapshot is not None
    cut = dataclasses.replace(whole, snapshot=dataclasses.replace(whole.snapshot, truncated=True))
    output = opened(Format.WARC, tmp_path, OutputPosition())
    output.append([whole, cut])
    output.close()
    with next(tmp_path.glob("pages-*.warc.gz")).open("rb") as stream:
        found = [
            record.rec_headers.get_header("WARC-Truncated")
            for record in ArchiveIterator(stream)
            if record.rec_type == "response"
        ]
    assert found == [None, "length"]


@pytest.mark.parametrize("form", FORMATS)
def test_rows_after_the_recorded_position_are_truncated(tmp_path: Path, form: Format) -> None:
    output = opened(form, tmp_path, OutputPosition())
    noted = output.append([outcome_of(1)])
    output.append([outcome_of(2)])
    output.close()
    output = opened(form, tmp_path, noted)
    output.append([outcome_of(3)])
    output.finish()
    output.close()
    assert numbers_in(tmp_path, form) == {"http://host1.example/1": 1, "http://host0.example/3": 1}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("noted_turn", [True, False])
def test_a_kill_during_file_rotation_neither_loses_nor_duplicates_rows(
    tmp_path: Path, form: Format, noted_turn: bool
) -> None:
    output = opened(form, tmp_path, OutputPosition(), file_bytes=1)
    before = output.append([outcome_of(1), outcome_of(2)])
    after = output.rotate()
    assert after is not None and after.file == before.file + 1
    output.close()  # killed here: the files of the rotation were not cleaned up
    output = opened(form, tmp_path, after if noted_turn else before, file_bytes=1)
    place = output.append([outcome_of(3)])
    assert place.file == (2 if noted_turn else 1)
    output.finish()
    output.close()
    assert sorted(numbers_in(tmp_path, form).values()) == [1, 1, 1]


@pytest.mark.parametrize("form", FORMATS)
def test_a_full_disk_loses_only_the_rows_that_did_not_fit(tmp_path: Path, form: Format) -> None:
    output = opened(form, tmp_path, OutputPosition())
    place = output.append([outcome_of(1)])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (place.offset + 200, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            output.append([outcome_of(number, text=str(number) * 40_000) for number in range(2, 20)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    output.append([outcome_of(30)])
    output.finish()
    output.close()
    assert len(rows_in(tmp_path, form)) == 2
