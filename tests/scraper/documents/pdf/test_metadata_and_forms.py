"""PDF content other than page text: form fields, metadata, scanned pages."""

from __future__ import annotations

import io

import pytest
from pypdf import PdfWriter

from scraper import errors
from tests.scraper.documents.builders import parse, pdf_of

PAGE = (
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R {} "
    "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> {} >> >>"
)


def one_page(drawing: str, page: str = "", resources: str = "", *more: bytes, **of: str) -> bytes:
    """Build a PDF of one page; `more` are its objects from the fifth on."""
    drawn = drawing.encode("latin-1")
    return pdf_of(
        [
            f"<< /Type /Catalog /Pages 2 0 R {of.get('catalogue', '')} >>".encode(),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            PAGE.format(page, resources).encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
            *more,
        ],
        of.get("trailer", ""),
    )


def form(*widgets: str) -> bytes:
    numbers = " ".join(f"{5 + at} 0 R" for at in range(len(widgets)))
    head = "<< /Type /Annot /Subtype /Widget /P 3 0 R /Rect [60 {} 200 {}] {} >>".format
    drawn = (head(700 - 30 * at, 720 - 30 * at, widget).encode() for at, widget in enumerate(widgets))
    return one_page(
        "BT /F1 12 Tf 60 760 Td (Please fill in this form) Tj ET",
        f"/Annots [{numbers}]",
        "",
        *drawn,
        catalogue=f"/AcroForm << /Fields [{numbers}] /NeedAppearances true >>",
    )


FILLED = (
    "/FT /Tx /T (form.page.applicant) /V (Ada Lovelace)",
    "/FT /Tx /T (t2) /TU (Date of birth) /V (10 December 1815)",
    "/FT /Tx /T (pin) /Ff 8192 /V (1234)",
    "/FT /Tx /T (remarks)",
    "/FT /Btn /T (agrees) /V /Yes /AS /Yes",
    "/FT /Btn /T (newsletter) /AS /Off",
    "/FT /Ch /Ff 131072 /T (country) /Opt [(GB) (FR)] /V (GB)",
)


def test_filled_form_fields_are_listed_with_their_names() -> None:
    assert parse(form(*FILLED)).markdown == (
        "<!-- page 1 -->\n\nPlease fill in this form\n\nFilled in on this form:\n\n"
        "- applicant: Ada Lovelace\n- Date of birth: 10 December 1815\n- pin: (hidden)\n"
        "- agrees: [x]\n- newsletter: [ ]\n- country: GB\n"
        "- (1 more field is empty)"
    )


def test_empty_form_adds_nothing_to_its_page() -> None:
    assert parse(form("/FT /Tx /T (a)", "/FT /Btn /T (b) /AS /Off")).markdown == (
        "<!-- page 1 -->\n\nPlease fill in this form"
    )


def test_notes_of_reviewers_follow_their_page_and_attached_files_are_named() -> None:
    annotation = "<< /Type /Annot /P 3 0 R /Rect [60 700 200 720] /Subtype {} >>".format
    notes = (
        "/FreeText /DA (/F1 9 Tf) /T (Ada) /Contents (The quay is closed\r1. until May)",
        "/Highlight /QuadPoints [60 760 99 760 60 750 99 750] /Contents (# Which plan?)",
        "/Popup /Contents (Repeated)",
        "/FileAttachment /Contents (costs.ods) /FS << /Type /Filespec /F (costs.ods) >>",
    )
    parsed = parse(
        one_page(
            "BT /F1 12 Tf 60 760 Td (Plan of the quay) Tj ET",
            "/Annots [5 0 R 6 0 R 7 0 R 8 0 R]",
            "",
            *(annotation(note).encode() for note in notes),
            b"<< /Type /Filespec /F (log.txt) /UF (log.txt) /EF << /F 10 0 R >> >>",
            b"<< /Type /EmbeddedFile /Length 2 >>\nstream\nhi\nendstream",
            catalogue="/Names << /EmbeddedFiles << /Names [(log.txt) 9 0 R] >> >>",
        )
    )
    assert parsed.markdown == (
        "<!-- page 1 -->\n\nPlan of the quay\n\nNotes on this page:\n\n"
        "- Ada: The quay is closed 1. until May\n- \\# Which plan?"
    )
    assert parsed.warnings == ("Not read: 2 files inside of the document (log.txt, costs.ods).",)


@pytest.mark.parametrize(
    ("declared", "title"),
    [
        ("(The \\(old\\) harbour \\351t\\351)", "The (old) harbour été"),
        ("<FEFF00C9007400E9>", "Été"),
        ("(Microsoft Word - Report of May)", "Report of May"),
        ("(report-final.docx)", None),
        ("()", None),
    ],
)
def test_title_is_read_from_the_information_dictionary(declared: str, title: str | None) -> None:
    words = "BT /F1 12 Tf 60 700 Td (Words of the page) Tj ET"
    facts = f"<< /Title {declared} /Author (A. Writer) >>".encode("latin-1")
    parsed = parse(one_page(words, "", "", facts, trailer="/Info 5 0 R"))
    assert (parsed.title, parsed.author) == (title, "A. Writer")


def test_title_of_an_encrypted_file_is_decrypted() -> None:
    writer = PdfWriter(clone_from=io.BytesIO(one_page("BT /F1 12 Tf 60 700 Td (Words of the page) Tj ET")))
    writer.add_metadata({"/Title": "The old harbour"})
    writer.encrypt("", "owner", algorithm="RC4-128")
    with io.BytesIO() as file:
        writer.write(file)
        assert parse(file.getvalue()).title == "The old harbour"


PICTURE = b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\nstream\n0\nendstream"  # noqa: E501


def test_page_that_is_an_image_raises_ocr_needed() -> None:
    scan = one_page("q 595 0 0 842 0 0 cm /I Do Q", "", "/XObject << /I 5 0 R >>", PICTURE)
    with pytest.raises(errors.OcrNeededError, match="scanned") as raised:
        parse(scan)
    assert "apt install tesseract-ocr" in raised.value.next_step
