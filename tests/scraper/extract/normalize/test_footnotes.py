"""Footnotes in every common markup."""

from __future__ import annotations

import pytest

from scraper.extract.normalize.footnotes import extract_footnotes
from scraper.html.dom.parsing import Element, parse_html
from tests.growth import assert_linear
from tests.scraper.extract.conversion import converted, markdown_of
from tests.scraper.extract.snapshots import read

EXPECTED = "One.[^1] Two.[^2]\n\n[^1]: First *note*.\n\n[^2]: Second note."


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(
            "<p>One.<sup id=r1><a href='#fn1'>1</a></sup> Two.<sup id=r2><a href='#fn2'>2</a></sup></p><hr>"
            "<ol><li id=fn1><p>First <em>note</em>. <a href='#r1'>↩</a></p></li>"
            "<li id=fn2><p>Second note. <a href='#r2'>↩︎</a></p></li></ol>",
            id="a list behind a rule",
        ),
        pytest.param(
            "<p>One.<a href='#note-a'><sup>1</sup></a> Two.<a href='#note-b'><sup>2</sup></a></p>"
            "<p><a name='note-a'></a>1. First <em>note</em>.</p><p><a name='note-b'></a>2. Second note.</p>",
            id="named anchors",
        ),
        pytest.param(
            "<p>One.<a href='#one'><sup>1</sup></a> Two.<a href='#two'><sup>2</sup></a></p><hr>"
            "<p><a name=one><sup>1</sup></a> First <em>note</em>. <a href='#'>↩</a><br><br>"
            "<a name=two><sup>2</sup></a> Second note. <a href='#'>↩</a></p>",
            id="notes parted by line breaks",
        ),
        pytest.param(
            "<p>One.<sup>1</sup> Two.<sup>2</sup></p><hr><p><sup>1</sup> First <em>note</em>.</p>"
            "<p><strong>2</strong> Second note.</p>",
            id="no links, behind a rule",
        ),
        pytest.param(
            "<p>One.<sup>1</sup> Two.<sup>2</sup></p>"
            "<p class=footnote><sup>1</sup>First <em>note</em>.</p>"
            "<p class=footnote><sup>2</sup>Second note.</p>",
            id="no links, called so",
        ),
        pytest.param(
            "<p>One.<sup>1</sup> Two.<sup>2</sup></p><aside><ol><li>First <em>note</em>.</li>"
            "<li>Second note.</li></ol></aside>",
            id="a list alone in an aside",
        ),
        pytest.param(
            "<p>One.<sup class=footnoteref><a id='footnoteref-1' href='javascript:;'>1</a></sup> "
            "Two.<sup class=footnoteref><a id='footnoteref-2' href='javascript:;'>2</a></sup></p>"
            "<div id='footnote-1'><a href='javascript:;'>1</a>. First <em>note</em>.</div>"
            "<div id='footnote-2'><a href='javascript:;'>2</a>. Second note.</div>",
            id="links that only scripts follow",
        ),
        pytest.param(
            "<p>One.<sup><a href='#_ftn1'>[1]</a></sup> Two.<sup><a href='#_ftn2'>[2]</a></sup></p><hr>"
            "<p><sup><a href='//X#_ftnref1'>[1]</a> </sup>First <em>note</em>.</p>"
            "<p><sup><a href='//X#_ftnref2'>[2]</a> </sup>Second note.</p>",
            id="a word processor, without names",
        ),
        pytest.param(
            "<p>One.<label for=s1 class=sidenote-number></label><input type=checkbox id=s1>"
            "<span class=sidenote>First <em>note</em>.</span> "
            "Two.<label for=s2 class=sidenote-number></label><input type=checkbox id=s2>"
            "<span class=sidenote>Second note.</span></p>",
            id="notes in the margin",
        ),
        pytest.param(
            "<p>One.<sup class=x><a id=b1 href='#f1'>1</a></sup>"
            "<span class=sidenote>1. First <em>note</em>.</span> "
            "Two.<sup class=x><a id=b2 href='#f2'>2</a></sup><span class=sidenote>2. Second note.</span></p>"
            "<div class=footnote-definition><sup id=f1><a href='#b1'>1</a></sup>"
            "<div><p>First <em>note</em>.</p></div></div>"
            "<div class=footnote-definition><sup id=f2><a href='#b2'>2</a></sup>"
            "<div><p>Second note.</p></div></div>",
            id="in the margin and at the end",
        ),
        pytest.param(
            "<p>One.<sup id=cite_ref-1><a href='#cite_note-1'>[1]</a></sup> "
            "Two.<sup id=cite_ref-2><a href='#cite_note-2'>[2]</a></sup></p>"
            "<ol><li id=cite_note-1><b><a href='#cite_ref-1'>^</a></b> First <em>note</em>.</li>"
            "<li id=cite_note-2>^ <a href='#cite_ref-2'>a</a> Second note.</li></ol>",
            id="an encyclopedia",
        ),
        pytest.param(
            "<p>One.<sup><a href='#d1'>1</a></sup> Two.<sup><a href='#d2'>2</a></sup></p>"
            "<dl><dt id=d1>1</dt><dd>First <em>note</em>.</dd><dt id=d2>2</dt><dd>Second note.</dd></dl>",
            id="terms and descriptions",
        ),
        pytest.param(
            "<p>One.<a id=r1 href=#d1><sup>1</sup></a> Two.<a id=r2 href=#d2><sup>2</sup></a></p>"
            "<h5><a id=d1 href=#r1>(1)</a></h5><p>First <em>note</em>.</p><h5><a id=d2 href=#r2>(2)</a></h5>"
            "<p>Second note.</p>",
            id="numbers as headings",
        ),
    ],
)
def test_footnotes_of_any_markup_give_the_same_markdown(html: str) -> None:
    assert markdown_of(html) == EXPECTED


