"""Read a snapshot into a document, and compare the document with the visible text of the page."""

from __future__ import annotations

import importlib

from browsers.model import Snapshot
from scraper.extract import plaintext, timeout_fallback
from scraper.extract.content.block_classifier import BlockClassifier, load_bundled_classifier
from scraper.extract.content.extraction import extract_content
from scraper.extract.discussion import plain_mails, thread_extraction
from scraper.extract.markdown import converter
from scraper.extract.normalize import aria_widgets, footnotes, inline_text
from scraper.extract.verdict.verdict import PageSignals, judge_signals
from scraper.facts import key_facts
from scraper.facts.metadata import jsonld_article, metadata
from scraper.html.page import page_tree
from scraper.model import Document, ReadingComparison
from scraper.text import language, markdown_structure, sanitize
from scraper.text.markdown_headings import find_headings

MAX_CHARACTERS = 4_000_000
"""Characters of Markdown and of text: a million tokens, more than any client reads."""

_WARM_UP_PAGE = "<title>Any page</title><h1>Any page</h1>" + "<p>A passage of it, told in some words.</p>" * 20
_SHOP_PAGE_TYPES = frozenset({"product", "collection", "listing", "service"})
"""Types of pages that sell. Their footnotes are small print, so that marks and notes are removed."""

_LIST_PAGE_TYPES = frozenset({"collection", "listing"})


def read(snapshot: Snapshot, model: BlockClassifier | None = None, *, with_facts: bool = True) -> Document:
    """Return the document in a snapshot, with its verdict from the same pass.

    `model` replaces the default classifier of content blocks. Without `with_facts`, facts of products and recipes are
    left out, whose modules are loaded late.

    Raises:
        UnsupportedTypeError: the response is neither a page nor text.
    """
    return (
        _read_page(snapshot, model or load_bundled_classifier(), with_facts)
        if plaintext.is_page(snapshot)
        else plaintext.read(snapshot)
    )


def warm_up() -> None:
    """Load the model and read a small page, so that forked workers share the loaded data."""
    importlib.import_module("numpy.ma")  # `np.unique` loads it when a list of items is first read.
    url = "https://example.com/"
    read(Snapshot(url, url, 200, media_type="text/html", html=_WARM_UP_PAGE))


def _read_page(snapshot: Snapshot, model: BlockClassifier, with_facts: bool) -> Document:
    page = page_tree.build_page_tree(snapshot)
    inline_text.separate_kickers(page.body, page.classes)
    plain_mails.mark_mails(page.body)
    about = metadata.read(page)
    signals = PageSignals(page)
    verdict = judge_signals(snapshot, signals)
    inline_text.remove_shortcodes(page.body, signals.text)
    notes = footnotes.extract_footnotes(page.body, page.classes)
    inline_text.remove_hover_boxes(page.body, page.classes)
    aria_widgets.convert_summary_tables(page.body, page.classes)
    thread = thread_extraction.find_discussion(page)  # first: content selection may change the tree of a small page
    content = extract_content(page, model)
    facts = key_facts.read(snapshot, page, about, content.page_type) if with_facts else ()
    root = content.build_tree()
    inline_text.remove_edit_links(root)
    is_thread = thread_extraction.place_thread(root, thread)
    if content.page_type in _SHOP_PAGE_TYPES:
        footnotes.remove_footnote_marks(root)
    else:
        footnotes.attach_footnotes(root, notes)
    converted = converter.convert(root, page.base, may_hold_formulas=page.may_hold_formulas)
    markdown, text, withheld = converted.markdown, converted.text, 0
    article = about.article
    if article is not None and not is_thread and jsonld_article.exceeds(article, text, about.title):
        if article.is_free:
            whole = converter.convert(jsonld_article.build_article(article), page.base, may_hold_formulas=False)
            is_part = jsonld_article.contains(article, text)
            markdown = whole.markdown if is_part else f"{markdown}\n\n{whole.markdown}"
            text = whole.text if is_part else f"{text}\n{whole.text}"
        else:
            withheld = article.characters
    links = converted.links
    if content.items is not None:
        listing = converter.convert(content.items, page.base, may_hold_formulas=False)
        markdown = f"{markdown}\n\n{listing.markdown}"
        links = (*links, *listing.links)
    if thread.posts and not is_thread and not thread.is_displayed:
        # Comments are not content of the page, so that its text does not contain them.
        comments = converter.convert(
            thread_extraction.build_thread(thread), page.base, may_hold_formulas=page.may_hold_formulas
        )
        markdown = f"{markdown}\n\n{comments.markdown}"
    body, controls = markdown_structure.clean_markdown(markdown[:MAX_CHARACTERS])
    # The plain text of a thread has neither the headings of posts nor text that was not selected.
    text, _ = sanitize.clean((content.text if is_thread else text)[:MAX_CHARACTERS])
    # A date in the text of a list belongs to one of its items.
    is_dated = about.published_source != "text" or content.page_type not in _LIST_PAGE_TYPES
    return Document(
        url=page.url,
        title=about.title,
        author=about.author,
        published=about.published if is_dated else None,
        published_source=about.published_source if is_dated else None,
        site_name=about.site_name,
        language=language.choose_language(about.language, text),
        description=about.description,
        page_type=content.page_type,
        text=text,
        markdown=body,
        verdict=verdict,
        degraded=page.degraded or content.degraded or len(markdown) > MAX_CHARACTERS,
        links=links,
        images=converted.images,
        outline=find_headings(body),
        discussion=thread.posts,
        hidden_removed=page.hidden_removed,
        controls_removed=controls,
        facts=facts,
        withheld_characters=withheld,
    )


MAX_COMPARED_CHARACTERS = 200_000
"""Characters of each side, as many as a person may look through."""


def compare_reading(snapshot: Snapshot) -> ReadingComparison:
    """Read a page and compare the result with all visible text.

    Raises:
        UnsupportedTypeError: the response is neither a page nor text.
    """
    document = read(snapshot)
    visible_text = timeout_fallback.read(snapshot).text if plaintext.is_page(snapshot) else document.text
    extracted = _fold_whitespace(document.text) + " " + _fold_whitespace(document.markdown)
    lines = dict.fromkeys(line.strip() for line in visible_text[:MAX_COMPARED_CHARACTERS].splitlines() if line.strip())
    return ReadingComparison(
        title=document.title or "",
        markdown=document.markdown[:MAX_COMPARED_CHARACTERS],
        visible_text=visible_text[:MAX_COMPARED_CHARACTERS],
        dropped=tuple(line for line in lines if _fold_whitespace(line) not in extracted),
        hidden_removed=document.hidden_removed,
        rendered=snapshot.rendered,
    )


def _fold_whitespace(text: str) -> str:
    """Return the text in lower case with single spaces, so that equal lines compare as equal."""
    return " ".join(text.split()).casefold()
