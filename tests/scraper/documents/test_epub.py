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