def test_notes_are_at_the_end_in_the_order_of_their_marks() -> None:
    html = (
        "<p>a<sup>1</sup></p><p class=footnote><sup>1</sup> x</p><h2>Next</h2><p>b<sup>2</sup></p>"
        "<p class=footnote><sup>2</sup> y</p><p>c</p>"
    )
    assert markdown_of(html) == "a[^1]\n\n## Next\n\nb[^2]\n\nc\n\n[^1]: x\n\n[^2]: y"


def test_a_note_of_several_blocks_is_indented() -> None:
    note = "<p>x</p><ul><li>y</li></ul><pre>z\n  w</pre>"
    html = f"<p>a<sup><a href='#n'>1</a></sup></p><ol><li id=n>{note}</li></ol>"
    assert markdown_of(html) == "a[^1]\n\n[^1]: x\n\n    - y\n\n    ```\n    z\n      w\n    ```"


def test_one_note_may_have_several_marks() -> None:
    html = "<p>a<sup><a href='#n'>1</a></sup> b<sup><a href='#n'>1</a></sup></p><p id=n>1. x</p>"
    assert markdown_of(html) == "a[^1] b[^1]\n\n[^1]: x"


def test_two_notes_with_equal_labels_get_different_ones() -> None:
    html = (
        "<p>a<sup><a href='#m'>*</a></sup> b<sup><a href='#n'>*</a></sup> c<sup><a href='#o'>2</a></sup></p>"
        "<p id=m>* x</p><p id=n>* y</p><p id=o>2 z</p>"
    )
    assert markdown_of(html) == "a[^1] b[^3] c[^2]\n\n[^1]: x\n\n[^3]: y\n\n[^2]: z"


@pytest.mark.parametrize(
    "html",
    [
        "<p>The 2<sup>nd</sup> of x<sup>2</sup></p><ol><li>a</li><li>b</li></ol>",
        "<p>See <a href='#part'>3</a></p><section id=part><h2>Three</h2><p>x</p></section>",
        "<p>m<sup>2</sup></p><hr><p>2 rooms</p>",
        "<p>m<sup>2</sup></p><h2>Notes</h2><ol><li>a</li><li>b</li></ol>",
        "<p>m<sup>1</sup></p><h2>Steps</h2><ol><li>a</li></ol>",
        "<p><span class=footnote>A paragraph of small print.</span></p>",
        "<p>Word <span class=footnote>note 1</span></p>",
        "<ul><li><a href='#a'>1</a></li></ul><p id=a>Part one of it.</p>",
    ],
)
def test_powers_and_section_links_are_not_footnotes(html: str) -> None:
    assert "[^" not in markdown_of(html)


