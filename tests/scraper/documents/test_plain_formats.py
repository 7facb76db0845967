"""CSV, JSON, feeds, e-mails, images, archives, and unsupported formats."""

from __future__ import annotations

import base64
import gzip
import lzma
import tarfile
from email.message import EmailMessage
from io import BytesIO
from zipfile import ZipFile

import pytest

from scraper import errors
from scraper.documents import text_formats
from tests.growth import full_size
from tests.scraper.documents import builders
from tests.scraper.documents.builders import parse
from tests.scraper.documents.ole.compound_builder import compound_file


def test_csv_becomes_a_table_with_any_delimiter() -> None:
    table = "| town | people |\n| --- | --- |\n| Bergen | 290 |\n| Porto | 230 |"
    for text in (
        "town,people\nBergen,290\nPorto,230",
        "town;people\nBergen;290\nPorto;230",
        "town\tpeople\nBergen\t290\nPorto\t230",
    ):
        assert parse(text.encode(), name="a.csv").markdown == table


def test_csv_preserves_quoted_commas_and_line_breaks_and_pads_short_rows() -> None:
    parsed = parse(b'a,b,c\n"x, y","1\n2"\n', name="a.csv")
    assert parsed.markdown.splitlines()[-1] == "| x, y | 1<br>2 |  |"


def test_latex_is_shown_as_its_source() -> None:
    source = "\\documentclass{article}\n\\begin{document}\n\\section{Rain}\nIt rains $x^2$ times.\n\\end{document}"
    parsed = parse(source.encode(), name="a.tex", media_type="application/x-tex")
    assert (parsed.format, parsed.markdown) == ("text", f"```\n{source}\n```")


def test_rare_delimiters_are_detected_and_letters_are_none() -> None:
    assert parse(b"a^b\n1^2\n3^4\n", name="a.csv").markdown == "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"
    assert parse(b"a b\n1 2\n", name="a.csv").markdown == "| a b |\n| --- |\n| 1 2 |"


def test_unclosed_quote_does_not_join_the_rows() -> None:
    parsed = parse(b'a,b\n"open quote ' + b"x,1\n" * 60_000, name="a.csv")
    assert parsed.markdown.count("\n") > 10_000
    assert "first 20,000 rows" in parsed.warnings[0]


def test_line_of_a_million_commas_is_limited() -> None:
    parsed = parse(b"a," * 1_000_000, name="a.csv")
    assert "2,000 of" in parsed.warnings[-1]
    assert len(parsed.markdown) < 100_000


