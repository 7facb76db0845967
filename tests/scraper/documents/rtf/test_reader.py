"""RTF: control words, and parts that are not text."""

from __future__ import annotations

import pytest

from scraper import errors
from tests.scraper.documents.builders import parse

FONTS = (
    rb"{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204 Times;}{\f2\fcharset128 Gothic;}{\f3 Courier New;}}"
    rb"{\stylesheet{\s0 Normal;}{\s1 heading 1;}{\s2 heading 2;}{\s9 Title;}}"
)


def text(body: bytes) -> str:
    """Return the Markdown of an RTF body."""
    return parse(rb"{\rtf1\ansi\ansicpg1252" + FONTS + body + b"}").markdown


def test_headings_are_one_level_below_the_title() -> None:
    assert text(rb"\pard\s9 Log\par\pard\s1 {\b One}\par\pard Words\par\pard\outlinelevel1 Two\par") == (
        "# Log\n\n## One\n\nWords\n\n### Two"
    )


def test_formats_end_with_their_group_and_hidden_text_is_omitted() -> None:
    body = rb"a {\b bold {\i both}} {\strike gone}{\v secret} \v hidden\v0 {\deleted never}b\line c\par"
    assert text(body) == "a **bold *both*** ~~gone~~ b  \nc"


def test_text_is_decoded_by_font_and_unicode_fallbacks_are_skipped() -> None:
    body = rb"caf\'e9 \u8364?\u-10179?\u-8704? {\uc2\u26085\'93\'fax} {\f1 \'cc\'e8\'f0}"
    assert text(body + rb" {\f2 \'93\'fa\'96\'7b}\par") == "café €😀 日x Мир 日本"


def test_unknown_encoding_is_read_as_western_european() -> None:
    assert parse(rb"{\rtf1\ansi\ansicpg125 caf\'e9}").markdown == "café"


def test_lists_nest_by_their_levels() -> None:
    item = b"\\pard{\\listtext\\pard %s\\tab}\\ls1\\ilvl%d %s\\par"
    items = ((b"1.", 0, b"one"), (b"\\u8226?", 1, b"inner"), (b"a)", 1, b"lettered"), (b"2.", 0, b"two"))
    assert text(b"".join(item % one for one in items)) == ("1. one\n\n   - inner\n   - a) lettered\n2. two")
    assert text(item % (b"\\u9745?", 0, b"done")) == "- [x] done"


def test_cells_preserve_paragraphs_and_merged_cells_repeat_their_text() -> None:
    row = b"\\trowd%s\\pard\\intbl %s\\cell %s\\cell\\row"
    plain, above, left = b"\\cellx1\\cellx2", b"\\clvmrg\\cellx1\\cellx2", b"\\cellx1\\clmrg\\cellx2"
    rows = row % (plain, b"a", b"b\\par\\intbl more") + row % (plain, b"tall", b"c") + row % (above, b"", b"d")
    assert text(rows + row % (left, b"wide", b"") + b"\\pard after\\par") == (
        "| a | b more |\n| --- | --- |\n| tall | c |\n| tall | d |\n| wide | wide |\n\nafter"
    )


def test_links_notes_and_comments_are_preserved() -> None:
    link = rb'{\field{\*\fldinst{ HYPERLINK "https://a.example/" }}{\fldrslt{\ul there}}}'
    note = rb"{\footnote\pard See {\i below}.}"
    comment = rb"{\*\atnid A}{\*\atnauthor Ann}\chatn{\*\annotation\pard Is it so?}"
    assert text(b"Go " + link + note + b" now" + comment + rb"\par") == (
        "Go [there](https://a.example/)[^1] now[^comment-1]\n\n[^1]: See *below*.\n\n[^comment-1]: Ann: Is it so?"
    )


def test_links_outside_of_the_web_become_text() -> None:
    link = rb'{\field{\*\fldinst HYPERLINK "javascript:alert(1)"}{\fldrslt click}}'
    assert text(link + rb"\par") == "click"


def test_code_preserves_its_lines() -> None:
    assert text(rb"\pard{\f3 if x:\line\~\~run(x)}\par\pard{\f3 end()}\par") == "```\nif x:\n  run(x)\nend()\n```"


def test_pictures_margins_and_private_data_are_omitted() -> None:
    body = rb"a{\pict\pngblip 89504e47}{\header no}{\*\unknown no}{\object{\*\objdata 00}} b"
    assert text(body + rb"{\pict\bin3 {}}}c\par") == "a bc"
    assert parse(rb"{\rtf1{\info{\title Log}{\author Ann}{\operator Bo}}x}").title == "Log"


@pytest.mark.parametrize("body", [b"{" * 50_000 + b"deep" + b"}" * 50_000, b"deep" + b"}" * 50_000, b"deep{" * 3])
def test_unclosed_braces_are_limited(body: bytes) -> None:
    assert parse(b"{\\rtf1 " + body).markdown.startswith("deep")


def test_headers_and_footers_are_the_text_of_a_file_without_other_text() -> None:
    assert text(rb"{\header {\b Tide table}\par}\pard\par{\footerf Page one\par}") == "**Tide table**\n\nPage one"


def test_file_without_text_raises_no_content() -> None:
    with pytest.raises(errors.NoContentError):
        parse(b"{\\rtf1{\\pict 00}}")


def test_star_inside_of_a_group_hides_nothing() -> None:
    assert text(rb"\pard{\f0\*\cs7\cf0 The ferry leaves.}{\*\unknown Gone}\par") == "The ferry leaves."
