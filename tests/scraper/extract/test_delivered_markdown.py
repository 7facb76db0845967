"""Markdown that sites deliver is read as a page: metadata, headings, absolute links, components as their text."""

from __future__ import annotations

import pytest

from browsers.model import Snapshot
from scraper.errors import UnsupportedTypeError
from scraper.extract import reader
from scraper.model import Document
from tests.growth import Hostile, hostile_inputs

PAGE = """---
title: "Ferries"
description: When they leave
author: Ada Lake
date: 2026-03-04
---
import Note from '../components/Note'

> ## Documentation Index
> Fetch the index at https://docs.example/llms.txt first.

# Ferries {#top}

<Steps>
  <Step title="Buy a ticket" icon={<Icon />}>
    Go to the **pier**.

    ```js [app.js]
    import a from "b"
    const tag = <Note>kept</Note>
    ```
  </Step>
</Steps>

::: tip Early birds
Buy early.
:::

## Prices[\u200b](#prices "Direct link to Prices")

{% callout type="note" %}Bring a coat.{% /callout %} Not `{% this %}`.

| Class | Price |
|---|---|
| Deck | 9 EUR |

[Harbours](../harbours.md)
"""


def delivered(path: str, media_type: str, text: str) -> Document:
    url = f"https://docs.example{path}"
    return reader.read(Snapshot(url, url, 200, {}, media_type, text.encode(), text))


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/guide/page", "text/markdown"),
        ("/guide/page", "text/x-markdown"),
        ("/guide/page", "text/mdx"),
        ("/guide/page.md", "text/plain"),
        ("/guide/page.html.md", "text/plain"),
        ("/guide/page.mdx", "text/plain"),
        ("/guide/page.markdown", ""),
    ],
)
def test_a_page_is_markdown_by_its_type_or_its_name(path: str, media_type: str) -> None:
    document = delivered(path, media_type, PAGE)
    assert (document.title, document.description, document.author) == ("Ferries", "When they leave", "Ada Lake")
    assert document.published is not None and document.published.date().isoformat() == "2026-03-04"
    assert [heading.text for heading in document.outline] == ["Ferries", "Prices"]
    assert [link.url for link in document.links] == ["https://docs.example/harbours.md"]
    for part in ("**Buy a ticket**", "Go to the **pier**.", "**Early birds**", "Buy early.", "Bring a coat."):
        assert part in document.markdown
    assert "| Deck | 9 EUR |" in document.markdown
    assert 'import a from "b"\nconst tag = <Note>kept</Note>\n```' in document.markdown
    assert "Not `{% this %}`." in document.markdown
    for part in ("components/Note", "llms.txt", "{#top}", "Step", ":::", "callout", "Direct link", "title:"):
        assert part not in document.markdown


def test_line_ends_of_windows_and_quotes_inside_a_title() -> None:
    document = delivered("/a.md", "text/markdown", "---\r\ntitle: Say 'Ahoy'\r\n---\r\n\r\n```\r\na = 1\r\n```\r\n")
    assert document.title == "Say 'Ahoy'"
    assert document.markdown == "```\na = 1\n```"


def test_the_list_of_a_site_keeps_its_summary_and_links() -> None:
    text = "# Harbour\n\n> Ferries, see /llms.txt.\n\n## Docs\n\n- [Ferries](/ferries.md): When they leave\n"
    document = delivered("/docs/llms.txt", "text/plain", text)
    assert document.title == "Harbour"
    assert document.markdown == (
        "# Harbour\n\n> Ferries, see /llms.txt.\n\n## Docs\n\n"
        "- [Ferries](https://docs.example/ferries.md): When they leave"
    )


def test_html_that_is_declared_as_markdown_is_html() -> None:
    page = "<!doctype html><title>Ferries of the north</title><h1>Ferries of the north</h1><p>They leave at eight.</p>"
    document = delivered("/page", "text/markdown", page)
    assert document.title == "Ferries of the north"
    assert "They leave at eight." in document.markdown
    assert "<" not in document.markdown


