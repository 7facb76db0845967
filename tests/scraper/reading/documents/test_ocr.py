"""Pictures of pages are recognized by tesseract, where it is installed."""

from __future__ import annotations

import base64
import io
import zlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from PIL import Image, ImageDraw, ImageFont

from scraper import errors
from scraper.documents.model import ParsedDocument, ParseRequest
from scraper.reading.documents.ocr import PageImage, RecognizedPage, Tesseract, add_recognized_pages
from scraper.reading.documents.parser import OCR_TIME_WARNING, DocumentParser
from scraper.workers.single_use import SingleUseProcesses

OCR = Tesseract()
needs_tesseract = pytest.mark.skipif("eng" not in OCR.languages, reason="tesseract is not installed")


def scan(*texts: str) -> bytes:
    """Build a PDF whose pages are pictures of these texts."""
    pages = []
    for text in texts:
        page = Image.new("L", (1_000, 400), 255)
        ImageDraw.Draw(page).text((80, 80), text, font=ImageFont.load_default(36), fill=20)
        pages.append(page)
    with io.BytesIO() as file:
        pages[0].save(file, "PDF", resolution=200, save_all=True, append_images=pages[1:])
        return file.getvalue()


SCAN = scan("The ferry leaves the harbor\nevery morning.", "", "Every invoice is paid\nwithin thirty days.")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def processes() -> AsyncIterator[SingleUseProcesses]:
    opened = SingleUseProcesses(2)
    yield opened
    await opened.close()


async def read(parser: DocumentParser, data: bytes = SCAN, limit_s: float = 60.0) -> ParsedDocument:
    return await parser.parse(data, ParseRequest(), limit_s=limit_s, source="scan.pdf")


@needs_tesseract
@pytest.mark.slow
async def test_pictures_of_pages_are_read_with_their_confidence(processes: SingleUseProcesses) -> None:
    parser = DocumentParser(processes, OCR)
    parsed = await read(parser)
    assert parsed.markdown == (
        "<!-- page 1 -->\n\nThe ferry leaves the harbor every morning.\n\n"
        "<!-- page 3 -->\n\nEvery invoice is paid within thirty days."
    )
    assert "The ferry" in parsed.text and "page 1" not in parsed.text
    assert parsed.ocr_pages == (2,), "a picture without text stays one"
    assert [warning for warning in parsed.warnings if "recognized" in warning and "3 (" in warning]


@needs_tesseract
@pytest.mark.slow
async def test_late_pages_are_read_by_the_next_call(processes: SingleUseProcesses) -> None:
    parser = DocumentParser(processes, OCR)
    with pytest.raises(errors.OcrNeededError, match="no text was recognized"):
        await read(parser, limit_s=4.9)
    await read(parser)
    again = await read(parser, limit_s=4.9)
    assert "thirty days" in again.markdown
    assert OCR_TIME_WARNING not in again.warnings


async def test_without_the_program_the_answer_names_the_command(processes: SingleUseProcesses) -> None:
    for parser in (DocumentParser(processes), DocumentParser(processes, Tesseract("/no/such/program"))):
        with pytest.raises(errors.OcrNeededError) as raised:
            await read(parser)
        assert "apt install tesseract-ocr" in raised.value.next_step


def test_text_is_added_below_the_marks_of_its_pages() -> None:
    parsed = ParsedDocument(
        "pdf", "<!-- page 1 -->\n\none\n\n<!-- page 2 -->\n\n<!-- page 3 -->\n\nthree", ocr_pages=(2, 3, 4)
    )
    recognized = {2: RecognizedPage("# two\n\nmore", 90), 3: RecognizedPage("stamp", 50)}
    added = add_recognized_pages(parsed, recognized)
    assert added.markdown == (
        "<!-- page 1 -->\n\none\n\n<!-- page 2 -->\n\n\\# two\n\nmore\n\n<!-- page 3 -->\n\nthree\n\nstamp"
    )
    assert added.ocr_pages == (4,)
    assert "2 (90 %), 3 (50 %)" in added.warnings[0]


@pytest.mark.parametrize(
    "change", [{"width": 0}, {"width": 10**6}, {"height": "x"}, {"pixels": "!"}, {"pixels": None}, {"pixels": "AAAA"}]
)
def test_answer_of_the_sandbox_that_is_no_picture_is_refused(change: dict[str, object]) -> None:
    good = {"width": 4, "height": 2, "dpi": 200, "pixels": base64.b64encode(zlib.compress(bytes(8))).decode()}
    assert PageImage.of_json(good).as_pgm() == b"P5 4 2 255\n" + bytes(8)
    with pytest.raises(ValueError, match="not a picture"):
        PageImage.of_json(good | change)
