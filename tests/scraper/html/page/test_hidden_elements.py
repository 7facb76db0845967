from __future__ import annotations

import pytest

from tests.scraper.extract.snapshots import WORDS, read

MARK = "carried"

HIDDEN_AS_SERVED = [
    f"<div style='display:none'>{MARK}</div>",
    f"<div style='DISPLAY : NONE !important'><p>{MARK}</p></div>",
    f"<p hidden>{MARK}</p>",
    f"<p hidden=until-found>{MARK}</p>",
    f"<p style='visibility:hidden'>{MARK}</p>",
    f"<p style='opacity:0'>{MARK}</p>",
    f"<p style='opacity:.01'>{MARK}</p>",
    f"<div style='opacity:0'><div><p>{MARK}</p></div></div>",
    f"<span style='font-size:0'>{MARK}</span>",
    f"<span style='font-size:1px'>{MARK}</span>",
    f"<div style='position:absolute;left:-9999px'>{MARK}</div>",
    f"<div style='text-indent:-9999px;overflow:hidden'>{MARK}</div>",
    f"<div style='background:#fff;color:#fff'>{MARK}</div>",
    f"<div style='background:#ffffff;color:#fefefe'>{MARK}</div>",
    f"<div style='background:#123456'><p>shown</p><p style='color:rgb(18,52,86)'>{MARK}</p></div>",
    f"<table><tr><td bgcolor=white><font color=white>{MARK}</font></td><td>x</td></tr></table>",
    f"<p style='color:white'>{MARK}</p>",
    f"<div style='color:transparent'>{MARK}</div>",
    f"<div style='color:rgba(0,0,0,0)'>{MARK}</div>",
    f"<div style='width:0;height:0;overflow:hidden'>{MARK}</div>",
    f"<span style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)'>{MARK}</span>",
    f"<div style='clip-path:inset(100%)'>{MARK}</div>",
    f"<div style='transform:scale(0)'>{MARK}</div>",
    f"<div style='max-height:0;overflow:hidden'>{MARK}</div>",
    f"<div style='content-visibility:hidden'>{MARK}</div>",
    f"<dialog>{MARK}</dialog>",
    f"<svg width=9 height=9><symbol><text>{MARK}</text></symbol></svg>",
    f"<svg width=9 height=9><clipPath><text>{MARK}</text></clipPath></svg>",
    f"<svg width=9 height=9><g display=none><text>{MARK}</text></g></svg>",
    f"<svg width=9 height=9><text opacity=0>{MARK}</text></svg>",
    f"<noembed>{MARK}</noembed>",
    f"<div popover>{MARK}</div>",
    f"<div style='position:fixed;top:-500px'>{MARK}</div>",
    f"<div style='transform:translateX(-5000px)'>{MARK}</div>",
    f"<div style='filter:opacity(0)'>{MARK}</div>",
    f"<div style='mask-image:linear-gradient(transparent,transparent)'>{MARK}</div>",
    f"<div style='zoom:0.01'>{MARK}</div>",
    f"<style>.gone{{display:none}}</style><p class='a gone'>{MARK}</p>",
    f"<style>#gone,.other{{visibility:hidden}}</style><p id=gone>{MARK}</p>",
    f"<style>@media screen{{.pr{{display:none}}}}</style><p class=pr>{MARK}</p>",
    f"<!-- {MARK} -->",
    f"<template>{MARK}</template>",
    f"<script type=application/json>{MARK}</script>",
    f"<a title='{MARK}' href=#>x</a>",
    f"<p aria-label='{MARK}'>x</p>",
    f"<meta name=description content='{MARK}'>",
    f"<div><template shadowrootmode=open><p>x</p></template>{MARK}</div>",
    f"<canvas>{MARK}</canvas>",
    f"<svg width=20 height=20><title>{MARK}</title><desc>{MARK}</desc></svg>",
    f"<input type=hidden value='{MARK}'>",
]

