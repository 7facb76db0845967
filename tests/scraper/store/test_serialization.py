"""A reading is unchanged after it was written to disk and read again."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime

import pytest

from scraper.model import Document, Heading, Image, Link, Post, Reading, StructuredData, Verdict, VerdictKind, Wish
from scraper.store.serialization import load, serialize_result

FULL_DOCUMENT = Document(
    url="https://example.org/a",
    title="Title",
    author="Author",
    description="Description",
    published=datetime(2024, 2, 29, 12, tzinfo=UTC),
    published_source="meta",
    site_name="Site",
    language="de",
    page_type="article",
    text="Text — 漢字 😀",
    markdown="# Text",
    verdict=Verdict(VerdictKind.THIN, "javascript"),
    degraded=True,
    links=(Link("https://example.org/b", "b"),),
    images=(Image("https://example.org/c.png", "c"),),
    outline=(Heading(2, "Part", 17),),
    discussion=(Post(1, "Ann", "May 3", datetime(2024, 5, 3, tzinfo=UTC), "Text.", 4, True, "Quote.", 2),),
    hidden_removed=3,
    controls_removed=4,
    withheld_characters=5_263,
    torn_parts=2,
    format="pdf",
    page_count=9,
    is_part=True,
    ocr_pages=(2, 3),
    encrypted=True,
    facts=(("price", 12.5), ("currency", "EUR")),
    wishes=(Wish("train", "disallowed", "robots.txt Content-Signal"),),
    tools=("find_ferry",),
    site_markdown="https://example.org/a.md",
    is_site_markdown=True,
)
FULL_READING = Reading(
    document=FULL_DOCUMENT,
    url="https://example.org/a",
    requested_url="http://example.org/a",
    status=203,
    method="browser",
    cached=True,
    retrieved_at=datetime(2025, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    truncated=True,
    warnings=("one", "two"),
    etag='"v1"',
    last_modified="Mon, 06 May 2024 07:08:09 GMT",
)


@pytest.mark.parametrize("item", [FULL_DOCUMENT, FULL_READING], ids=["document", "reading"])
def test_the_example_sets_every_field_to_something_else_than_its_default(item: object) -> None:
    assert dataclasses.is_dataclass(item)
    for field in dataclasses.fields(item):
        assert getattr(item, field.name) != field.default, field.name


def test_every_field_comes_back() -> None:
    assert load(Reading, serialize_result(FULL_READING)) == FULL_READING


def test_an_empty_document_is_small_and_comes_back() -> None:
    bare = dataclasses.replace(FULL_READING, document=Document(url="https://example.org/"), warnings=())
    data = serialize_result(bare)
    assert json.loads(data)["document"] == {"url": "https://example.org/", "verdict": ["ok", ""]}
    assert load(Reading, data) == bare


def test_half_a_surrogate_pair_does_not_keep_a_page_from_being_kept() -> None:
    broken = dataclasses.replace(FULL_READING, document=Document(url="https://e.org/", text="a\ud83db"))
    assert load(Reading, serialize_result(broken)).document.text == "a?b"


def test_names_of_a_later_version_are_left_out() -> None:
    data = json.loads(serialize_result(FULL_READING))
    data["invented"] = 1
    data["document"]["invented"] = 2
    assert load(Reading, json.dumps(data).encode()) == FULL_READING


@pytest.mark.parametrize(
    "data",
    [b"", b"null", b"[]", b"{}", b'{"document":3}', b"\xff\xfe", b'{"document":{"url":"u","verdict":["no",""]}}'],
)
def test_loading_an_invalid_reading_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        load(Reading, data)


FULL_STRUCTURED = StructuredData(
    "https://example.org/a",
    json_ld=({"@type": "Product", "offers": [{"price": 2.5}], "none": None},),
    microdata=({"type": "https://schema.org/Recipe"},),
    opengraph=({"og:title": "漢字"},),
    rdfa=({"@id": "_:a"},),
    xhr=({"url": "https://example.org/api", "status": 200, "data": [1, {"a": True}]},),
    product={"name": {"value": "Kettle", "confidence": 0.9}},
    recipe={"steps": ["Boil."]},
    discussion=({"position": 1, "author": "Ann", "date": "2024-05-03", "text": "Text."},),
    warnings=("Cut.",),
)


@pytest.mark.parametrize("found", [FULL_STRUCTURED, StructuredData("https://example.org/b")])
def test_structured_data_come_back_whole(found: StructuredData) -> None:
    assert load(StructuredData, serialize_result(found)) == found
    assert all(getattr(FULL_STRUCTURED, field.name) for field in dataclasses.fields(StructuredData))


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"3", b'{"product": 1}'])
def test_loading_invalid_structured_data_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        load(StructuredData, data)
