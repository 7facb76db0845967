"""Presentations."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from lxml import etree
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Inches

from scraper.documents import slides
from scraper.documents.model import ParseRequest
from scraper.errors import MalformedDocumentError
from tests.scraper.documents.builders import parse, zipped


def presentation() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "The Title"
    frame = slide.placeholders[1].text_frame
    frame.text = "First"
    frame.add_paragraph().text = "Second"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(5), Inches(4), Inches(1)).table
    for at, text in enumerate(("a", "b", "c", "d")):
        table.cell(at // 2, at % 2).text = text
    slide.notes_slide.notes_text_frame.text = "Say this."
    deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_textbox(0, 0, 99, 99).text_frame.text = "Box"
    with io.BytesIO() as file:
        deck.save(file)
        return file.getvalue()


def test_slides_contain_titles_lists_tables_and_notes() -> None:
    parsed = parse(presentation())
    assert parsed.pages == 2
    assert parsed.markdown == (
        "<!-- page 1 -->\n\n# The Title\n\n- First\n- Second\n\n| a | b |\n| --- | --- |\n| c | d |\n\n"
        "Notes: Say this.\n\n<!-- page 2 -->\n\nBox"
    )


def saved(deck: Any) -> bytes:
    with io.BytesIO() as file:
        deck.save(file)
        return file.getvalue()


def test_deck_with_a_native_chart_is_a_presentation_with_the_data_of_the_chart() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Passengers"
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["Bergen", "Porto"]
    data.add_series("Ferries", (12, 30))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(5), Inches(3), data)
    parsed = parse(saved(deck))
    assert parsed.format == "pptx"
    assert "# Passengers" in parsed.markdown
    assert "|  | Ferries |\n| --- | --- |\n| Bergen | 12 |\n| Porto | 30 |" in parsed.markdown


def test_comments_have_their_author_and_date() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    space = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    parts = (
        (deck.part, "/ppt/commentAuthors.xml", CONTENT_TYPE.PML_COMMENT_AUTHORS, RELATIONSHIP_TYPE.COMMENT_AUTHORS,
         f'<p:cmAuthorLst {space}><p:cmAuthor id="0" name="Ada"/></p:cmAuthorLst>'),
        (slide.part, "/ppt/comments/comment1.xml", CONTENT_TYPE.PML_COMMENTS, RELATIONSHIP_TYPE.COMMENTS,
         f'<p:cmLst {space}><p:cm authorId="0" dt="2026-03-04T10:00:00"><p:text>Use the new figures</p:text></p:cm>'
         "</p:cmLst>"),
    )  # fmt: skip
    for owner, name, kind, relation, xml in parts:
        owner.relate_to(Part(PackURI(name), kind, deck.part.package, xml.encode()), relation)
    slide.shapes.add_textbox(0, 0, 99, 99).text_frame.text = "Box"
    assert parse(saved(deck)).markdown.endswith("Box\n\nComment by Ada, 2026-03-04: Use the new figures")


def test_text_of_shapes_that_the_library_does_not_know_is_added_once() -> None:
    deck = Presentation()
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    for number in (1, 2):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide.shapes.add_textbox(0, 0, 99, 99).text_frame.text = f"Slide number {number}"
        slide.shapes._spTree.append(
            etree.fromstring(
                f'<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
                f'xmlns:a="{drawing}"><mc:Choice><a:p><a:r><a:t>Confidential draft</a:t></a:r></a:p></mc:Choice>'
                "<mc:Fallback><a:p><a:r><a:t>Only a picture</a:t></a:r></a:p></mc:Fallback></mc:AlternateContent>"
            )
        )
    text = parse(saved(deck)).markdown
    assert text.count("Confidential draft") == 1
    assert "Only a picture" not in text


def test_long_deck_has_its_whole_number_of_slides_and_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slides, "MAX_SLIDES", 3)
    deck = Presentation()
    for number in range(5):
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = f"Slide {number}"
    parsed = parse(saved(deck))
    assert parsed.pages == 5
    assert parsed.warnings == ("Only the first 3 slides are shown.",)
    assert "<!-- page 4 -->" not in parsed.markdown


def test_links_are_shown_and_hidden_slides_are_marked() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.element.set("show", "0")
    paragraph = slide.shapes.add_textbox(0, 0, 99, 99).text_frame.paragraphs[0]
    for text, url in (("The ", ""), ("table", "https://e.example/t"), (" of the ", ""), ("table", ""), ("x", "#a")):
        run = paragraph.add_run()
        run.text = text
        if url:
            run.hyperlink.address = url
    assert parse(saved(deck)).markdown == (
        "<!-- page 1 -->\n\n(hidden slide)\n\nThe [table](https://e.example/t) of the tablex"
    )


MATH = 'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" xmlns:m="{}"'.format(
    "http://schemas.openxmlformats.org/officeDocument/2006/math"
)


def _box(slide: Any, text: str, left: int, top: int, height: int = 400_000) -> Any:
    shape = slide.shapes.add_textbox(left, top, 2_000_000, height)
    shape.text_frame.text = text
    return shape


def test_formulas_stand_in_their_sentence() -> None:
    deck = Presentation()
    shape = _box(deck.slides.add_slide(deck.slide_layouts[6]), "The share ", 0, 0)
    formula = etree.fromstring(
        f"<a14:m {MATH}><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num>"
        "<m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></a14:m>"
    )
    paragraph = shape.text_frame.paragraphs[0]
    shape.element.find(".//{*}p").append(formula)
    paragraph.add_run().text = " stays"
    assert parse(saved(deck)).markdown.endswith("The share $\\frac{a}{b}$ stays")


def test_slide_that_is_only_alternative_content_is_damaged() -> None:
    mark = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    with zipfile.ZipFile(io.BytesIO(presentation())) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    slide = f'<mc:AlternateContent xmlns:mc="{mark}"><mc:Fallback/></mc:AlternateContent>'
    with pytest.raises(MalformedDocumentError):
        slides.read(zipped({**parts, "ppt/slides/slide1.xml": slide}), ParseRequest())


def test_shapes_are_read_row_by_row_and_groups_in_their_place() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    group = slide.shapes.add_group_shape([_box(slide, "Third", 0, 0), _box(slide, "Fourth", 3_000_000, 10)])
    transform = group.element.grpSpPr.get_or_add_xfrm()
    transform.find("{*}off").set("y", "5000000")
    _box(slide, "Second", 3_000_000, 1_490_000)
    _box(slide, "First", 0, 1_500_000)
    assert parse(saved(deck)).markdown == "<!-- page 1 -->\n\nFirst\n\nSecond\n\nThird\n\nFourth"


def test_diagram_is_shown_although_there_are_long_notes() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.notes_slide.notes_text_frame.text = "Survey the seabed before you drive the piles. " * 5
    dgm = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    point = '<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Drive piles</a:t></a:r></a:p></dgm:t></dgm:pt>'
    names = f'xmlns:dgm="{dgm}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    data = f"<dgm:dataModel {names}><dgm:ptLst>{point}</dgm:ptLst></dgm:dataModel>"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", slide.part.package, data.encode())
    relation = slide.part.relate_to(part, f"{office}/diagramData")
    frame = slide.shapes.add_table(1, 1, 0, 0, 99, 99).element
    graphic = frame.find(".//{*}graphicData")
    graphic.set("uri", dgm)
    graphic[:] = [etree.fromstring(f'<dgm:relIds xmlns:dgm="{dgm}" xmlns:r="{office}" r:dm="{relation}"/>')]
    assert "- Drive piles\n\nNotes: Survey" in parse(saved(deck)).markdown


def test_large_picture_that_shrinks_well_is_no_obstacle() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    _box(slide, "Words", 0, 0)
    image, related = slide.part.package, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
    slide.part.relate_to(Part(PackURI("/ppt/media/image1.emf"), "image/x-emf", image, bytes(3_000_000)), related)
    assert parse(saved(deck)).markdown.endswith("Words")
