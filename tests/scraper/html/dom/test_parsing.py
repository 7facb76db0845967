"""Tags too long for the parser are shortened; text that only looks like a tag is unchanged."""

from __future__ import annotations

import pytest

from scraper.html.dom import parsing
from scraper.html.dom.parsing import text_of


def _page(inside: str) -> str:
    picture = f"<img src='data:image/png;base64,{'A' * 20_000}'>"
    return f"<body>{picture}{inside}<p>Read me</p></body>"


def test_a_comparison_in_a_script_removes_no_content() -> None:
    root = parsing.parse_html(_page(f"<script>if (a<b) {'x ' * 10_000}</script>")).root
    assert root is not None
    assert "Read me" in text_of(root)


def test_a_tag_in_a_comment_removes_no_content() -> None:
    root = parsing.parse_html(_page(f"<!-- <b {' a' * 10_000} --><p>Before</p>")).root
    assert root is not None
    assert "Before" in text_of(root)
    assert "Read me" in text_of(root)


def test_a_tag_with_too_many_attributes_only_loses_these() -> None:
    root = parsing.parse_html(f"<body><p {' '.join(f'a{n}' for n in range(10_000))}>Kept</p></body>").root
    assert root is not None
    paragraph = root.find(".//p")
    assert paragraph is not None
    assert (paragraph.text, len(paragraph.attrib)) == ("Kept", 0)


def test_illegal_characters_are_removed_in_every_notation() -> None:
    spelled = "&#1;&#x1F;&#11;&#xc;&#65534;&#xFFFF;\ufffe\x0b"
    root = parsing.parse_html(f"<body><p>a<b>gone</b>{spelled}b &#65;&#x1f600;&#13;</p></body>").root
    assert root is not None
    bold = root.find(".//b")
    assert bold is not None
    parsing.remove(bold)
    assert text_of(root) == "ab A\U0001f600\r"


@pytest.mark.parametrize("tag", ["title-x", "style-box", "script-host", "title", "b"])
def test_a_page_nested_too_deeply_keeps_its_text(tag: str) -> None:
    root = parsing.parse_html(f"<body>{f'<{tag}>' * 3_000}The words<p>end of page</p>").root
    assert root is not None
    assert "The words" in text_of(root) and "end of page" in text_of(root)


def test_a_page_nested_too_deeply_keeps_what_its_head_declares() -> None:
    head = "<title>Harbor</title><meta name=description content=Ferries><link rel=canonical href=/harbor>"
    root = parsing.parse_html(f"<html lang=de><head>{head}</head><body>{'<div>' * 3_000}The words").root
    assert root is not None and root.get("lang") == "de"
    assert root.findtext(".//title") == "Harbor"
    assert [next(root.iter("meta")).get("content"), next(root.iter("link")).get("href")] == ["Ferries", "/harbor"]
    assert "The words" in text_of(root)


def test_deep_elements_with_form_feeds_are_flattened() -> None:
    root = parsing.parse_html("<body>" + "<div>" * (parsing.MAX_DEPTH + 5) + "one\ftwo <b>three</b>").root
    assert root is not None and parsing.flatten_deep_elements(root)
    assert "one two three" in " ".join(text_of(root).split())


def test_entities_and_character_data_of_xhtml_are_text() -> None:
    page = (
        '<?xml version="1.0"?><!DOCTYPE html [ <!ENTITY port "Port of Sund"> ]><html><head><script>//<![CDATA[\n'
        "if (1 < 2 && 3 > 2) {}\n//]]></script></head><body><p>&port;</p><p><![CDATA[0 < 1 & 4 > 3]]></p></body></html>"
    )
    root = parsing.parse_html(page).root
    assert root is not None
    assert [paragraph.text for paragraph in root.iter("p")] == ["Port of Sund", "0 < 1 & 4 > 3"]
    assert "1 < 2 && 3" in (next(root.iter("script")).text or "")
