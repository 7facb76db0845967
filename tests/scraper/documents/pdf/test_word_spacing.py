"""Words of PDF pages whose fonts declare wrong widths."""

from __future__ import annotations

import pytest

from tests.scraper.documents.builders import drawn_pdf, parse, pdf_of, text_at

LINES = (
    "wrong widths join the words of this line",
    "or split the letters of every second word",
    "unless the reader measures the letters",
)
_LETTERS_BY_WIDTH = {556: "abdeghnopqu", 500: "cksvxyz", 222: "ijl", 278: "ft", 333: "r", 722: "w", 833: "m"}
_WIDTHS = dict(sorted((letter, width) for width, letters in _LETTERS_BY_WIDTH.items() for letter in letters))
"""Widths of the letters as drawn, those of Helvetica."""
_SPACE = 278


def pdf_with_widths(factor: float, *, single_letters: bool) -> bytes:
    """Build a page in a font that declares its widths times a factor, with each letter at its right place."""
    drawing = []
    for number, line in enumerate(LINES):
        start = f"/F1 10 Tf 60 {740 - 12 * number} Td"
        if single_letters:
            x = 0.0
            for letter in line:
                drawing += [f"BT {start} {x:.3f} 0 Td ({letter}) Tj ET"] if letter != " " else []
                x += _WIDTHS.get(letter, _SPACE) / 100
        else:
            moves = (f"({x}) {factor * _WIDTHS[x] - _WIDTHS[x]:.1f}" if x != " " else f"{-_SPACE}" for x in line)
            drawing.append(f"BT {start} [{' '.join(moves)}] TJ ET")
    glyphs = [f"{factor * w:.1f} 0 40 0 {w - 40} 700 d1 40 0 {w - 80} 700 re f".encode() for w in _WIDTHS.values()]
    procedures = " ".join(f"/{letter} {6 + at} 0 R" for at, letter in enumerate(_WIDTHS))
    widths = " ".join(f"{factor * width:.1f}" for width in _WIDTHS.values())
    font = (
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [.001 0 0 .001 0 0] /Resources << >> "
        f"/FirstChar 97 /LastChar {96 + len(_WIDTHS)} /Widths [{widths}] "
        f"/CharProcs << {procedures} >> /Encoding << /Differences [97 /{' /'.join(_WIDTHS)}] >> >>"
    )
    streams = ["\n".join(drawing).encode(), *glyphs]
    return pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources "
            b"<< /Font << /F1 4 0 R >> >> >>",
            font.encode(),
            *(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream) for stream in streams),
        ]
    )


@pytest.mark.parametrize("single_letters", [False, True])
@pytest.mark.parametrize("factor", [0.5, 1.0, 1.5])
def test_words_are_separated_by_the_drawn_gaps(factor: float, single_letters: bool) -> None:
    text = parse(pdf_with_widths(factor, single_letters=single_letters)).markdown
    assert text == f"<!-- page 1 -->\n\n{' '.join(LINES)}"


@pytest.mark.parametrize("text", ["a" * 30 + " " + "b" * 30, "W o r d s o f s i n g l e l e t t e r s"])
def test_text_whose_glyphs_explain_no_words_stays(text: str) -> None:
    page = parse(drawn_pdf([text_at(60, 100, text)]))
    assert page.markdown == f"<!-- page 1 -->\n\n{text}"


def test_lists_of_single_letters_and_digits_stay_apart() -> None:
    lines = [
        text_at(60, 100 + 30 * at, text) for at, text in enumerate(("A B C D E F G", "3 1 4 1 5 9 2", "x x y x y"))
    ]
    text = parse(drawn_pdf(lines)).markdown
    assert [piece for piece in ("A B C D E F G", "3 1 4 1 5 9 2", "x x y x y") if piece not in text] == []
