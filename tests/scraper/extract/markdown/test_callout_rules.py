"""Callouts in the markup of documentation generators."""

from __future__ import annotations

import pytest

from scraper.extract.markdown.block_rules import MAX_INDENTS
from tests.scraper.extract.conversion import markdown_of
from tests.scraper.soon import soon


@pytest.mark.parametrize(
    ("html", "head"),
    [
        ("<div class='admonition warning'><p class=admonition-title>Mind</p><p>x</p></div>", "[!warning] Mind"),
        ("<div class='admonition'><p class=admonition-title>Own</p><p>x</p></div>", "[!note] Own"),
        ("<details class='admonition tip'><summary>Fold</summary><p>x</p></details>", "[!tip] Fold"),
        ("<details class=warning open><summary>Fold</summary><p>x</p></details>", "[!warning] Fold"),
        ("<div class='alert alert-info'><p>x</p></div>", "[!info] Info"),
        ("<div class='alert alert-danger'><h4 class=alert-heading>No</h4><p>x</p></div>", "[!danger] No"),
        (
            "<div class='markdown-alert markdown-alert-note'><p class=markdown-alert-title>Note</p><p>x</p></div>",
            "[!note] Note",
        ),
        ("<div class='custom-block tip'><p class=custom-block-title>TIP</p><p>x</p></div>", "[!tip] TIP"),
        (
            "<div class='theme-admonition theme-admonition-caution alert alert--warning'>"
            "<div class=admonitionHeading_x>Look</div><div><p>x</p></div></div>",
            "[!caution]",
        ),
        ("<aside class='starlight-aside starlight-aside--note'><p>x</p></aside>", "[!note] Note"),
        (
            "<div class=callout data-callout=faq data-callout-fold='-'><div class=callout-title>"
            "<div class=callout-title-inner>Why?</div></div><div><p>x</p></div></div>",
            "[!faq]- Why?",
        ),
    ],
)
def test_a_callout_has_its_kind_and_title(html: str, head: str) -> None:
    first, rest = markdown_of(html).split("\n", 1)
    assert first.startswith(f"> {head}")
    assert rest.lstrip("> \n").endswith("x")


@pytest.mark.parametrize(
    ("html", "head"),
    [
        ("<div class=note><h3 class=title>Note</h3><p>x</p></div>", "[!note] Note"),
        ("<div class=IMPORTANT><p>Important</p><p>x</p></div>", "[!important] Important"),
        ("<div class=awsdocs-note><div class=awsdocs-note-title><h6>Tip</h6></div><p>x</p></div>", "[!tip] Tip"),
        ("<div class='note warning'><span class=note__title>Warning:</span> x</div>", "[!warning] Warning:"),
        ("<div class=callout data-callout-type=danger><p>x</p></div>", "[!danger] Danger"),
    ],
)
def test_a_callout_is_detected_by_a_title_that_names_its_kind(html: str, head: str) -> None:
    assert markdown_of(html) == f"> {head}\n> x"


@pytest.mark.parametrize(
    "html",
    [
        "<div class=note><b>Note</b> x</div>",
        "<div class=note><p>Note</p></div>",
        "<div class=info-box><h3>Notes on this</h3><p>x</p></div>",
        "<div class=cover><h3>Note</h3><p>x</p></div>",
        "<section class=notes><h2>Notes</h2><ol><li>A source.</li></ol></section>",
    ],
)
def test_other_first_words_make_no_callout(html: str) -> None:
    assert "[!" not in markdown_of(html)


def test_the_body_of_a_callout_keeps_its_blocks() -> None:
    html = "<div class='admonition note'><p>a</p><ul><li>b</li></ul><pre>c\nd</pre></div>"
    assert markdown_of(html) == "> [!note] Note\n> a\n>\n> - b\n>\n> ```\n> c\n> d\n> ```"


@pytest.mark.parametrize(
    "html",
    [
        "<div class='alert'><p>x</p></div>",
        "<div class='note'><p>x</p></div>",
        "<details class=question><p>x</p></details>",
        "<div class='hint--top'><p>x</p></div>",
        "<div class='callout'><p>x</p></div>",
    ],
)
def test_a_class_without_a_kind_makes_no_callout(html: str) -> None:
    assert markdown_of(html) == "x"


def test_a_long_first_part_is_not_a_callout_title() -> None:
    title = f"<p class=admonition-title>{'Words that go on. ' * 20}</p>"
    html = f"<div class='admonition note'>{title}<p>x</p></div>"
    assert markdown_of(html).startswith("> [!note] Note\n> Words")


def test_nested_callouts_are_indented_up_to_a_depth() -> None:
    with soon():
        found = markdown_of("<div class='admonition tip'>" * 150 + "<pre>" + "x\n" * 20_000 + "</pre>")
    assert max(len(row) for row in found.split("\n")) < 60
    assert found.count("[!tip]") == MAX_INDENTS
