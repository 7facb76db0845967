"""Contacts and calendars: folded lines and encoded values."""

from __future__ import annotations

from tests.scraper.documents.builders import parse


def test_folded_lines_of_contacts_and_calendars_are_joined_and_values_decoded() -> None:
    calendar = "BEGIN:VCALENDAR\r\nDESCRIPTION:The fer\r\n ry leaves\r\n\t at seven\r\nEND:VCALENDAR\r\n"
    assert "DESCRIPTION:The ferry leaves at seven\n" in parse(calendar.encode(), name="a.ics").markdown
    contact = (
        "BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=\n=B6rg\n"
        "TITLE;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:F=E4hrmann\nNOTE:He sails\n at seven\nEND:VCARD\n"
    )
    newer = "BEGIN:VCARD\nVERSION:4.0\nFN:The fer\n ry\nEND:VCARD\n"
    shown = parse((contact + newer).encode(), name="a.vcf").markdown
    assert "\nFN:The ferry\n" in shown
    assert "\nN:Müller;Jörg\nTITLE:Fährmann\nNOTE:He sails at seven\n" in shown
    photo = "\n ".join(["PHOTO;ENCODING=b;TYPE=JPEG:" + "A" * 40, *["A" * 70] * 20])
    contact = f"BEGIN:VCARD\nVERSION:3.0\nFN:The ferry\n{photo}\nEND:VCARD"
    assert "\nPHOTO;ENCODING=b;TYPE=JPEG:(1,080 bytes)\nEND" in parse(contact.encode(), name="a.vcf").markdown


def test_words_with_indents_outside_of_calendars_are_unchanged() -> None:
    assert "The fer\n ry" in parse(b"To do\nThe fer\n ry\nBEGIN:VCARD", name="a.txt").markdown
