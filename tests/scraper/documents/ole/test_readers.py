"""Word and PowerPoint files of the formats until 2003, and Outlook messages."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import pytest

from scraper import errors
from tests.scraper.documents.builders import drawn_pdf, parse, text_at
from tests.scraper.documents.ole.compound_builder import compound_file

LINK = "\x13 HYPERLINK \x14the link\x15"


def doc(
    main: str,
    notes: str = "",
    *,
    flags: int = 0x0200,
    version: int = 0x00C1,
    mini: bool = True,
    hidden: Sequence[tuple[int, int, bytes]] = (),
) -> bytes:
    """Build a Word file: the main text in single bytes, the rest in UTF-16.

    `hidden` has the first and the end of characters of the main text, and their properties.
    """
    text, more = main.encode("cp1252"), (notes + "header\r").encode("utf-16-le")
    information = bytearray(1_024)
    struct.pack_into("<HH", information, 0, 0xA5EC, version)
    struct.pack_into("<H", information, 10, flags)
    struct.pack_into("<iii", information, 0x4C, len(main), len(notes.encode("utf-16-le")) // 2, 7)
    ends = struct.pack("<III", 0, len(main), len(main) + len(more) // 2)
    pieces = struct.pack("<HIH", 0, 1_024 * 2 | 0x40000000, 0) + struct.pack("<HIH", 0, 1_024 + len(text), 0)
    table = b"\x01\x02\x00xx\x02" + struct.pack("<I", len(ends + pieces)) + ends + pieces
    struct.pack_into("<II", information, 0x01A2, 0, len(table))
    written = bytes(information) + text + more
    if hidden:
        written = written.ljust(-(-len(written) // 512) * 512, b"\0")
        struct.pack_into("<II", information, 0xFA, len(table), 12)
        table += struct.pack("<III", 1_024, 1_024 + len(text), len(written) // 512)
        written = bytes(information) + written[1_024:] + format_page(hidden)
    return compound_file({"WordDocument": written, "1Table": table}, mini=mini)


def format_page(hidden: Sequence[tuple[int, int, bytes]]) -> bytes:
    """Build a page of formats (MS-DOC, 2.9.33) for characters after the first 1,024 bytes."""
    places, starts, page, at = [1_024], [], bytearray(512), 510
    for first, end, properties in hidden:
        at -= (len(properties) + 2) // 2 * 2
        page[at : at + 1 + len(properties)] = bytes([len(properties)]) + properties
        places += [1_024 + first, 1_024 + end]
        starts += [0, at // 2]
    head = struct.pack(f"<{len(places)}I", *places) + bytes(starts)
    page[: len(head)], page[511] = head, len(starts)
    return bytes(page)


@pytest.mark.parametrize("mini", [True, False])
def test_word_file_has_paragraphs_tables_fields_and_notes(mini: bool) -> None:
    main = f"Title\rSee {LINK} \x01 here\rTown\x07People\x07\x07Bergen\x07\x07\x07Over\x0bline – dash\r"
    parsed = parse(doc(main, "A note \u03b1\r", mini=mini))
    assert parsed.format == "doc"
    assert parsed.markdown == (
        "Title\n\nSee the link here\n\n| Town | People |\n| --- | --- |\n| Bergen |  |\n\n"
        "Over<br>line – dash\n\nA note \u03b1"
    )


def test_letters_beyond_the_first_plane_do_not_shift_the_parts() -> None:
    parsed = parse(doc("Title\r", "\U00010332 note\r"))
    assert parsed.markdown == "Title\n\n\U00010332 note"


def test_header_is_the_text_of_a_word_file_without_other_text() -> None:
    assert parse(doc("\r")).markdown == "header"


def test_locked_old_and_damaged_word_files_are_refused() -> None:
    with pytest.raises(errors.EncryptedDocumentError, match="password"):
        parse(doc("x\r", flags=0x0300))
    with pytest.raises(errors.UnsupportedTypeError, match="older than 1997") as raised:
        parse(doc("x\r", version=0x65, flags=0x0004))
    assert "soffice" in raised.value.next_step
    good = doc("some text\r")
    for size in (600, 1_500, len(good) - 700):
        with pytest.raises(errors.ScraperError):
            parse(good[:size] + b"WordDocument".decode().encode("utf-16-le") + b"\0\0")


def word_6(text: str, *, flags: int = 0) -> bytes:
    """Build a file of Word 6, whose text is one piece."""
    data = text.encode("cp1251")
    head = bytearray(1_024)
    struct.pack_into("<HH", head, 0, 0xA5DC, 0x65)
    struct.pack_into("<H", head, 10, flags)
    struct.pack_into("<I", head, 0x18, len(head))
    struct.pack_into("<7I", head, 0x34, len(data), 0, 0, 0, 0, 0, 0)
    return compound_file({"WordDocument": bytes(head) + data})


def test_text_of_word_6_is_read_with_a_warning_about_its_characters() -> None:
    parsed = parse(word_6("Паром уходит в полдень.\rA\x07B\x07\x07"))
    assert parsed.markdown.startswith("Паром уходит в полдень.\n\n| A | B |")
    assert any("guessed" in warning for warning in parsed.warnings)


@pytest.mark.parametrize("flags", [0x0100, 0x0004])
def test_locked_files_and_pieces_of_word_6_are_refused(flags: int) -> None:
    with pytest.raises(errors.UnsupportedTypeError, match="older than 1997"):
        parse(word_6("x", flags=flags))


def record(kind: int, content: bytes, *, version: int = 0) -> bytes:
    return struct.pack("<HHI", version, kind, len(content)) + content


def texts(*written: tuple[int, str]) -> bytes:
    return b"".join(
        record(0x0F9F, struct.pack("<I", kind)) + record(0x0FA0, text.encode("utf-16-le")) for kind, text in written
    )


def saved_twice(folder: str = "", **streams: bytes) -> bytes:
    """Build a presentation whose second edit replaced one slide and removed the other.

    `folder` holds its streams; `streams` are others.
    """

    def drawing(text: str) -> bytes:
        return record(0x03EE, record(0x0FA0, text.encode("utf-16-le")), version=0x0F)

    def item(place: int, slide: int) -> bytes:
        return record(0x03F3, struct.pack("<IIiI", place, 0, 0, slide))

    def edit(at: int, document: bytes, objects: Sequence[tuple[int, bytes]], before: int) -> tuple[bytes, int]:
        """Return the records of an edit that begins at this place, and the place of its own record."""
        data, places = b"", b""
        for number, content in [(1, document), *objects]:
            places += struct.pack("<II", number | 1 << 20, at + len(data))
            data += content
        directory = at + len(data)
        data += record(0x1772, places)
        place = at + len(data)
        return data + record(0x0FF5, struct.pack("<IIIIIII", 0, 0, before, directory, 1, 0, 0)), place

    def document(*items: bytes) -> bytes:
        return record(0x03E8, record(0x0FF0, b"".join(items), version=0x0F), version=0x0F)

    first, place = edit(0, document(item(2, 256), item(3, 257)), [(2, drawing("Old")), (3, drawing("Gone"))], 0)
    second, place = edit(len(first), document(item(2, 256)), [(2, drawing("New"))], place)
    user = struct.pack("<HHIII", 0, 0x0FF6, 20, 0x14, 0xE391C05F) + struct.pack("<I", place)
    own = {f"{folder}PowerPoint Document": first + second, f"{folder}Current User": user}
    return compound_file(own | streams, mini=False)


def test_presentation_beside_one_of_powerpoint_95_is_read() -> None:
    assert "New" in parse(saved_twice("PP97_DUALSTORAGE/", Text_Content=b"x", **{"PowerPoint Document": b"x"})).markdown


def test_presentation_of_powerpoint_95_is_refused() -> None:
    with pytest.raises(errors.UnsupportedTypeError, match="older than 1997"):
        parse(compound_file({"PowerPoint Document": b"x", "Text_Content": b"x"}))


def test_only_slides_of_the_last_edit_are_shown() -> None:
    parsed = parse(saved_twice())
    assert (parsed.pages, parsed.markdown) == (1, "<!-- page 1 -->\n\nNew")


def presentation(slides: Sequence[bytes], outline: bytes, notes: bytes) -> bytes:
    document = record(0x03E8, record(0x0FF0, outline, version=0x0F), version=0x0F)
    drawn = b"".join(record(0x03EE, record(0x040C, slide, version=0x0F), version=0x0F) for slide in slides)
    return compound_file({"PowerPoint Document": document + drawn + notes}, mini=False)


def test_presentation_has_titles_texts_and_notes_by_slide() -> None:
    def item(number: int) -> bytes:
        return record(0x03F3, struct.pack("<IIiI", number, 0, 0, 255 + number))

    def note(slide: int, text: str) -> bytes:
        page = record(0x03F1, struct.pack("<II", slide, 0))
        return record(0x03F0, page + texts((2, text)), version=0x0F)

    outline = item(1) + texts((0, "The plan"), (1, "First\rSecond")) + item(2) + texts((0, "The end"))
    notes = note(0, "Click to edit Master text") + note(257, "Say thanks")
    parsed = parse(presentation([texts((4, "In a box"), (4, "*")), record(0x0FA8, b"Plain bytes")], outline, notes))
    assert parsed.pages == 2
    assert parsed.markdown == (
        "<!-- page 1 -->\n\n# The plan\n\nFirst\n\nSecond\n\nIn a box\n\n"
        "<!-- page 2 -->\n\n# The end\n\nPlain bytes\n\nNotes: Say thanks"
    )


def test_presentation_shows_comments_and_counts_inserted_objects() -> None:
    written = ((0, "Ada"), (1, "Which quay?"), (2, "A"))
    comment = b"".join(record(0x0FBA, text.encode("utf-16-le"), version=number << 4) for number, text in written)
    tags = record(0x1388, record(0x138B, record(0x2EE0, comment, version=0x0F)), version=0x0F)
    slide = texts((0, "Plan")) + tags + record(0x0FBA, "ignored".encode("utf-16-le"), version=0x10)
    parsed = parse(presentation([slide], b"", record(0x0FCC, b"", version=0x0F)))
    assert parsed.markdown == "<!-- page 1 -->\n\n# Plan\n\nComment by Ada: Which quay?"
    assert parsed.warnings[1:] == ("Not read: 1 file inside of the document (object 1).",)


def workbook_until_2003(
    rows: Sequence[Sequence[str | float]],
    stream: str = "Workbook",
    embedded: Mapping[str, bytes] | None = None,
    more: Sequence[tuple[int, bytes]] = (),
) -> bytes:
    """Build an Excel file (BIFF8) of one sheet `Tides`, with further streams and further records of the sheet."""

    def part(number: int, content: bytes) -> bytes:
        return struct.pack("<HH", number, len(content)) + content

    def begin(kind: int) -> bytes:
        return part(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0x0DBB, 0x07CC, 0, 6))

    cells = b""
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            place = struct.pack("<HHH", row, column, 0)
            if isinstance(value, str):
                cells += part(0x0204, place + struct.pack("<HB", len(value), 0) + value.encode("latin-1"))
            else:
                cells += part(0x0203, place + struct.pack("<d", value))
    cells += b"".join(part(kind, content) for kind, content in more)
    end, name = part(0x000A, b""), b"Tides"
    start = len(begin(5)) + len(part(0x0085, bytes(8) + name)) + len(end)
    sheet = part(0x0085, struct.pack("<IBBBB", start, 0, 0, len(name), 0) + name)
    return compound_file({**(embedded or {}), stream: begin(5) + sheet + end + begin(0x10) + cells + end})


def test_old_workbook_has_its_sheets_as_tables() -> None:
    parsed = parse(workbook_until_2003([("Town", "Height"), ("Porto", 3.5), ("Cork", 4.25)]))
    assert "Tides" in parsed.markdown
    assert parsed.markdown.endswith("| Town | Height |\n| --- | --- |\n| Porto | 3.5 |\n| Cork | 4.25 |")


def test_comments_of_an_old_workbook_are_read() -> None:
    note = struct.pack("<HHHHHB", 2, 27, 0, 7, 3, 0) + b"Ada"
    records = [
        (0x5D, struct.pack("<HHHH", 0x15, 18, 25, 7)),
        (0x1B6, struct.pack("<HHHHHHHH", 0, 0, 0, 0, 0, 13, 0, 0)),
        (0x3C, b"\0Ada:\nToo "),
        (0x3C, b"\1" + "high".encode("utf-16-le")),
        (0x1C, note),
    ]
    parsed = parse(workbook_until_2003([("Town", 3.5)], more=records))
    assert parsed.markdown.endswith("Comments:\n\n- AB3 (Ada): Too high")


def test_text_boxes_of_an_old_workbook_are_read() -> None:
    records = [
        (0x5D, struct.pack("<HHHH", 0x15, 18, 6, 3)),
        (0x1B6, struct.pack("<HHHHHHHH", 0, 0, 0, 0, 0, 9, 0, 0)),
        (0x3C, b"\0In meters"),
    ]
    assert parse(workbook_until_2003([("Town", 2)], more=records)).markdown.endswith("\n\nIn meters")


def test_locked_old_workbook_is_named_as_such() -> None:
    with pytest.raises(errors.EncryptedDocumentError):
        parse(workbook_until_2003([("Town", 3.5)], more=[(0x2F, bytes(6))]))


def test_embedded_word_file_and_case_of_names_do_not_change_the_format() -> None:
    rows: list[tuple[str, str | float]] = [("Town", "Height"), ("Porto", 3.5)]
    parsed = parse(workbook_until_2003(rows, "WORKBOOK", {"MBD0018/WordDocument": b"x", "MBD0018/1Table": b"x"}))
    assert parsed.format == "xls"
    assert "| Porto | 3.5 |" in parsed.markdown


def test_outlook_message_has_headers_text_and_attached_documents() -> None:
    def text(number: str, value: str) -> dict[str, bytes]:
        return {f"__substg1.0_{number}001F": value.encode("utf-16-le")}

    sent = bytes(32) + struct.pack("<HHIQ", 0x40, 0x0039, 6, 134_000_000_000_000_000)
    attached = "__attach_version1.0_#00000000/"
    streams = {
        "__properties_version1.0": sent,
        **text("0C1A", "Ann"),
        **text("0E04", "Bob; Cid"),
        **text("0037", "The plan"),
        "__substg1.0_10130102": b"<p>See the <b>file</b></p>",
        f"{attached}__substg1.0_3707001F": "plan.pdf".encode("utf-16-le"),
        f"{attached}__substg1.0_37010102": drawn_pdf([text_at(60, 100, "The boat leaves at seven")]),
    }
    parsed = parse(compound_file(streams))
    assert (parsed.format, parsed.title) == ("msg", "The plan")
    assert parsed.markdown.startswith("From: Ann  \nTo: Bob; Cid  \nSubject: The plan  \nDate: 2025-08-18")
    assert "See the **file**" in parsed.markdown
    assert parsed.markdown.endswith("## plan.pdf\n\n(page 1)\n\nThe boat leaves at seven")


@pytest.mark.parametrize("at", range(8, 520, 16))
def test_damaged_compound_file_ends_in_a_text_or_a_typed_error(at: int) -> None:
    good = bytearray(doc("some text\r"))
    good[at : at + 8] = b"\xff\x00\x00\x7f\xfe\xff\x01\x00"
    try:
        parse(bytes(good))
    except errors.ScraperError as error:
        assert str(error)


def test_deleted_and_hidden_text_of_word_is_left_out_and_counted() -> None:
    deleted, hidden = b"\x00\x08\x01", b"\x3c\x08\x01"
    shown = b"\x35\x08\x01\x3c\x08\x00"  # Bold, and not hidden.
    parsed = parse(
        doc("Rent 900 1150 crowns\rSecret\rEnd\r", hidden=[(5, 9, deleted), (10, 13, shown), (21, 28, hidden)])
    )
    assert parsed.markdown == "Rent 1150 crowns\n\nEnd"
    assert parsed.warnings[-1] == "11 characters that are deleted or hidden are left out."