def test_other_texts_and_files_stay_what_they_are() -> None:
    code = "# not a heading\nimport os\n    indented = 1\n"
    assert delivered("/code.txt", "text/plain", code).markdown.startswith("```")
    assert delivered("/page.md", "text/css", "a{}").markdown == "```css\na{}\n```"
    with pytest.raises(UnsupportedTypeError):
        delivered("/page.md", "text/plain", "\0\1\2" * 50)


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/tides.md", "text/html"),
        ("/tides", "text/vnd.daringfireball.markdown"),
        ("/tides", "application/markdown"),
        ("/tides", "application/x-markdown"),
    ],
)
def test_more_types_are_markdown(path: str, media_type: str) -> None:
    document = delivered(path, media_type, "# Tides\n\nHigh water is at *ten*, and low water at four.\n")
    assert document.title == "Tides" and document.markdown.startswith("# Tides\n")


def test_a_page_with_the_name_of_markdown_is_a_page() -> None:
    document = delivered("/tides.md", "text/html", "<title>App</title><p>Text of *the* page.</p>")
    assert document.title == "App" and document.text.strip() == "Text of *the* page."


def test_modules_of_several_lines_go_and_addresses_of_components_stay() -> None:
    body = (
        'import {\n  Card,\n  Link\n} from "@site/ui"\n\nexport const meta = {\n  title: "Other",\n}\n\n# Tides\n\n'
        '<Card title="Quick start" href="/quick">Begin here.</Card>\n\nSee <Link to="/tables">the tables</Link>.\n'
    )
    document = delivered("/docs/tides.mdx", "text/plain", body)
    assert document.title == "Tides" and "meta" not in document.markdown and "Other" not in document.markdown
    assert [(link.text, link.url.rpartition("/")[2]) for link in document.links] == [
        ("Quick start", "quick"), ("the tables", "tables"),
    ]  # fmt: skip


def test_text_between_two_rules_is_no_metadata() -> None:
    text = "---\n\nThe ferry has one rule: no bicycles on deck.\n\n---\n\nMore text.\n"
    assert "no bicycles on deck" in delivered("/page.md", "text/markdown", text).markdown


def test_a_very_long_text_is_returned_as_it_is() -> None:
    text = "# Title\n\n" + "Word word. " * 100_000
    assert delivered("/page.md", "text/markdown", text).markdown.startswith("# Title\n\nWord")


def test_indented_code_stays_code_without_components() -> None:
    assert "```\nindented = 1\n```" in delivered("/a.md", "", "# A\n\nText:\n\n    indented = 1\n\nMore.").markdown


@hostile_inputs(
    {
        "fences": (200_000, lambda n: "```\n" * n),
        "open fences": (200_000, lambda n: "\n".join("~" * (3 + i % 5) for i in range(n))),
        "backticks": (100_000, lambda n: "`a``b" * n),
        "components": (100_000, lambda n: "<A b={" * n),
        "attributes": (100_000, lambda n: "<A" + " b" * n),
        "containers": (100_000, lambda n: "::: a " * n),
        "template tags": (100_000, lambda n: "{% " * n),
        "heading attributes": (100_000, lambda n: "{#a" + " " * n + "\n"),
        "heading links": (100_000, lambda n: "[ " * n),
        "quotations": (50_000, lambda n: "> a\n" * n),
        "front matter": (200_000, lambda n: "---\n" + "title: a\n" * n),
    }
)
def test_hostile_markdown_is_read_soon(hostile: Hostile[str]) -> None:
    hostile.run(lambda text: delivered("/page.md", "text/markdown", text), limit_s=30)


def test_lists_of_authors_comments_and_tables_of_contents_are_read_as_what_they_are() -> None:
    body = "# Tides\n\n[[toc]]\n\n<Note>A</Note>\n\n{/* not shown */}\n\n`{/* code */}` [TOC]"
    text = f"---\nauthors: [Ann Lee, Bo]\n---\n{body}"
    document = delivered("/tides.mdx", "text/mdx", text)
    assert document.author == "Ann Lee, Bo"
    assert "not shown" not in document.markdown and "[[toc]]" not in document.markdown
    assert "`{/* code */}`" in document.markdown and "TOC" in document.markdown
