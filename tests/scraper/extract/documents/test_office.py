"""Spreadsheets, presentations, EPUB books, OpenDocument and RTF."""

from __future__ import annotations

import io

import pytest
from pptx import Presentation
from pptx.util import Inches

from scraper import errors
from tests.scraper.extract.documents import builders
from tests.scraper.extract.documents.builders import parse


def row(number: int, *cells: str) -> str:
    written = ""
    for letter, cell in zip("ABCDEFGH", cells, strict=False):
        kind = "" if cell.replace(".", "").isdigit() else ' t="str"'
        written += f'<c r="{letter}{number}"{kind}><v>{cell}</v></c>' if cell else ""
    return f'<row r="{number}">{written}</row>'


def test_sheet_becomes_a_heading_and_its_blocks_of_cells_become_tables() -> None:
    data = row(1, "town", "people") + row(2, "Bergen", "290.0") + row(4, "year", "rain") + row(5, "2020", "1.5")
    parsed = parse(builders.xlsx(("Towns", data), ("Notes", row(3, "Only this"))))
    assert parsed.pages == 2
    assert parsed.markdown == (
        "<!-- page 1 -->\n\n## Towns\n\n| town | people |\n| --- | --- |\n| Bergen | 290 |\n\n"
        "| year | rain |\n| --- | --- |\n| 2020 | 1.5 |\n\n<!-- page 2 -->\n\n## Notes\n\nOnly this"
    )


def test_distant_cell_and_repeated_long_text_are_refused_before_reading() -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    with pytest.raises(errors.ContentTooLargeError, match="1,048,576 rows"):
        parse(builders.xlsx(("A", row(1, "1") + far)))
    many = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 30_000))
    with pytest.raises(errors.ContentTooLargeError):
        parse(builders.xlsx(("A", many), shared="<si><t>" + "abcdefghi " * 20_000 + "</t></si>"))


def test_long_sheet_has_a_warning_with_its_row_count() -> None:
    parsed = parse(builders.xlsx(("A", "".join(row(n, str(n), "x") for n in range(1, 20_500)))))
    assert "only the first 20,000 of 20,499 rows" in parsed.warnings[0]


def test_huge_sheet_shows_its_first_rows_and_counts_the_rest() -> None:
    many = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 600_001))
    assert len(many) > 25_000_000
    parsed = parse(builders.xlsx(("Many", many), ("Few", row(1, "x"))))
    assert parsed.warnings == ("Sheet Many: only the first 20,000 of 600,000 rows are shown.",)
    assert "| 20000 |\n\n<!-- page 2 -->\n\n## Few\n\nx" in parsed.markdown


def presentation() -> bytes:
    made_of = Presentation()
    slide = made_of.slides.add_slide(made_of.slide_layouts[1])
    slide.shapes.title.text = "The Title"
    frame = slide.placeholders[1].text_frame
    frame.text = "First"
    frame.add_paragraph().text = "Second"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(5), Inches(4), Inches(1)).table
    for at, text in enumerate(("a", "b", "c", "d")):
        table.cell(at // 2, at % 2).text = text
    slide.notes_slide.notes_text_frame.text = "Say this."
    made_of.slides.add_slide(made_of.slide_layouts[6]).shapes.add_textbox(0, 0, 99, 99).text_frame.text = "Box"
    with io.BytesIO() as file:
        made_of.save(file)
        return file.getvalue()


def test_slides_contain_titles_lists_tables_and_notes() -> None:
    parsed = parse(presentation())
    assert parsed.pages == 2
    assert parsed.markdown == (
        "<!-- page 1 -->\n\n# The Title\n\n- First\n- Second\n\n| a | b |\n| --- | --- |\n| c | d |\n\n"
        "Notes: Say this.\n\n<!-- page 2 -->\n\nBox"
    )


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
