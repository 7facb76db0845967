"""Letters that liteparse drops or mixes: vertical lines, letters beyond U+FFFF, and glyphs without a character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.scraper.documents.builders import parse, pdf_of

_PLAIN = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_MAPPED = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 7 0 R >>"
_DRAWN = (
    b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 700] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 1 /LastChar 1"
    b" /Widths [600] /Encoding << /Differences [1 /g1] >> /CharProcs << /g1 8 0 R >> >>"
)


def mapped_pdf(
    pieces: Sequence[tuple[float, float, str]], characters: Mapping[str, str], font: bytes = _MAPPED
) -> bytes:
    """Build a PDF of texts at these places from the bottom left; a font maps some letters to other characters."""
    rows = (f"<{ord(letter):02x}> <{text.encode('utf-16-be').hex()}>" for letter, text in characters.items())
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def 1 begincodespacerange <00> <ff> "
        f"endcodespacerange {len(characters)} beginbfchar {' '.join(rows)} endbfchar endcmap end end"
    ).encode()
    drawn = "".join(
        f"BT /F{2 if set(text) <= set(characters) else 1} 12 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n"
        for x, y, text in pieces
    ).encode()
    stream = b"<< /Length %d >>\nstream\n%s\nendstream"
    return pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 400] /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>",
            stream % (len(drawn), drawn),
            _PLAIN,
            font,
            stream % (len(table), table),
            stream % (44, b"600 0 0 0 500 700 d1 0 0 500 700 re f       "),
        ]
    )


def test_vertical_lines_are_read_from_the_right() -> None:
    columns = "船は毎朝六時に出る", "桟橋は古い。冬の間", "霧が深い"
    letters = dict.fromkeys("".join(columns))
    codes = {letter: chr(ord("A") + number) for number, letter in enumerate(letters)}
    places = [(340 - 20 * column, 380 - 13 * row, codes[letter])
              for column, text in enumerate(columns) for row, letter in enumerate(text)]  # fmt: skip
    parsed = parse(mapped_pdf(places, {code: letter for letter, code in codes.items()}))
    assert parsed.markdown.endswith("".join(columns))


def test_letters_beyond_the_basic_plane_keep_their_places() -> None:
    places: list[tuple[float, float, str]] = [
        (20, 300, "A smile"),
        (64, 300, "X"),
        (80, 300, "and a"),
        (112, 300, "Y"),
        (126, 300, "of bone"),
    ]
    places += [
        (20, 260, "A word with"),
        (86, 260, "l"),
        (88.7, 260.0, "I"),
        (92, 260, "l within, and"),
        (215, 260, "Z"),
    ]
    text = parse(mapped_pdf(places, {"X": "😀", "Y": "𠮷", "I": "𝑥", "Z": "\U000f0854"})).markdown
    assert "A smile 😀 and a 𠮷 of bone" in text
    assert text.endswith("A word with l𝑥l within, and")


def test_glyphs_without_a_character_are_counted() -> None:
    parsed = parse(mapped_pdf([(20, 300, "Words and"), (80, 300, "\1\1")], {"\1": "x"}, _DRAWN))
    assert parsed.markdown.endswith("Words and")
    assert parsed.warnings == ("Missing: 2 signs for which the file names no character, on pages: 1.",)
