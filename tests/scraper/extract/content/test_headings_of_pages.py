"""Check rules about headings on made pages, and on the saved pages in the folder CORPORA if it is set."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.common.corpora import corpus_folder
from scraper.extract import reader
from scraper.extract.content.block_classifier import calibrate, load_bundled_classifier
from scraper.extract.content.block_selection import select_blocks
from scraper.extract.content.page_statistics import PageStatistics
from scraper.extract.content.section_rules import drop_empty_headings, find_headings, select_headings
from scraper.html.dom.parsing import HEADINGS, text_of
from scraper.html.page import page_tree
from tests.scraper.extract.content.trees import build_statistics
from tests.scraper.extract.snapshots import page as snapshot_of

CORPORA = ("wcxb", "markdown", "markdown-hard", "extra-pages", "pages-lang")
_SHAPES = (
    "<h{level} id={id}>{title}</h{level}>",
    "<h{level} id={id}>{title}<a class=headerlink href='#{id}'>¶</a></h{level}>",
    "<h{level} id={id}><a class=docs-heading-anchor href='#{id}'>{title}</a><a id={id}-1></a></h{level}>",
    "<div class=mw-heading><h{level} id={id}>{title}</h{level}><span>[<a href=/edit>edit</a>]</span></div>",
    "<h{level} id={id}>{title} <span class=mw-editsection>[<a href=/edit>edit</a>]</span></h{level}>",
    "<h{level} id={id}><span class=editsection>[<a href=/edit>Bearbeiten</a>]</span> <i>{title}</i></h{level}>",
)


def _made_page(seed: int) -> tuple[str, list[str]]:
    """Return an article with nested sections in one of the shapes of headings, and the headings."""
    chance = random.Random(seed)
    words = "river harbor teacher window violin market compiler pattern village engine letter garden".split()
    titles, parts = [], []
    for number in range(chance.randrange(4, 12)):
        titles.append(f"Section {number} of the {chance.choice(words)}")
        level = 2 if number == 0 else chance.choice((2, 3))
        parts.append(chance.choice(_SHAPES).format(level=level, id=f"s{number}", title=titles[-1]))
        for _ in range(chance.randrange(1, 4)):
            sentence = " ".join(chance.choices(words, k=chance.randrange(20, 60)))
            parts.append(f"<p>The {sentence}, and this is what the {chance.choice(words)} was for.</p>")
    menu = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in words)
    body = f"<nav><ul>{menu}</ul></nav><main><article><h1>Title</h1>{''.join(parts)}</article></main>"
    return f"<html><head><title>Title</title></head><body>{body}</body></html>", titles


def _saved_pages() -> Iterator[Path]:
    folder = Path(os.environ["CORPORA"])
    for name in CORPORA:
        yield from sorted((corpus_folder(folder, name) / "html").glob("*.html"))


def _check_selection(page: PageStatistics) -> None:
    """Assert that a heading is selected with its section, and removed without it."""
    prediction = load_bundled_classifier().predict(page)
    types = prediction.page_types
    chosen = select_blocks(page, prediction.probabilities, types)
    p = calibrate(page, prediction.probabilities, types)
    assert not (chosen & ~drop_empty_headings(page, chosen, p, types)).any()
    for heading in find_headings(page):
        following = chosen[heading.end :]
        if chosen[heading.start] and heading.end < page.n and following.any():
            below = heading.end + int(following.argmax())
            assert not (page.heading[below] and page.text_ids[below] == page.text_ids[heading.start])
    if types["forum"] < 0.3:
        missing = select_headings(page, chosen, p) & ~chosen
        assert set(page.text_ids[missing]) <= set(page.text_ids[chosen])
    if types["article"] >= 0.95:
        long = page.lengths * page.long
        assert long[chosen].sum() >= 0.05 * long.sum()


def _check_markdown(html: str) -> None:
    """Assert that no heading is written more often than the page has it."""
    document = reader.read(snapshot_of(html))
    body = page_tree.build_page_tree(snapshot_of(html)).body
    on_page = Counter("".join(filter(str.isalnum, text_of(heading))).lower() for heading in body.iter(*HEADINGS))
    written = Counter("".join(filter(str.isalnum, heading.text)).lower() for heading in document.outline)
    assert [title for title, count in written.items() if 1 <= on_page[title] < count] == []


@pytest.mark.parametrize("seed", range(20))
def test_a_made_page_keeps_each_heading_once(seed: int) -> None:
    html, titles = _made_page(seed)
    written = [heading.text for heading in reader.read(snapshot_of(html)).outline]
    assert [title for title in written if title != "Title"] == titles
    _check_markdown(html)
    page = build_statistics(html)
    _check_selection(page)


@pytest.mark.skipif("CORPORA" not in os.environ, reason="the variable CORPORA names no folder of saved pages")
def test_saved_pages_keep_headings_with_their_sections_and_once() -> None:
    read = 0
    for path in _saved_pages():
        html = path.read_text(encoding="utf-8", errors="replace")
        page = build_statistics(html)
        if page.n > 12:
            _check_selection(page)
            _check_markdown(html)
            read += 1
    assert read > 1_000
