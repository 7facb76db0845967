"""Presentations."""

from __future__ import annotations

import io

from pptx import Presentation
from pptx.util import Inches

from tests.scraper.extract.documents.builders import parse


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