@pytest.mark.parametrize(
    "note",
    [
        "<span class=footnote>The text of the note.</span>",
        "<sup class=footnote-ref>1<span class=footnote-text>The text of the note.</span></sup>",
        "<span class=footnote-ref>[1] <span class='x inline-footnote'>The text of the note.</span></span>",
    ],
)
def test_a_note_inside_its_sentence_is_moved_to_the_end(note: str) -> None:
    html = f"<p>One{note} goes on <em>here</em>{note.replace('1', '2').replace('The', 'Second')}.</p>"
    assert markdown_of(html) == (
        "One[^1] goes on *here*[^2].\n\n[^1]: The text of the note.\n\n[^2]: Second text of the note."
    )


def test_labels_for_many_notes_are_found_soon() -> None:
    def make(count: int) -> str:
        marks = "".join(f"<p>a<sup><a href='#n{at}'>*</a></sup></p>" for at in range(count))
        return marks + "".join(f"<p id=n{at}>* x</p>" for at in range(count))

    assert_linear(_extract_notes, make, 1_000)
    assert [note.get("label") for note in _extract_notes(make(3))] == ["1", "2", "3"]


def _extract_notes(html: str) -> list[Element]:
    root = parse_html(html).root
    assert root is not None
    return extract_footnotes(root)


def test_a_note_whose_mark_was_removed_is_dropped() -> None:
    assert markdown_of("<p>a</p><ol><li id=fn1>note</li></ol>") == "a\n\n1. note"


def test_the_plain_text_has_the_marks_and_the_notes() -> None:
    text = converted("<p>a<sup><a href='#n'>1</a></sup></p><p id=n>1. x</p>").text
    assert text == "a[^1]\n[^1]: x"


def test_the_reader_keeps_notes_outside_of_the_content() -> None:
    words = "<p>These are words that a person came to this page to read and that fill it up.</p>" * 12
    html = (
        f"<body><article>{words}<p>Claim.<sup>1</sup></p></article>"
        "<div><h4>Footnotes</h4><ol><li id='footnote-1'>The source of it.</li></ol></div></body>"
    )
    assert read(html).markdown.endswith("[^1]: The source of it.")


def test_back_links_do_not_split_the_paragraph_of_their_marks() -> None:
    html = (
        "<p>One<sup id=r1><a href='#n1'>1</a></sup> two<sup id=r2><a href='#n2'>2</a></sup> three.</p>"
        "<p id=n1><a href='#r1'>1</a>. First.</p><p id=n2><a href='#r2'>2</a>. Second.</p>"
    )
    assert markdown_of(html) == "One[^1] two[^2] three.\n\n[^1]: First.\n\n[^2]: Second."


def test_the_number_of_a_note_may_be_the_target() -> None:
    html = (
        "<p>One<a class=footnote-anchor id=footnote-anchor-1 href='#footnote-1'>1</a> two.</p>"
        "<div><a id=footnote-1 href='#footnote-anchor-1'>1</a><div><p>First.</p></div></div>"
    )
    assert markdown_of(html) == "One[^1] two.\n\n[^1]: First."


def test_text_before_its_mark_is_not_a_note() -> None:
    html = "<p id=note1>1. The rule.</p><p>See the rule<sup><a href='#note1'>1</a></sup> above.</p>"
    assert "[^1]:" not in markdown_of(html)


def test_a_section_with_headings_is_not_a_note() -> None:
    html = "<p>See<sup><a href='#note1'>1</a></sup></p><div id=note1><h3>Part</h3><p>One.</p></div>"
    assert "[^1]" not in markdown_of(html)
