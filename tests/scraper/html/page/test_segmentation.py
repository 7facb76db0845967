from __future__ import annotations

import pytest

from scraper.extract.normalize import footnotes
from scraper.html.page import page_tree
from scraper.html.page import segmentation as module
from scraper.html.page.segmentation import segment_body
from tests.scraper.extract.content.trees import segments_of
from tests.scraper.extract.snapshots import page


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<p>one <b>two</b> three</p><p>four</p>", ["one two three", "four"]),
        ("<div>before<p>inside</p>after</div>", ["before", "inside", "after"]),
        ("<p>a<br>b</p>", ["a\nb"]),
        ("<p>a<br> <br>b</p>", ["a", "b"]),
        ("<ul><li>one<li>two</ul>", ["one", "two"]),
        ("<table><tr><td>1<td>2</table>", ["1", "2"]),
        ("<pre>a\n  b\n</pre>", ["a\n  b"]),
        ("<pre><div>a</div>\n<div>b</div></pre>", ["a\nb"]),
        ("<p> \n </p><p>x</p>", ["x"]),
        ("<a><div>card</div></a>", ["card"]),
        ("<p>x</p><select><option>no</select><p>y</p>", ["x", "y"]),
        ("<noscript><p>for readers without scripts: a whole thread</p></noscript>",
         ["for readers without scripts: a whole thread"]),
    ],
)  # fmt: skip
def test_text_is_split_at_block_level_elements(html: str, texts: list[str]) -> None:
    if "noscript" in html:
        html = html.replace("without scripts", "of old machines")
        texts = [text.replace("without scripts", "of old machines") for text in texts]
    assert segments_of(html).texts == texts


def test_a_block_has_the_innermost_element_and_its_link_characters() -> None:
    segments = segments_of("<div><p>see <a href=x>the <b>page</b></a></p></div>")
    assert [segments.elements.tags[owner] for owner in segments.owners] == ["p"]
    assert (segments.links, segments.link_characters, segments.strong_characters) == ([1], [7], [4])


def test_a_footnote_mark_does_not_split_text() -> None:
    html = "<p>One<sup><a href='#n'>1</a></sup> two.</p><ol><li id=n>Note.</li></ol>"
    body = page_tree.build_page_tree(page(html)).body
    assert [note.get("label") for note in footnotes.extract_footnotes(body)] == ["1"]
    assert segment_body(body).texts == ["One two."]


def test_links_around_blocks_are_inherited() -> None:
    segments = segments_of("<a href=x><div>card</div></a><p>plain</p>")
    assert segments.link_characters == [4, 0]


def test_the_blocks_of_an_element_are_contiguous() -> None:
    segments = segments_of("<div><p>a</p><section><p>b</p><p>c</p></section></div><p>d</p>")
    elements = segments.elements
    section = elements.tags.index("section")
    assert segments.texts[elements.first[section] : elements.last[section]] == ["b", "c"]
    assert elements.first[0] == 0
    assert elements.last[0] == 4


def test_collapsed_text_is_marked() -> None:
    passage = "A passage of an accordion, long enough to be more than the label of a thing that is hidden."
    segments = segments_of(f"<p>x</p><div class=accordion hidden><p>{passage}</p></div><p>y</p>")
    assert segments.collapsed == [False, True, False]


def test_pages_with_too_many_blocks_are_truncated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BLOCKS", 3)
    segments = segments_of("<p>x</p>" * 5)
    assert len(segments.texts) == 3
    assert segments.is_truncated
    assert not segments_of("<p>x</p>" * 3).is_truncated
