"""Read a snapshot into a document by stages, and compare the document with the visible text of the page."""

import importlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from lxml import etree

from browsers.model import Snapshot
from scraper import wishes
from scraper.extract import plaintext
from scraper.extract.code import normalization
from scraper.extract.content.block_classifier import BlockClassifier, load_bundled_classifier
from scraper.extract.content.extraction import Content, extract_content
from scraper.extract.discussion import thread_extraction
from scraper.extract.discussion.thread_extraction import Discussion
from scraper.extract.markdown import converter
from scraper.extract.normalize import footnotes
from scraper.extract.verdict.verdict import PageSignals, judge_signals
from scraper.facts import structured
from scraper.facts.metadata import metadata
from scraper.facts.metadata.metadata import Metadata
from scraper.facts.structured import PageFacts
from scraper.html.dom.parsing import Element
from scraper.html.page import page_tree
from scraper.html.page.page_tree import PageTree
from scraper.model import Document, Image, Link, Verdict
from scraper.stages import Stage, run_stages
from scraper.text import language, markdown_structure, sanitize
from scraper.text.markdown_structure import find_headings
from scraper.urls import is_web_url, join_url, same_site

MAX_CHARACTERS = 4_000_000
"""Characters of Markdown and of text: a million tokens, more than any client reads."""

_WARM_UP_PAGE = "<title>Any page</title><h1>Any page</h1>" + "<p>A passage of it, told in some words.</p>" * 20
_MAX_TOOLS = 5
_SITE_MARKDOWN = "alternate text/markdown"
_LIST_PAGE_TYPES = frozenset({"collection", "listing"})


def read(snapshot: Snapshot, model: BlockClassifier | None = None, *, without: Collection[str] = ()) -> Document:
    """Return the document in a snapshot, with its verdict from the same pass.

    `model` replaces the default classifier of content blocks. `without` names stages of `STAGES` to leave out.

    Raises:
        UnsupportedTypeError: the response is neither a page nor text.
    """
    if plaintext.is_markdown(snapshot):
        snapshot, unneeded = plaintext.build_page(snapshot)
        without = unneeded.union(without)
    elif not plaintext.is_page(snapshot):
        return plaintext.read(snapshot)
    return _finish(run_stages(STAGES, start_draft(snapshot, model or load_bundled_classifier()), without=without))


def warm_up() -> None:
    """Load the model and read a small page, so that forked workers share the loaded data."""
    importlib.import_module("numpy.ma")  # `np.unique` loads it when a list of items is first read.
    url = "https://example.com/"
    read(Snapshot(url, url, 200, media_type="text/html", html=_WARM_UP_PAGE))


@dataclass(frozen=True, slots=True)
class Draft:
    """What the stages have read of a page. Each part has a neutral default, so that any stage can be left out."""

    snapshot: Snapshot
    model: BlockClassifier
    page: PageTree
    """The page. Stages change its tree in place, so that their order matters."""
    root: Element
    """Element with the content: at first the whole body."""
    content: Content
    about: Metadata = field(default_factory=Metadata)
    verdict: Verdict = field(default_factory=Verdict)
    notes: Sequence[Element] = ()
    thread: Discussion = field(default_factory=Discussion)
    is_thread: bool = False
    """True if the content is a discussion."""
    facts: PageFacts = ()
    markdown: str = ""
    text: str = ""
    links: tuple[Link, ...] = ()
    images: tuple[Image, ...] = ()
    withheld_characters: int = 0
    controls_removed: int = 0
    is_cut: bool = False
    """True if the Markdown is longer than `MAX_CHARACTERS`."""


def start_draft(snapshot: Snapshot, model: BlockClassifier) -> Draft:
    """Return the draft of an empty page."""
    body = etree.Element("body")
    return Draft(snapshot, model, PageTree(snapshot.url, snapshot.url, body), body, Content("", lambda: body))


def build_page_tree(draft: Draft) -> Draft:
    """Parse the page, insert shadow roots and frames, and remove hidden elements."""
    page = page_tree.build_page_tree(draft.snapshot)
    return replace(draft, page=page, root=page.body, content=Content("", lambda: page.body))


def read_metadata(draft: Draft) -> Draft:
    """Read title, author, date, site name, language and description from head and body."""
    return replace(draft, about=metadata.read(draft.page))


def judge(draft: Draft) -> Draft:
    """Judge if the page has its content, before anything is removed from it."""
    return replace(draft, verdict=judge_signals(draft.snapshot, PageSignals(draft.page)))


def extract_footnotes(draft: Draft) -> Draft:
    """Take footnotes out of the page, since the content model would not select them."""
    return replace(draft, notes=footnotes.extract_footnotes(draft.page.body, draft.page.classes))


def join_rows(draft: Draft) -> Draft:
    """Join the lines of code in editors, before they become blocks."""
    normalization.join_named_lines(draft.page.body, draft.page.classes)
    return draft


def find_discussion(draft: Draft) -> Draft:
    """Find the posts, before the selection of content changes the tree of a small page."""
    return replace(draft, thread=thread_extraction.find_discussion(draft.page))


def select_content(draft: Draft) -> Draft:
    """Classify the blocks of the page and select those of the content."""
    return replace(draft, content=extract_content(draft.page, draft.model))


