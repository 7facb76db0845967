"""Articles that a page states as data and displays in part only."""

from __future__ import annotations

from typing import Any

import pytest

from scraper.facts.metadata.metadata import find_jsonld_article
from scraper.model import Document
from tests.scraper.extract.snapshots import read
from tests.scraper.facts.products import ld

SENTENCES = [
    f"The harbor of the town number {n} was closed in the winter because of {n} tons of ice." for n in range(30)
]
BODY = "\n\n".join(" ".join(SENTENCES[start : start + 5]) for start in range(0, 30, 5))
TEASER = " ".join(SENTENCES[:5])


def article(**more: Any) -> dict[str, Any]:
    return {"@type": "NewsArticle", "headline": "The closed harbor", "articleBody": BODY, **more}


def read_page(item: dict[str, Any], text: str = TEASER, title: str = "The closed harbor") -> Document:
    return read(f"<title>{title}</title>{ld(item)}<body><main><article><h1>{title}</h1><p>{text}</p></article></main>")


@pytest.mark.parametrize("free", [{}, {"isAccessibleForFree": True}, {"isAccessibleForFree": "True"}])
def test_a_free_article_replaces_its_first_part(free: dict[str, Any]) -> None:
    document = read_page(article(**free))
    assert SENTENCES[29] in document.markdown
    assert document.markdown.count(SENTENCES[0]) == 1
    assert len(document.markdown.split("\n\n")) == 6
    assert document.withheld_characters == 0


@pytest.mark.parametrize("paid", [False, "False", "false", 0])
def test_an_article_for_paying_readers_is_counted_but_not_used(paid: object) -> None:
    document = read_page(article(isAccessibleForFree=paid))
    assert SENTENCES[29] not in document.markdown
    assert document.withheld_characters == pytest.approx(len(BODY), abs=20)


def test_a_summary_in_other_words_stays_before_the_article() -> None:
    summary = "Nobody could leave by ship for weeks, and the shops ran out of bread and of fuel for the stoves. " * 4
    document = read_page(article(), summary)
    assert "ran out of bread" in document.markdown
    assert SENTENCES[29] in document.text


@pytest.mark.parametrize(
    ("item", "text", "title"),
    [
        (article(), BODY, "The closed harbor"),
        (article(headline="Other news"), "Words of a list of many pages that are all about kettles. " * 8, "News"),
        ({**article(), "@type": "Product"}, TEASER, "The closed harbor"),
        (article(articleBody="Short."), TEASER, "The closed harbor"),
        (article(articleBody={"@value": BODY}), TEASER, "The closed harbor"),
    ],
    ids=["same", "other page", "no article", "short", "no text"],
)
def test_other_texts_do_not_replace_the_content(item: dict[str, Any], text: str, title: str) -> None:
    document = read_page(item, text, title)
    assert document.withheld_characters == 0
    assert document.markdown.count(SENTENCES[29]) == (text is BODY)


def test_markup_and_lists_of_parts_become_paragraphs() -> None:
    parts = [
        f"<p>{' '.join(SENTENCES[:10])}</p>",
        f"&lt;p&gt;{' '.join(SENTENCES[10:])}<br>End &amp;amp; more&lt;/p&gt;",
    ]
    found = find_jsonld_article([{"@type": ["Thing", "https://schema.org/BlogPosting"], "articleBody": parts}])
    assert found is not None
    assert "<" not in "".join(found.paragraphs)
    assert len(found.paragraphs) >= 2
    assert found.contains(TEASER)
    assert found.exceeds("", None)


def test_text_of_an_article_cannot_become_markup() -> None:
    hostile = "# Heading\n\n[click](https://evil.example/)\n\n" + BODY
    document = read_page(article(articleBody=hostile))
    assert not any(line.startswith("# Heading") for line in document.markdown.splitlines())
    assert not document.links