@pytest.mark.parametrize("part", [10, full_size(1, id="full size")])
def test_csv_warns_with_the_number_of_rows_that_are_shown(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(text_formats, "MAX_CELLS", text_formats.MAX_CELLS // part)
    monkeypatch.setattr(text_formats, "MAX_ROWS", text_formats.MAX_ROWS // part)
    wide = parse(f"{'a,' * 1_999}a\n".encode() * (600 // part), name="a.csv")
    assert wide.warnings == (f"Only the first {250 // part} of {600 // part} rows are shown.",)
    assert wide.markdown.count("\n") == 250 // part
    both = parse(f"{'a,' * 59}a\n".encode() * (21_000 // part), name="a.csv")
    assert both.warnings == (f"Only the first {8_333 // part:,} rows are shown.",)
    assert both.markdown.count("\n") == 8_333 // part
    assert not parse(f"{'a,' * 1_999}a\n".encode() * (250 // part), name="a.csv").warnings


def test_text_beyond_the_limit_has_one_warning() -> None:
    parsed = parse(b'["' + b"a" * 17_000_000 + b'"]', name="a.json")
    assert parsed.warnings == ("Only the first 4,000,000 characters are shown.",)


def test_search_text_is_derived_from_the_truncated_markdown() -> None:
    parsed = parse(b"# A *title*\n\n**Bold** words in [a link](http://site.example/)\n", name="a.md")
    assert parsed.text == "A *title*\n\nBold words in a link"
    assert len(parse(b"words and more " * 300_000, name="a.txt").text) <= 4_000_000


def test_json_is_indented_unless_it_nests_too_deep() -> None:
    assert parse(b'{"a":[1]}').markdown == '```json\n{\n  "a": [\n    1\n  ]\n}\n```'
    assert parse(b"[" * 100_000 + b"]", name="a.json").markdown.startswith("```json\n[[[[")
    assert parse(b"1" * 20_000, name="a.json").format == "text"


def test_feed_contains_entries_and_unresolved_entities() -> None:
    rss = b'<?xml version="1.0"?><rss><channel><title>News</title>'
    rss += b"<item><title>One</title></item></channel></rss>"
    assert parse(rss).markdown == "# News\n\n## One"
    attack = (
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
        b"<rss><channel><title>&e;</title><item><title>Fine</title></item></channel></rss>"
    )
    assert "root:" not in parse(attack).markdown


def test_feed_of_many_vocabularies_shows_all_fields_of_its_entries() -> None:
    names = "xmlns:content='http://purl.org/rss/1.0/modules/content/' xmlns:dc='http://purl.org/dc/elements/1.1/'"
    feed = (
        f"<rss version='2.0' {names} xmlns:media='http://search.yahoo.com/mrss/'><channel><title>News</title><item>"
        "<media:title>Picture</media:title><media:content url='https://a.example/p.jpg'/><title>One</title>"
        "<link>https://a.example/1</link><description>Short.</description><dc:creator>Ann</dc:creator>"
        "<content:encoded><![CDATA[<p>Long <b>text</b> of it.</p>]]></content:encoded>"
        "<pubDate>Mon, 01 Jan 2024 08:00:00 GMT</pubDate>"
        "<enclosure url='https://a.example/1.mp3' type='audio/mpeg'/></item></channel></rss>"
    )
    assert parse(feed.encode()).markdown == (
        "# News\n\n## [One](https://a.example/1)\n\n2024-01-01, Ann\n\nLong **text** of it.\n\n"
        "Attached: https://a.example/1.mp3"
    )


def test_feed_is_detected_by_its_root_with_any_prefix() -> None:
    feed = (
        b"<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:title>Log</a:title><a:entry><a:title>One</a:title>"
        b"<a:content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>Words</p></div></a:content>"
        b"</a:entry></a:feed>"
    )
    parsed = parse(feed)
    assert (parsed.format, parsed.markdown) == ("feed", "# Log\n\n## One\n\nWords")


def test_links_of_a_feed_are_resolved_against_its_base() -> None:
    feed = (
        b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a.example/blog/'><entry><title>One</title>"
        b"<link href='2026/one.html'/><content type='html'>&lt;ul&gt;&lt;li&gt;a&lt;/li&gt;&lt;li&gt;"
        b"&lt;a href='b.html'&gt;b&lt;/a&gt;&lt;/li&gt;&lt;/ul&gt;</content></entry></feed>"
    )
    expected = "## [One](http://a.example/blog/2026/one.html)\n\n- a\n- [b](http://a.example/blog/b.html)"
    assert parse(feed).markdown == expected


def test_links_of_an_entry_are_resolved_against_the_nearest_base() -> None:
    feed = (
        b"<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://a.example/blog/'>"
        b"<title>Sund &amp;amp; Lind</title><entry xml:base='2026/'><title>One</title>"
        b"<link href='one.html'/><content type='xhtml' xml:base='one/'>"
        b"<div xmlns='http://www.w3.org/1999/xhtml'><a href='b.html'>b</a></div></content></entry>"
        b"<entry><title>&amp;lt;em&amp;gt;Two&amp;lt;/em&amp;gt;</title>"
        b"<summary type='text'>a &lt;b> c</summary></entry></feed>"
    )
    assert parse(feed).markdown == (
        "# Sund & Lind\n\n## [One](http://a.example/blog/2026/one.html)\n\n[b](http://a.example/blog/2026/one/b.html)"
        "\n\n## Two\n\na \\<b> c"
    )


@pytest.mark.parametrize("tag", ["itunes:summary", "media:description"])
def test_a_podcast_or_video_is_described_in_its_own_vocabulary(tag: str) -> None:
    names = "xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd' xmlns:media='http://search.yahoo.com/mrss/'"
    part = f"<media:group><{tag}>How the rope broke.</{tag}></media:group>"
    feed = f"<rss version='2.0' {names}><channel><item><title>One</title>{part}</item></channel></rss>"
    assert parse(feed.encode()).markdown == "## One\n\nHow the rope broke."


def test_email_shows_headers_text_and_attachment_names() -> None:
    mail = (
        b"From: a@b.example\nTo: c@d.example\nSubject: =?utf-8?b?" + base64.b64encode("Grüße".encode()) + b"?=\n"
        b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\n\n"
        b"<p>Hello <b>you</b></p>\n--x\nContent-Type: application/pdf\n"
        b'Content-Disposition: attachment; filename="plan.pdf"\n\nx\n--x--\n'
    )
    parsed = parse(mail)
    assert parsed.title == "Grüße"
    assert "Hello **you**" in parsed.markdown
    assert parsed.markdown.endswith("## plan.pdf\n\nx"), "the format is detected from the bytes"


def test_attached_emails_are_read_and_archives_are_named() -> None:
    inner = b"From: x@y.example\nSubject: Inner\nMIME-Version: 1.0\nContent-Type: text/plain\n\nInner words\n"
    mail = (
        b"From: a@b.example\nTo: c@d.example\nSubject: Outer\nMIME-Version: 1.0\n"
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nOuter words\n--x\n"
        b"Content-Type: message/rfc822\n\n" + inner + b"--x\nContent-Type: application/zip\n"
        b'Content-Transfer-Encoding: base64\nContent-Disposition: attachment; filename="a.zip"\n\n'
        + base64.b64encode(builders.zipped({"a.txt": "secret"}))
        + b"\n--x--\n"
    )
    parsed = parse(mail)
    assert "Outer words\n\n## Inner\n\nFrom: x@y.example  \nSubject: Inner\n\nInner words" in parsed.markdown
    assert "not read inside of another file" in parsed.markdown
    assert parsed.warnings == ("Not read: 1 file inside of the document (a.zip).",)
    assert "secret" not in parsed.markdown


def test_documents_in_a_zip_file_follow_the_list_of_its_files() -> None:
    files: dict[str, str | bytes] = {
        "notes/plan.txt": "The boat leaves at seven.",
        "sheet.csv": "a,b\n1,2\n",
        "broken.pdf": b"%PDF-1.4 broken",
        "deck.pdf": builders.drawn_pdf([builders.text_at(60, 100, "Words of the deck")]),
        "program.bin": bytes(range(256)),
    }
    parsed = parse(builders.zipped(files))
    assert parsed.format == "archive"
    assert "| program.bin | 256 |" in parsed.markdown
    assert "## notes/plan.txt\n\nThe boat leaves at seven.\n\n## sheet.csv\n\n| a | b |" in parsed.markdown
    assert "## deck.pdf\n\n(page 1)\n\nWords of the deck" in parsed.markdown
    assert "## broken.pdf\n\n(15 bytes, not read: The file claims to be a PDF" in parsed.markdown
    assert "## program.bin" not in parsed.markdown
    assert parsed.warnings == (
        "Not read: 1 file inside of the document (broken.pdf).",
        "1 of 5 files are listed but not read, such as program.bin: unpack them first.",
    )


def test_attachments_of_an_attached_email_are_read() -> None:
    inner, outer = EmailMessage(), EmailMessage()
    inner["Subject"], outer["Subject"], outer["From"], outer["To"] = "Inner", "Outer", "a@b.example", "c@d.example"
    inner.set_content("Inner words")
    inner.add_attachment(b"a,b", maintype="text", subtype="csv", filename="numbers.csv")
    outer.set_content("Outer words")
    outer.add_attachment(inner)
    markdown = parse(outer.as_bytes()).markdown
    assert "Subject: Inner\n\nInner words" in markdown
    assert markdown.endswith("## numbers.csv\n\n| a | b |\n| --- | --- |")


def test_locked_files_of_a_zip_file_and_warnings_of_its_documents_are_reported() -> None:
    rows = "".join(f"{number}\n" for number in range(20_010))
    data = bytearray(builders.zipped({"locked.txt": "secret", "long.csv": rows, "plain.txt": "words"}))
    data[data.find(b"PK\x03\x04") + 6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    parsed = parse(bytes(data))
    assert "## locked.txt\n\n(not read: The document is locked with a password.)" in parsed.markdown
    assert parsed.warnings == (
        "long.csv: Only the first 20,000 rows are shown.",
        "Not read: 1 file inside of the document (locked.txt).",
    )
    assert parsed.markdown.endswith("## plain.txt\n\nwords")


def test_only_the_first_documents_of_a_zip_file_are_read() -> None:
    parsed = parse(builders.zipped({f"{number}.txt": "words" for number in range(40)}))
    assert parsed.markdown.count("## ") == 30
    assert parsed.warnings == ("Only the first 30 files inside of the document are read.",)


def test_apple_file_is_read_from_its_preview_or_refused_with_advice() -> None:
    preview = builders.drawn_pdf([builders.text_at(60, 100, "Words of the preview")])
    parsed = parse(builders.zipped({"Index/Document.iwa": b"x", "QuickLook/Preview.pdf": preview}))
    assert "Words of the preview" in parsed.markdown
    assert "preview" in parsed.warnings[0]
    with pytest.raises(errors.UnsupportedTypeError, match="Apple Pages") as raised:
        parse(builders.zipped({"Index/Document.iwa": b"x", "preview.jpg": b"\xff\xd8"}))
    assert "Export it as PDF" in raised.value.next_step
    with pytest.raises(errors.MalformedDocumentError, match="preview in this Apple file is damaged") as broken:
        parse(builders.zipped({"Index/Document.iwa": b"x", "QuickLook/Preview.pdf": b"%PDF-1.4 nothing"}))
    assert "Export it as PDF" in broken.value.next_step


def test_image_is_described() -> None:
    for name, kind in {"PNG": "PNG", "JPEG": "JPEG", "WEBP": "WebP", "TIFF": "TIFF", "ICO": "icon"}.items():
        assert parse(builders.picture(name, 64)).markdown.startswith(f"Image: {kind}, 64 x 64 pixels, ")
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 20"><text>Depth</text></svg>'
    assert parse(drawing).markdown.startswith("Image: SVG, ")
    assert parse(drawing).markdown.endswith("Depth")
    assert parse(b"\x89PNG\r\n\x1a\n").markdown.startswith("Image: damaged")


def test_archive_is_listed_and_not_extracted() -> None:
    parsed = parse(builders.zipped({"../../etc/passwd": "secret words", "b.txt": "b"}))
    assert "| ../../etc/passwd | 12 |" in parsed.markdown
    assert "secret words" not in parsed.markdown
    assert "2 entries." in parsed.markdown


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_is_listed_with_each_compression(mode: str) -> None:
    with BytesIO() as file:
        with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
            archive.addfile(tarfile.TarInfo("folder/a.txt"))
        assert "1 entry.\n\n| name | bytes |\n| --- | --- |\n| folder/a.txt | 0 |" in parse(file.getvalue()).markdown


def test_single_compressed_file_is_described_and_limited() -> None:
    with BytesIO() as file:
        with gzip.GzipFile("log.txt", "wb", fileobj=file, mtime=0) as packed:
            packed.write(b"words " * 100)
        assert parse(file.getvalue()).markdown.endswith("It holds one file log.txt of 600 bytes.")
    assert parse(lzma.compress(bytes(80_000_000), preset=0)).markdown.endswith("of at least 64,000,000 bytes.")
    assert "is not read here" in parse(b"7z\xbc\xaf\x27\x1c" + bytes(40)).markdown


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, errors.MalformedDocumentError, "damaged Office document"),
        (compound_file({"EncryptedPackage": b"x"}), errors.EncryptedDocumentError, "without a password"),
    ],
    ids=["damaged", "encrypted"],
)
def test_damaged_and_encrypted_office_files_get_advice(
    data: bytes, error: type[errors.ScraperError], words: str
) -> None:
    with pytest.raises(error) as raised:
        parse(data)
    assert words in raised.value.sentence()


def test_empty_and_binary_files_raise_errors() -> None:
    with pytest.raises(errors.NoContentError):
        parse(b"")
    with pytest.raises(errors.UnsupportedTypeError) as raised:
        parse(bytes(range(256)) * 8)
    assert "Export other documents as PDF" in raised.value.next_step


def test_text_is_decoded_and_invisible_characters_are_removed() -> None:
    assert parse("na\u00efve \u201cquoted\u201d caf\u00e9".encode("cp1252")).markdown == "naïve “quoted” café"
    assert parse("plain words".encode("utf-16-le")).markdown == "plain words"
    assert parse("safe \u202egpj.exe\u202c and \u200bwords".encode()).markdown == "safe gpj.exe and words"


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: The Log", "The Log"),
        ("title: \"The 'Log'\" ", "The 'Log'"),
        ("title: Ships' Log'", "Ships' Log'"),
        ("title:\nauthor: A", "Other"),
    ],
)
def test_markdown_is_unchanged_and_its_front_matter_has_the_title(front: str, title: str) -> None:
    parsed = parse(f"---\n{front}\n---\n\n# Other\n\nText.\n".encode(), name="a.md")
    assert parsed.title == title
    assert parsed.markdown.endswith("# Other\n\nText.")


def test_html_document_beyond_the_limit_has_a_warning() -> None:
    page = b"<html><body><p>%s</p></body></html>"
    assert not parse(page % (b"word " * 10)).warnings
    assert "end may be missing" in parse(page % (b"word " * 820_000)).warnings[0]


@pytest.mark.parametrize("data", [builders.xlsx(("A", ""))[:-60], builders.odf("text", "")[:-60]])
def test_files_that_were_cut_off_get_advice(data: bytes) -> None:
    with pytest.raises(errors.MalformedDocumentError) as caught:
        parse(data)
    assert caught.value.next_step == "Try once more, or look for another copy."


def test_html_document_is_read_like_a_page() -> None:
    page = "<html><head><title>T</title></head><body><nav>Menu</nav><main><h1>Head</h1>" + "<p>Words.</p>" * 30
    parsed = parse(page.encode())
    assert parsed.format == "html"
    assert "# Head" in parsed.markdown
    assert "Menu" not in parsed.markdown


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.rst", "Harbor\n======\n\nThe ferry *leaves*.\n\n.. code-block:: python\n\n   x = 1"),
        ("a.adoc", "= Harbor\n\nThe ferry _leaves_.\n\n|===\n|a |b\n|==="),
        ("a.org", "* Harbor\nThe ferry /leaves/.\n| a | b |"),
        ("a.vcf", "BEGIN:VCARD\nVERSION:3.0\nFN:The ferry\nEND:VCARD"),
        ("a.ics", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:The ferry leaves\nEND:VEVENT\nEND:VCALENDAR"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nThe ferry leaves"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nThe ferry leaves"),
    ],
)
def test_formats_without_a_reader_are_shown_as_their_text(name: str, content: str) -> None:
    parsed = parse(content.encode(), name=name)
    assert parsed.format == "text"
    assert content in parsed.markdown


def test_relative_links_of_files_without_an_address_are_text() -> None:
    words = (
        "<p>Words " + "of the harbor " * 20 + '<a href="rel/x.html">here</a> <a href="https://a.example/">there</a></p>'
    )
    mail = b"From: a@b.example\nTo: c@d.example\nSubject: x\nMIME-Version: 1.0\nContent-Type: text/html\n\n"
    for data in (mail + words.encode(), f"<html><body><main><h1>T</h1>{words}</main></body></html>".encode()):
        assert parse(data).markdown.endswith("harbor here [there](https://a.example/)")


def docx_with(**parts: str) -> bytes:
    with BytesIO(builders.docx("<w:p><w:r><w:t>Words</w:t></w:r></w:p>")) as file:
        with ZipFile(file, "a") as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
        return file.getvalue()


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (docx_with(**{"word/embeddings/plan.xlsx": "x", "word/embeddings/b.bin": "x"}), "plan.xlsx, b.bin"),
        (docx_with(**{"word/embeddings/a.xlsx": "x", "word/charts/_rels/a.rels": '"../embeddings/a.xlsx"'}), ""),
        (
            builders.odf("text", "<text:p>Words</text:p>", parts={"Object 1": "x", "Object 2/content.xml": "<a/>"}),
            "Object 1",
        ),
        (rb"{\rtf1 Words{\object{\*\objdata 0105}{\result }}\par}", "object 1"),
    ],
)
def test_files_inside_of_an_office_file_are_named(data: bytes, names: str) -> None:
    parsed = parse(data)
    assert parsed.markdown == "Words"
    count = f"{names.count(',') + 1} file{'s' * (',' in names)}"
    assert parsed.warnings == ((f"Not read: {count} inside of the document ({names}).",) if names else ())


def test_document_without_text_names_the_files_inside() -> None:
    with pytest.raises(errors.NoContentError) as raised:
        parse(rb"{\rtf1 {\object{\*\objdata 0105}{\result }}\par}")
    assert raised.value.next_step == "Not read: 1 file inside of the document (object 1)."
