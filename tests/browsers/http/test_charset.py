"""Bytes are decoded to the text that their author wrote, whatever was declared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browsers.http.charset import decode, find_codec
from browsers.http.charset_detection import detect_charset
from tests.scraper.soon import soon
from tests.site.languages import LANGUAGES

SHORT, LONG = 200, 600
HTML = "text/html"
ENCODED = [
    (language.code, language.text, label, codec)
    for language in LANGUAGES.values()
    for label, codec in language.encodings
]
OF_ONE_BYTE_OR_TWO = [case for case in ENCODED if case[2] != "iso-2022-jp"]

ODD_LABELS = ["", "utf-8", "utf-16", "utf-16be", "hz-gb-2312", "iso-2022-kr", "x-user-defined", "macintosh"]
LABELS = [*ODD_LABELS, *sorted({label for language in LANGUAGES.values() for label, _ in language.encodings})]


def document(text: str, meta: str = "") -> str:
    return (
        f"<!doctype html><html><head>{meta}<title>Harbour</title></head><body><nav><a href='/'>Home</a></nav>"
        f"<main><p class='first'>{text}</p></main></body></html>"
    )


META = '<meta http-equiv="Content-Type" content="text/html; charset={}">'


@pytest.mark.parametrize(
    ("meta", "content_type", "is_utf8"),
    [
        pytest.param("", "text/html; charset={}", False, id="declared in the header"),
        pytest.param(META, HTML, False, id="declared in the markup"),
        pytest.param("", HTML, False, id="not declared at all"),
        pytest.param("", "text/html; charset=utf-8", False, id="wrongly declared UTF-8"),
        pytest.param("", "text/html; charset={}", True, id="correct UTF-8, wrongly declared"),
    ],
)
def test_each_encoding_is_decoded(meta: str, content_type: str, is_utf8: bool) -> None:
    wrong = []
    for length in (SHORT, LONG):
        for language, text, label, codec in ENCODED:
            page = document(text[:length], meta.format(label))
            if decode(page.encode("utf-8" if is_utf8 else codec), content_type.format(label)) != page:
                wrong.append((language, label, length))
    assert wrong == []


@pytest.mark.parametrize("language", ["ru", "el", "he", "ar", "th", "zh-Hans", "zh-Hant", "ja", "ko"])
def test_wrong_default_of_old_servers_is_overridden(language: str) -> None:
    text, encodings = LANGUAGES[language].text, LANGUAGES[language].encodings
    page = document(text)
    for _, codec in encodings:
        assert decode(page.encode(codec), "text/html; charset=iso-8859-1") == page, codec


def test_header_takes_precedence_over_markup() -> None:
    page = document(LANGUAGES["ru"].text, '<meta charset="koi8-r">')
    assert decode(page.encode("cp1251"), "text/html; charset=windows-1251") == page


def test_byte_order_mark_takes_precedence() -> None:
    page = document("Причал", '<meta charset="koi8-r">')
    for codec, mark in (("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        assert decode(mark + page.encode(codec), "text/html; charset=windows-1251") == page


def test_utf16_without_a_mark_is_detected_by_its_zeros() -> None:
    page = document("Hafen " + LANGUAGES["ru"].text)
    for codec in ("utf-16-le", "utf-16-be"):
        assert decode(page.encode(codec), HTML) == page


def test_a_declaration_of_utf16_in_readable_markup_means_utf8() -> None:
    page = document("Fährhafen, größer", '<meta charset="utf-16">')
    assert decode(page.encode(), HTML) == page


def test_declaration_in_a_comment_is_ignored() -> None:
    page = document(LANGUAGES["ru"].text, '<!-- <meta charset="koi8-r"> --><meta charset=windows-1251>')
    assert decode(page.encode("cp1251"), HTML) == page


def test_a_declaration_late_in_a_long_head_counts() -> None:
    page = document("Grüße", f'<style>{"a{} " * 1000}</style><meta charset="ibm866">')
    # In IBM 866 these two bytes are Cyrillic: too few to overrule the declared encoding.
    assert "Gr№▀e" not in page
    assert decode(page.encode("latin-1"), HTML) != page
    body_first = page.replace("<style>", "</head><body><style>")
    assert decode(body_first.encode("latin-1"), HTML) == body_first


def test_an_xml_declaration_counts() -> None:
    feed = f'<?xml version="1.0" encoding="windows-1251"?><rss><title>{LANGUAGES["ru"].text[:40]}</title></rss>'
    assert decode(feed.encode("cp1251"), "application/rss+xml") == feed


def test_two_gbk_characters_that_are_valid_utf8_keep_their_declaration() -> None:
    body = "<p>小学</p>".encode("gbk")
    assert body.decode() != "<p>小学</p>", "valid UTF-8 by chance: this is the point"
    assert decode(body, "text/html; charset=gbk") == "<p>小学</p>"


def test_few_foreign_letters_do_not_override_a_declaration() -> None:
    body = "<p>Menu \u0141\xf3d\u017a in an English text</p>"
    assert decode(body.encode("iso8859_2"), "text/html; charset=iso-8859-2") == body


def test_utf8_with_some_bad_bytes_is_utf8_with_some_bad_characters() -> None:
    text = LANGUAGES["ru"].text
    body = text[:300].encode() + b"\xff\xc3\x28" + text[300:].encode()
    decoded = decode(body, "text/html; charset=utf-8")
    assert decoded.startswith(text[:300])
    assert decoded.endswith(text[300:])
    assert decoded.count("\ufffd") == 2


def test_truncated_last_character_is_dropped() -> None:
    body = document(LANGUAGES["zh-Hans"].text).encode()
    for end in range(400, 404):
        assert "\ufffd" not in decode(body[:end], "text/html; charset=utf-8")


def test_last_latin1_letter_is_not_a_truncated_character() -> None:
    assert decode(b"Un caf\xe9", HTML) == "Un café"


def test_one_accented_letter_is_detected_as_western() -> None:
    for text in ("<p>Il est l\xe0.</p>", "<p>sch\xf6n</p>", "<p>Copyright \xa9 2024</p>", "<p>5 \xa3, 20\xb0</p>"):
        assert decode(text.encode("cp1252"), HTML) == text


def test_characters_that_only_browsers_know() -> None:
    assert decode(b"\xad\xa1\xa1\xc1\xf9\xa1\x8e\xb1", "text/plain; charset=euc-jp") == "①～纊ｱ"
    assert decode(b"\xa3\xe1 \xf9\xd6", "text/plain; charset=big5") == "€ 碁"
    assert decode("嘅嚟".encode("big5hkscs"), "text/plain; charset=big5") == "嘅嚟"
    assert decode(b"\x93quoted\x94", "text/plain; charset=iso-8859-1") == "“quoted”"
    assert decode("镕".encode("gbk"), "text/plain; charset=gb2312") == "镕"


@pytest.mark.parametrize(
    "content_type",
    [
        'text/html; charset="windows-1251"',
        "text/html;charset=Windows-1251",
        "text/html; Charset = cp1251 ; x=y",
        "text/html; charset='windows-1251'",
    ],
)
def test_headers_are_read_however_they_are_written(content_type: str) -> None:
    text = "Мало"
    assert decode(text.encode("cp1251"), content_type) == text


def test_unknown_label_is_ignored() -> None:
    page = document(LANGUAGES["ru"].text)
    assert decode(page.encode("cp1251"), "text/html; charset=none-such") == page
    assert find_codec("none-such") is None
    assert find_codec("rot13") is None, "a Python codec, but no encoding of the web"


def test_decoded_text_has_no_invalid_characters() -> None:
    for content_type in (HTML, "text/html; charset=utf-8", "text/html; charset=utf-16", "text/html; charset=gbk"):
        text = decode(b"a\0b \xed\xa0\x80 \xff\xfe c\x00d", content_type)
        assert "\0" not in text
        text.encode()


@given(body=st.binary(max_size=300), label=st.sampled_from(LABELS))
def test_any_bytes_are_decoded(body: bytes, label: str) -> None:
    text = decode(body, f"text/html; charset={label}" if label else HTML)
    assert "\0" not in text
    text.encode()


def test_hostile_bodies_take_no_longer_than_normal_ones() -> None:
    bodies = (
        b"<meta charset=" + b" " * 200_000 + b"\xe9",
        b"<meta " * 40_000 + b"\xe9",
        b"<!--" * 50_000 + b"\xe9",
        b"<?xml" + b" encoding=" * 20_000 + b"\xe9",
        b"charset" * 30_000 + b"\xe9",
        b"\xe9<" * 500_000,
        b"\xe9 " * 500_000,
        bytes(range(128, 256)) * 8_000,
        b"a" * 1_000_000 + b"\xe9",
        b"\x81" * 1_000_000,
        b"\xff" * 16_000_000,
    )
    with soon(10):  # each is a matter of milliseconds unless something is quadratic
        for body in bodies:
            decode(body, HTML)
            decode(body, "text/html; charset=gbk")
            decode(body, "text/html; charset=euc-jp")
        decode(b"x", "text/html; charset" + " " * 200_000 + "x")


def test_detection_ignores_ascii_scripts() -> None:
    around = "<script>" + "var a = {b: 'c'}; " * 3000 + "</script><style>.a:before{content:'\u00d7'}</style>"
    wrong = []
    for language, text, label, codec in OF_ONE_BYTE_OR_TWO:
        page = (document(around) + document(text)).encode(codec, "xmlcharrefreplace")
        if page.decode(detect_charset(page).codec) != page.decode(codec):
            wrong.append((language, label))
    assert wrong == []


def test_bytes_without_the_letters_of_any_language_are_western() -> None:
    body = b"a\xa4b\xa4c\xb1d\xa6e " * 10
    assert detect_charset(body).codec == "cp1252"


@pytest.mark.parametrize(
    "text", ["Tower öäü Tower", "äöüß", "Åsa Öberg, Malmö", "ÆØÅ æøå", "più è così", "Umlaute: äöü ÄÖÜ ß"]
)
def test_short_western_text_is_not_read_in_another_script(text: str) -> None:
    assert decode(text.encode("cp1252"), "text/plain") == text


@pytest.mark.parametrize("text", ["Привет", "Body автоматически Body", "Мир", "Москва"])
def test_short_cyrillic_text_is_not_read_as_western(text: str) -> None:
    assert decode(text.encode("cp1251"), "text/plain") == text
