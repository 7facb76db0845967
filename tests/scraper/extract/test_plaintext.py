from __future__ import annotations

import pytest

from browsers.model import Snapshot
from scraper.errors import UnsupportedTypeError
from scraper.extract import reader
from scraper.model import VerdictKind
from tests.scraper.extract.snapshots import URL, WORDS, served


@pytest.mark.parametrize(
    ("media_type", "text", "markdown"),
    [
        ("text/plain", "Some prose.\n\nMore prose.", "Some prose.\n\nMore prose."),
        ("text/plain", "a:\n    b = 1\n", "```text\na:\n    b = 1\n```"),
        ("application/json", '{"b":[1,2],"ä":null}', '```json\n{\n  "b": [\n    1,\n    2\n  ],\n  "ä": null\n}\n```'),
        ("application/vnd.api+json", "{broken", "```json\n{broken\n```"),
        ("text/csv", "a,b\n1,2\n", "```csv\na,b\n1,2\n```"),
        ("application/xml", "<a><b>1</b></a>", "```xml\n<a><b>1</b></a>\n```"),
        ("text/css", "a{}", "```css\na{}\n```"),
        ("application/javascript", "let a = `x```y`", "````javascript\nlet a = `x```y`\n````"),
        ("text/x-unheard-of", "x: y", "```text\nx: y\n```"),
    ],
)
def test_text_that_is_no_page_is_shown_as_it_is(media_type: str, text: str, markdown: str) -> None:
    document = reader.read(served(media_type, text))
    assert document.markdown == markdown
    assert document.text == text.strip()
    assert document.verdict.ok


def test_markdown_brings_its_title_and_outline() -> None:
    document = reader.read(served("text/markdown", "Intro\n\n# Title\n\n## Part\n"))
    assert document.title == "Title"
    assert [heading.level for heading in document.outline] == [1, 2]


def test_the_body_is_decoded_where_the_snapshot_has_no_text() -> None:
    snapshot = Snapshot(URL, URL, 200, media_type="application/json", body='{"ä": 1}'.encode())
    assert '"ä": 1' in reader.read(snapshot).markdown


def test_an_empty_answer_is_empty() -> None:
    verdict = reader.read(served("text/plain", " \n")).verdict
    assert (verdict.kind, verdict.reason) == (VerdictKind.THIN, "empty")


@pytest.mark.parametrize(
    ("media_type", "message"),
    [
        (
            "application/pdf",
            "The URL leads to a document (PDF, application/pdf), not to a page. Use `read_doc` for it.",
        ),
        (
            "application/epub+zip",
            "The URL leads to a document (EPUB, application/epub+zip), not to a page. Use `read_doc` for it.",
        ),
        (
            "image/png",
            "The URL leads to image/png, which has no text to read. Fetch the page that links to it, or another URL.",
        ),
    ],
)
def test_other_media_types_raise_an_error_with_the_next_step(media_type: str, message: str) -> None:
    with pytest.raises(UnsupportedTypeError) as caught:
        reader.read(Snapshot(URL, URL, 200, media_type=media_type, body=b"\x00\x01"))
    assert caught.value.sentence() == message
    assert caught.value.target == URL


def test_binary_data_that_calls_itself_text_is_refused() -> None:
    with pytest.raises(UnsupportedTypeError):
        reader.read(Snapshot(URL, URL, 200, media_type="text/plain", body=bytes(range(256)) * 40))


def test_a_page_without_a_type_is_known_by_its_beginning() -> None:
    html = f"<!-- a --> <!-- b --><!DOCTYPE html><title>T</title><main><p>{WORDS}</p></main>"
    assert reader.read(served("", html)).title == "T"
    assert reader.read(served("", "no page")).markdown == "no page"


def test_many_comments_before_no_page_do_not_hang() -> None:
    assert reader.read(served("", "<!-- a -->" * 5_000)).verdict.ok


RSS = """<?xml version="1.0"?>
<rss version="2.0"><channel><title>News &amp; more</title><link>https://example.com/</link>
<item><title>First [1]</title><link>/first</link><pubDate>Fri, 17 May 2024 10:00:00 GMT</pubDate>
<description>&lt;p&gt;A &lt;b&gt;summary&lt;/b&gt;&lt;/p&gt;</description></item>
<item><title>Second</title><link>https://example.org/second</link></item></channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom</title>
<entry><title>One</title><link rel="alternate" href="/one"/><updated>2024-05-17T10:00:00Z</updated>
<summary>Text</summary></entry></feed>"""


def test_rss_is_a_list_of_entries() -> None:
    document = reader.read(served("application/rss+xml", RSS))
    assert document.markdown == (
        "# News & more\n\n## [First \\[1\\]](https://example.com/first)\n\n2024-05-17\n\nA **summary**\n\n"
        "## [Second](https://example.org/second)"
    )
    assert document.title == "News & more"
    assert document.page_type == "feed"
    assert [link.url for link in document.links] == ["https://example.com/first", "https://example.org/second"]


def test_atom_is_a_list_of_entries() -> None:
    document = reader.read(served("text/xml", ATOM))
    assert document.markdown == "# Atom\n\n## [One](https://example.com/one)\n\n2024-05-17\n\nText"


def test_xml_entities_are_not_expanded() -> None:
    entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f"<?xml version='1.0'?><!DOCTYPE rss [{entities}]><rss><channel><title>T &a9;</title></channel></rss>"
    assert len(reader.read(served("application/rss+xml", bomb)).markdown) < 1_000


def test_external_entities_are_not_loaded() -> None:
    feed = '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><title>T&x;</title></channel></rss>'
    assert "root:" not in reader.read(served("application/rss+xml", feed)).markdown


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, "9" * 100_000, '"\\ud800"'])
def test_hostile_json_is_shown_as_text(text: str) -> None:
    assert reader.read(served("application/json", text)).markdown.startswith("```json\n")


def test_escapes_in_json_become_no_invisible_characters() -> None:
    text = '{"a\\u2060b": "c\\udb40\\udc41\\u180bd", "e": "\\ud800"}'
    assert '"ab": "cd"' in reader.read(served("application/json", text)).markdown
