"""Words of right-to-left scripts are read by the places of their glyphs, in whatever order a file stores them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from scraper.documents.pdf.item_corrections import PdfItem, PlacedGlyph, read_in_order, rebuild_words
from scraper.documents.pdf.pdfium import Box
from tests.scraper.documents.builders import parse, pdf_of

SIZE, WIDTH = 10, 6.0


def glyphs(displayed: str) -> list[PlacedGlyph]:
    """Return glyphs side by side, the first one on the left."""
    return [PlacedGlyph(one, Box(at, 0, at + 1, 0), None) for at, one in enumerate(displayed)]


@pytest.mark.parametrize(
    ("displayed", "read"),
    [
        (",1931", "1931,"),
        ("תנשב", "בשנת"),
        ("(גרובמהמ)", "(מהמבורג)"),
        ("06:15", "06:15"),
        ("1,350", "1,350"),
        ("١٩٣١", "١٩٣١"),
        ("Aurora,", ",Aurora"),
        ("A4-ב", "ב-A4"),
        ("12.5%", "12.5%"),
        ("\u05b8ב", "ב\u05b8"),
    ],
)
def test_letters_run_from_the_right_and_numbers_from_the_left(displayed: str, read: str) -> None:
    assert read_in_order(glyphs(displayed), is_arabic=False) == read


def test_percent_sign_is_left_of_its_number_beside_arabic_letters() -> None:
    assert read_in_order(glyphs("%12.5"), is_arabic=True) == "12.5%"


def test_lam_and_alef_of_one_glyph_keep_their_order() -> None:
    place = Box(0, 0, 5, 0)
    assert (
        read_in_order([PlacedGlyph("\u0644", place, None), PlacedGlyph("\u0627", place, None)], is_arabic=True)
        == "\u0644\u0627"
    )


def displayed_pdf(lines: Sequence[Sequence[tuple[float, str]]], *, reverse: bool) -> bytes:
    """Build a PDF of lines of words, each with its left edge; `reverse` stores letters from the right."""
    letters = sorted({letter for line in lines for _, word in line for letter in word})
    codes = {letter: code for code, letter in enumerate(letters, 1)}
    drawn = []
    for number, line in enumerate(lines):
        for left, word in line:
            places = [(left + WIDTH * at, letter) for at, letter in enumerate(word)]
            for x, letter in reversed(places) if reverse else places:
                drawn.append(f"BT /F1 {SIZE} Tf {x} {700 - 15 * number} Td <{codes[letter]:02x}> Tj ET")
    content = "\n".join(drawn).encode()
    pairs = "\n".join(f"<{code:02x}> <{letter.encode('utf-16-be').hex()}>" for letter, code in codes.items())
    unicode_map = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(codes)} beginbfchar\n{pairs}\nendbfchar endcmap end end"
    ).encode()
    names, widths = " ".join(f"/g{code}" for code in codes.values()), f"{100 * WIDTH} " * len(codes)
    shapes = " ".join(f"/g{code} 6 0 R" for code in codes.values())
    shape = b"%d 0 0 0 500 700 d1 0 0 500 700 re f" % (100 * WIDTH)
    return pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
            f"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 700] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 1"
            f" /LastChar {len(codes)} /Widths [{widths}] /Encoding << /Differences [1 {names}] >>"
            f" /CharProcs << {shapes} >> /ToUnicode 7 0 R >>".encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shape), shape),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(unicode_map), unicode_map),
        ]
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_lines_are_read_the_same_however_they_are_stored(reverse: bool) -> None:
    line = [(380.0, "רשאכ"), (420.0, ",1931"), (460.0, "תנשב"), (495.0, "הנבנ")]
    text = parse(displayed_pdf([line, [(440.0, ".רטמ"), (470.0, "90"), (490.0, "וכרוא")]], reverse=reverse)).markdown
    assert "נבנה בשנת 1931, כאשר" in text
    assert "אורכו 90 מטר." in text


@pytest.mark.parametrize(("left", "right"), ["()", ")("])
def test_brackets_are_read_right_if_the_file_names_them_by_shape_or_by_sense(left: str, right: str) -> None:
    line = [(380.0, f"{left}2030{right}"), (440.0, "רשאכ"), (495.0, "הנבנ")]
    assert "נבנה כאשר (2030)" in parse(displayed_pdf([line], reverse=False)).markdown


def test_brackets_of_one_line_are_turned_although_more_lines_of_the_page_are_right() -> None:
    right = [(380.0, "(1931)"), (440.0, "רשאכ"), (495.0, "הנבנ")]
    turned = [(380.0, ")2030("), (440.0, "ןמזב"), (495.0, "חתפנ")]
    text = parse(displayed_pdf([right, turned, right], reverse=False)).markdown
    assert text.count("(2030)") == 1
    assert text.count("(1931)") == 2


@pytest.mark.parametrize("y", [math.inf, math.nan, 1e12])
def test_items_without_a_place_or_glyph_are_kept_as_they_are(y: float) -> None:
    items = [PdfItem("שלום", 10.0, top, 20.0, 10.0, 0.0, None, 10.0, 10.0, None, None, ()) for top in (y, 5.0)]
    assert rebuild_words(items, [], from_right=True) == items