def read_key_facts(draft: Draft) -> Draft:
    """Read facts of a product or recipe from the whole page, before it is pruned."""
    facts = structured.read_key_facts(draft.snapshot, draft.page, draft.about, draft.content.page_type)
    return replace(draft, facts=facts)


def prune_tree(draft: Draft) -> Draft:
    """Remove all elements that are not content."""
    return replace(draft, root=draft.content.build_tree())


def place_thread(draft: Draft) -> Draft:
    """Replace the posts in the content by the thread with its headings."""
    return replace(draft, is_thread=thread_extraction.place_thread(draft.root, draft.thread))


def attach_footnotes(draft: Draft) -> Draft:
    """Attach the notes whose marks are in the content."""
    footnotes.attach_footnotes(draft.root, draft.notes)
    return draft


def convert(draft: Draft) -> Draft:
    """Convert the content to Markdown and plain text."""
    page = draft.page
    converted = converter.convert(draft.root, page.base, may_hold_formulas=page.may_hold_formulas)
    return replace(
        draft, markdown=converted.markdown, text=converted.text, links=converted.links, images=converted.images
    )


def add_declared_article(draft: Draft) -> Draft:
    """Use the article in the data of the page if the page displays only a part of it."""
    article = draft.about.article
    if article is None or draft.is_thread or not article.exceeds(draft.text, draft.about.title):
        return draft
    if not article.is_free:
        return replace(draft, withheld_characters=article.characters)
    whole = converter.convert(article.as_element(), draft.page.base, may_hold_formulas=False)
    if article.contains(draft.text):
        return replace(draft, markdown=whole.markdown, text=whole.text)
    return replace(draft, markdown=f"{draft.markdown}\n\n{whole.markdown}", text=f"{draft.text}\n{whole.text}")


def append_comments(draft: Draft) -> Draft:
    """Append comments to the Markdown, but not to the text: they are not content of the page."""
    thread, page = draft.thread, draft.page
    if not thread.posts or draft.is_thread:
        return draft
    comments = thread_extraction.build_thread(thread)
    converted = converter.convert(comments, page.base, may_hold_formulas=page.may_hold_formulas)
    return replace(draft, markdown=f"{draft.markdown}\n\n{converted.markdown}")


def clean(draft: Draft) -> Draft:
    """Remove invisible characters, and cut Markdown and text to their limits."""
    markdown, controls = markdown_structure.clean_markdown(draft.markdown[:MAX_CHARACTERS])
    # The plain text of a thread has neither the headings of posts nor text that was not selected.
    text, _ = sanitize.clean((draft.content.text if draft.is_thread else draft.text)[:MAX_CHARACTERS])
    is_cut = len(draft.markdown) > MAX_CHARACTERS
    return replace(draft, markdown=markdown, text=text, controls_removed=controls, is_cut=is_cut)


STAGES: tuple[Stage[Draft], ...] = (
    Stage(build_page_tree, 5.7, "hidden_text.through"),
    Stage(read_metadata, 1.1, "wcxb.title"),
    Stage(judge, 1.3, "verdict.stopped_too_early"),
    Stage(extract_footnotes, 0.87, "hard.footnote_pages"),
    Stage(join_rows, 0.01, "hard.cells"),
    Stage(find_discussion, 6.0, "faithful.posts.text"),
    Stage(select_content, 13.4, "wcxb.f1"),
    Stage(read_key_facts, 1.9, "products.price"),
    Stage(prune_tree, 0.46, "wcxb.document_f1"),
    Stage(place_thread, 0.06, "faithful.posts.text"),
    Stage(attach_footnotes, 0.03, "hard.footnote_pages"),
    Stage(convert, 3.6, "hard.edit"),
    Stage(add_declared_article, 0.01, "news.f1"),
    Stage(append_comments, 0.04, "faithful.posts.text"),
    Stage(clean, 0.78, "hidden_text.through"),
)
"""Stages in their order. Later stages need what earlier ones read or remove."""


def _find_site_markdown(page: PageTree) -> str:
    named = (join_url(page.base, url) for relation, url in page.head.links if relation == _SITE_MARKDOWN)
    return next((url for url in named if is_web_url(url) and same_site(url, page.url)), "")


def _finish(draft: Draft) -> Document:
    about = draft.about
    # A date in the text of a list belongs to one of its items.
    is_dated = about.published_source != "text" or draft.content.page_type not in _LIST_PAGE_TYPES
    return Document(
        url=draft.page.url,
        title=about.title,
        author=about.author,
        published=about.published if is_dated else None,
        published_source=about.published_source if is_dated else None,
        site_name=about.site_name,
        language=language.choose_language(about.language, draft.text),
        description=about.description,
        page_type=draft.content.page_type,
        text=draft.text,
        markdown=draft.markdown,
        verdict=draft.verdict,
        degraded=draft.page.degraded or draft.content.degraded or draft.is_cut,
        links=draft.links,
        images=draft.images,
        outline=find_headings(draft.markdown),
        discussion=draft.thread.posts,
        hidden_removed=draft.page.hidden_removed,
        controls_removed=draft.controls_removed,
        facts=draft.facts,
        withheld_characters=draft.withheld_characters,
        site_markdown=_find_site_markdown(draft.page),
        tools=draft.page.head.tools[:_MAX_TOOLS],
        torn_parts=0 if draft.is_thread else draft.content.torn,
        wishes=tuple(wishes.from_head(draft.page.head.metas, draft.page.head.links, draft.page.base)),
    )
