"""Items of the reader, of Markdown and of faithful pages."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.ablation.items import Answer, Counts, Item, digest
from benchmarks.common.corpora import corpus_folder
from benchmarks.faithful.__main__ import all_pages, own_answer
from benchmarks.faithful.score import score as score_faithful
from benchmarks.markdown.pages import SETS, MarkdownPage, pages
from benchmarks.markdown.score import KINDS, Score, score
from benchmarks.reader.page_scores import foreign_counts, is_news, news_counts
from benchmarks.reader.unseen_models import UnseenModels
from benchmarks.training.pages import Sample, samples
from benchmarks.training.table import snapshot_of, word_f1
from browsers.model import Snapshot
from scraper.extract import reader
from scraper.extract.content.extraction import extract_content
from scraper.extract.markdown import converter
from scraper.html.dom import parsing
from scraper.html.page import page_tree
from scraper.model import Document

_PREFIX = {"documentation": "", "fixtures": "hard.", "main": "main."}


def reader_items(corpora: Path) -> Iterator[Item]:
    """Yield the pages with a gold text, with models that were not trained on their domains."""
    models = UnseenModels()
    stated = _stated_facts(corpora)

    def item(sample: Sample) -> Item:
        def read() -> Answer:
            model, snapshot = models.of_domain(sample.domain), snapshot_of(sample)
            text = extract_content(page_tree.build_page_tree(snapshot), model).text
            document = reader.read(snapshot, model)
            counts = _count_text(sample, text) | _count_document(sample, document)
            if sample.main:
                counts |= _count_facts(document, stated[sample.id])
            return Answer(counts, digest(text, document))

        return Item("reader", f"{sample.source}/{sample.id}", sample.domain, read)

    for source in ("wcxb", "pages-lang", "extra-pages"):
        for sample in samples(corpora, source):
            if sample.main or source == "pages-lang" or is_news(sample):
                yield item(sample)


def _count_text(sample: Sample, text: str) -> dict[str, tuple[float, float]]:
    """Return the figures of the selected text, as `benchmarks.reader` measures it."""
    counts: dict[str, tuple[float, float]] = {}
    if sample.main:
        found = word_f1(text, sample.gold), 1.0
        return {"wcxb.f1": found, f"wcxb.f1.{sample.page_type}": found}
    if sample.source == "pages-lang":
        counts |= foreign_counts(sample, text)
    if is_news(sample):
        counts |= news_counts(sample, text)
    return counts


def _count_document(sample: Sample, document: Document) -> dict[str, tuple[float, float]]:
    if not sample.main:
        return {}
    found = word_f1(document.text, sample.gold), 1.0
    whole = word_f1(document.markdown, sample.gold), 1.0
    return {
        "wcxb.document_f1": found,
        f"wcxb.document_f1.{sample.page_type}": found,
        f"wcxb.markdown_f1.{sample.page_type}": whole,
    }


def _stated_facts(corpora: Path) -> Mapping[str, Mapping[str, Any]]:
    folder = corpus_folder(corpora, "wcxb") / "gold"
    return {file.stem: json.loads(file.read_text(encoding="utf-8"))["ground_truth"] for file in folder.glob("*.json")}


def _count_facts(document: Document, gold: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return title, author and day as F1: twice the right ones, of those found and those expected."""
    day = document.published.date().isoformat() if document.published else None
    found = {"title": document.title, "author": document.author, "published": day}
    expected = {"title": gold.get("title"), "author": gold.get("author"), "published": gold.get("publish_date")}
    counts = {}
    for name, value in found.items():
        is_right = bool(value) and bool(expected[name]) and _is_same(str(value), str(expected[name]))
        total = bool(value) + bool(expected[name])
        counts[f"wcxb.{name}"] = (2.0 * is_right, float(total))
    return counts


def _is_same(one: str, other: str) -> bool:
    one, other = ("".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold())) for text in (one, other))
    return one == other or (min(len(one), len(other)) > 9 and (one in other or other in one))


def markdown_items(corpora: Path) -> Iterator[Item]:
    """Yield the pages of the Markdown corpora, for the converter alone, and whole."""
    models = UnseenModels()
    domains = {sample.id.partition("-")[2]: sample.domain for sample in samples(corpora, "extra-pages")}

    def convert(page: MarkdownPage) -> str:
        root = parsing.parse_html(page.html).root
        if root is None:
            return ""
        body = root.find("body")
        return converter.convert(root if body is None else body, page_tree.find_base_url(root, page.url)).markdown

    def read_whole(page: MarkdownPage) -> str:
        domain = domains.get(page.id.partition("-")[2])
        model = None if domain is None else models.of_domain(domain)
        return reader.read(Snapshot(page.url, page.url, 200, media_type="text/html", html=page.html), model).markdown

    def item(kind: str, page: MarkdownPage) -> Item:
        def read() -> Answer:
            text = convert(page)
            if kind != "fixtures":
                return Answer(_count_score(_PREFIX[kind], score(page.gold, text)), digest(text))
            whole = read_whole(page)
            counts = _count_score("hard.converter.", score(page.gold, text))
            return Answer(counts | _count_score("hard.", score(page.gold, whole)), digest(text, whole))

        return Item("markdown", f"{kind}/{page.id}", page.stem + page.id, read)

    for kind in SETS:
        for page in pages(corpora, kind):
            yield item(kind, page)


def _count_score(prefix: str, found: Score) -> dict[str, tuple[float, float]]:
    counts: dict[str, tuple[float, float]] = {}
    for kind in KINDS:
        correct, given, expected = found.counts[kind]
        counts[f"{prefix}{kind}"] = (2.0 * correct, float(given + expected))
    counts |= {f"{prefix}{name}": (value, 1.0) for name, value in found.means.items()}
    if found.notes is not None:
        counts[f"{prefix}footnote_pages"] = (float(found.notes), 1.0)
    return counts


def faithful_items(corpora: Path) -> Iterator[Item]:
    """Yield the annotated and the made pages of the faithful benchmark."""
    for number, page in enumerate(all_pages(corpora)):

        def read(page: Any = page) -> Answer:
            found = own_answer(page)
            values: Counts = {
                f"faithful.{name}": (value, 1.0) for name, value in score_faithful(page[0], found).items()
            }
            return Answer(values, digest(found))

        yield Item("faithful", f"{number}", page[0].url, read)