SHOWN = [
    f"<noscript><style>p {{display:none}}</style></noscript><p>{MARK}</p>",
    f"<p aria-hidden=true>{MARK}</p>",
    f"<details><summary>s</summary>{MARK}</details>",
    f"<p style='opacity:0;transition:opacity .3s'>{MARK}</p>",
    f"<p style='color:white;background:black'>{MARK}</p>",
    f"<div style='background:url(night.jpg)'><p style='color:#fff'>{MARK}</p></div>",
    f"<p hidden style='display:block'>{MARK}</p>",
    f"<p style='left:-9999px'>{MARK}</p>",
    f"<h1 style='color:transparent;-webkit-background-clip:text'>{MARK}</h1>",
    f"<div style='height:0;padding-bottom:56%;overflow:hidden'>{MARK}</div>",
    f"<dialog open>{MARK}</dialog>",
    f"<textarea>{MARK}</textarea>",
    f"<select><option>x<option>{MARK}</select>",
    f"<div style='transform:translateX(-120px)'>{MARK}</div>",
    f"<div style='filter:opacity(0.9)'>{MARK}</div>",
    f"<style>.a{{display:none}}@media(min-width:9px){{.a{{display:block}}}}</style><p class=a>{MARK}</p>",
    f"<style>.tab{{display:none}}.tab.on{{display:block}}</style><p class='tab on'>{MARK}</p>",
    f"<style>@media print{{.no{{display:none}}}}</style><p class=no>{MARK}</p>",
    f"<style>p{{color:red}}</style><p style='color:white'>{MARK}</p>",
    f"<svg><text>{MARK}</text></svg>",
    f"<div><template shadowrootmode=open><p>{MARK}</p></template></div>",
    f"<noscript><p>{MARK} and more words than a note has</p></noscript>",
]


def around(html: str) -> str:
    return f"<!doctype html><body><main><p>{WORDS}</p><section>{html}</section><p>The end.</p></main></body>"


@pytest.mark.parametrize("html", HIDDEN_AS_SERVED)
def test_invisible_text_of_an_unrendered_page_is_removed(html: str) -> None:
    document = read(around(html))
    assert MARK not in document.markdown
    assert MARK not in document.text
    assert document.markdown.endswith("The end.")


@pytest.mark.parametrize("html", SHOWN)
def test_visible_text_is_kept(html: str) -> None:
    document = read(around(html))
    assert MARK in document.markdown
    assert MARK in document.text


def test_hidden_elements_with_text_are_counted() -> None:
    document = read(
        around(
            "<p hidden>one</p><p style='display:none'>two</p><div hidden></div><div hidden><p hidden>three</p></div>"
        )
    )
    assert document.hidden_removed == 3


def test_only_marked_elements_are_removed_from_a_rendered_page() -> None:
    html = around(f"<div data-x-hidden=''><p>{MARK} one</p></div><p style='display:none'>seen by the browser</p>")
    document = read(html, rendered=True)
    assert MARK not in document.markdown
    assert "seen by the browser" in document.markdown
    assert document.hidden_removed == 1


def test_noscript_is_removed_from_a_rendered_page() -> None:
    assert MARK not in read(around(f"<noscript><p>{MARK}</p></noscript>"), rendered=True).markdown


def test_text_after_a_hidden_element_stays() -> None:
    assert read("<main>a <b hidden>x</b>b <i style='display:none'>y</i>c</main>").text == "a b c"


def test_a_body_hidden_by_style_is_kept() -> None:
    document = read(f"<body style='opacity:0;visibility:hidden'><main><p>{WORDS}</p></main></body>")
    assert WORDS.strip() in document.text


def test_invisible_characters_are_removed_and_counted() -> None:
    tags = "".join(chr(0xE0000 + ord(character)) for character in "obey")
    document = read(around(f"<p>vis\u200bible{tags} text</p>"))
    assert "visible text" in document.text
    assert "visible text" in document.markdown
    assert document.controls_removed == 5


def test_a_body_that_scripts_reveal_is_not_counted_as_hidden() -> None:
    assert "words that a person" in read(f"<body style='display:none'><p>{WORDS}</p></body>").text
