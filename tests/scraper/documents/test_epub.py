"""EPUB books."""

from __future__ import annotations

import pytest

from scraper import errors
from tests.scraper.documents import builders
from tests.scraper.documents.builders import parse


def test_chapters_are_in_the_order_of_the_spine() -> None:
    parsed = parse(builders.epub({"two.xhtml": "<h1>One</h1><p>a</p>", "one.xhtml": "<h1>Two</h1><p>b</p>"}))
    assert (parsed.title, parsed.author) == ("The Book", "A. Writer")
    assert parsed.markdown == "# One\n\na\n\n# Two\n\nb"


def test_book_has_notes_and_no_internal_links() -> None:
    chapter = (
        '<p>Words<a epub:type="noteref" href="#n">1</a> and <a href="b.xhtml">the next chapter</a>.</p>'
        '<aside epub:type="footnote" id="n"><p>Below.</p></aside>'
    )
    assert parse(builders.epub({"a.xhtml": chapter})).markdown == ("Words[^1] and the next chapter.\n\n[^1]: Below.")


@pytest.mark.parametrize("package", ["<package><manifest>", None])
def test_chapters_are_sorted_by_name_if_the_spine_is_damaged(package: str | None) -> None:
    chapters = {"b.xhtml": "<body><h1>Two</h1></body>", "a.xhtml": "<body><h1>One</h1></body>"}
    parts = {"mimetype": "application/epub+zip", **({"x.opf": package} if package else {}), **chapters}
    parsed = parse(builders.zipped(parts))
    assert parsed.markdown == "# One\n\n# Two"
    assert "damaged" in parsed.warnings[0]


def test_document_type_of_a_chapter_is_omitted() -> None:
    typed = '<!DOCTYPE html PUBLIC "x" "y" [<!ENTITY e "bad">]><html><body><p>Fine</p></body></html>'
    assert parse(builders.zipped({"mimetype": "application/epub+zip", "a.xhtml": typed})).markdown == "Fine"


_PACKAGE = (
    '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="c" href="c.svg" media-type="image/svg+xml"/>'
    '<item id="d" href="d.pdf" media-type="application/pdf" fallback="e"/>'
    '<item id="e" href="e.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/><itemref idref="d"/></spine></package>'
)
_SVG = '<svg xmlns="http://www.w3.org/2000/svg"><rect/><text>Words <tspan>of a drawing</tspan></text></svg>'


def test_pages_with_a_prefix_drawings_and_fallbacks_are_read_and_missing_ones_named() -> None:
    names = 'xmlns:x="http://www.w3.org/1999/xhtml"'
    prefixed = f"<x:html {names}><x:body><x:h1>One</x:h1><x:p>Words</x:p></x:body></x:html>"
    last = f"<body><p>Last</p>{_SVG}</body>"
    parts = {"a.xhtml": prefixed, "c.svg": _SVG, "d.pdf": "%PDF", "e.xhtml": last}
    parsed = parse(builders.zipped({"mimetype": "application/epub+zip", "x.opf": _PACKAGE, **parts}))
    assert parsed.markdown == "# One\n\nWords\n\nWords of a drawing\n\nLast\n\nWords of a drawing"
    assert parsed.warnings == ("1 of 4 chapters are missing, damaged or of another format: b.xhtml.",)


def test_fiction_book_has_titles_notes_and_names() -> None:
    book = """<?xml version="1.0"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink"><description>
<title-info><author><first-name>Ada</first-name><last-name>Quay</last-name></author><book-title>Ferries</book-title>
</title-info></description><body><section><title><p>Part</p></title><section><title><p>One</p></title>
<p>Words &amp; <emphasis>more</emphasis></p><poem><stanza><v>First line</v><v>Second line</v></stanza></poem>
<table><tr><th>Berth</th><th>Depth</th></tr><tr><td>9</td><td>4</td></tr></table></section></section></body>
<binary id="a.png">AAAA</binary></FictionBook>"""
    parsed = parse(book.encode())
    assert (parsed.format, parsed.title, parsed.author) == ("fb2", "Ferries", "Ada Quay")
    assert parsed.markdown == (
        "## Part\n\n### One\n\nWords & *more*\n\n> First line\n>\n> Second line\n\n"
        "| Berth | Depth |\n| --- | --- |\n| 9 | 4 |"
    )


def test_encrypted_book_raises_an_error() -> None:
    data = builders.zipped({"mimetype": "application/epub+zip", "META-INF/encryption.xml": "http://ns.adobe.com/adept"})
    with pytest.raises(errors.EncryptedDocumentError, match="DRM"):
        parse(data)


def test_text_beside_media_and_descriptions_of_pictures_are_read() -> None:
    chapter = (
        '<p>Text before.</p><audio src="a.mp3"><p>A bell rings.</p></audio><p>Text after.</p>'
        '<figure><img src="i.png" alt="A harbor"/><figcaption>The old harbor</figcaption></figure>'
    )
    text = parse(builders.epub({"one.xhtml": chapter})).markdown
    positions = [text.index(piece) for piece in ("before", "A bell rings", "after", "A harbor", "The old harbor")]
    assert positions == sorted(positions)


def test_players_become_their_text_title_or_file() -> None:
    chapter = (
        '<p>Before.</p><video src="v/film.mp4" poster="p.jpg"><p>Watch the <a href="v/film.mp4">film</a>.</p></video>'
        '<video><source src="v/tide.webm"/><track src="t.vtt"/></video><audio src="b.mp3" title="The bell"/>'
        "<p>After.</p>"
    )
    parsed = parse(builders.epub({"one.xhtml": chapter}))
    assert parsed.markdown == "Before.\n\nWatch the film.\n\n(video: tide.webm)\n\n(audio: The bell)\n\nAfter."


def test_addresses_inside_of_the_book_are_not_shown() -> None:
    chapter = (
        '<p><a href="c.xhtml">A [marked] link</a>, <a href="c.xhtml"><img src="i.png" alt="A map"/></a> and '
        '<img src="../j.png" alt="A coast"/> and <a href="https://a.example/x">one page</a>.</p>'
    )
    assert parse(builders.epub({"one.xhtml": chapter})).markdown == (
        "A [marked] link, (image: A map) and (image: A coast) and [one page](https://a.example/x)."
    )
