"""Long tags are shortened for the parser's sake; what only looks like a tag is not."""

from __future__ import annotations

from scraper.extract import markup
from scraper.extract.xpath import text_of


def _page(inside: str) -> str:
    picture = f"<img src='data:image/png;base64,{'A' * 20_000}'>"
    return f"<body>{picture}{inside}<p>Read me</p></body>"


def test_a_comparison_in_a_script_swallows_nothing_of_the_page() -> None:
    root = markup.parse(_page(f"<script>if (a<b) {'x ' * 10_000}</script>")).root
    assert root is not None
    assert "Read me" in text_of(root)


def test_a_tag_in_a_comment_swallows_nothing_of_the_page() -> None:
    root = markup.parse(_page(f"<!-- <b {' a' * 10_000} --><p>Before</p>")).root
    assert root is not None
    assert "Before" in text_of(root)
    assert "Read me" in text_of(root)


def test_a_tag_with_too_many_attributes_loses_them_and_nothing_else() -> None:
    root = markup.parse(f"<body><p {' '.join(f'a{n}' for n in range(10_000))}>Kept</p></body>").root
    assert root is not None
    paragraph = root.find(".//p")
    assert paragraph is not None
    assert (paragraph.text, len(paragraph.attrib)) == ("Kept", 0)
