"""Pages with their expected verdict: saved pages, copies without their content, block pages, shells.

A saved page has its content if three quarters of the words of its gold are in its HTML outside scripts. It needs
its scripts if fewer than three tenths are. Pages in between are left out. A copy without content lacks the smallest
element with four fifths of those words. The rest resembles a page that loads its content with scripts, including
menus, teasers and footer.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lxml import etree

from benchmarks.common.corpora import corpus_folder
from browsers.model import Snapshot
from scraper.html.dom.parsing import Element, element_selector

HELD = 0.75
MISSING = 0.3
_CORE = 0.8

_WORD = re.compile(r"\w+")
_SCRIPTS = element_selector("//script[@src or not(@type) or @type='text/javascript' or @type='module']")
_TEXTS = etree.XPath(
    ".//text()[not(ancestor::script or ancestor::style or ancestor::template[not(@shadowrootmode)] or ancestor::head)]"
)
_GOLD_OF_A_WALL = frozenset({"0551"})
"""Pages whose gold is the text of a block page."""

_DEFAULT_URL = "https://saved.example/"


@dataclass(frozen=True, slots=True)
class LabeledPage:
    """A page and its expected verdict."""

    kind: str
    """Source of the page, by which figures are grouped."""
    name: str
    url: str
    html: str
    expected: str
    """`ok`, `thin` or `blocked`."""


def saved_pages(corpora: Path, every: int = 1) -> Iterator[LabeledPage]:
    """Yield the saved pages and, of those with scripts, copies without their content."""
    for corpus, read in (("wcxb", _wcxb), ("extra-pages", _lines), ("pages-lang", _lines), ("recipes", _lines)):
        folder = corpus_folder(corpora, corpus)
        for number, (kind, name, url, file, gold) in enumerate(read(folder)):
            if number % every == 0:
                yield from _label(f"{corpus} {kind}".strip(), name, url or _DEFAULT_URL, file, gold)


def search_engine_pages(corpora: Path) -> Iterator[LabeledPage]:
    """Yield pages of search engines: block pages, shells, and pages with or without results."""
    folder = corpus_folder(corpora, "serp")
    labels = {"wall": "blocked", "consent": "blocked", "shell": "thin"}
    for line in (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        file = folder / row["file"]
        if file.suffix == ".html" and file.exists():
            html = file.read_text(encoding="utf-8", errors="replace")
            yield LabeledPage(f"serp {row['kind']}", row["id"], row["page_url"], html, labels.get(row["kind"], "ok"))


def text_of(html: str) -> str:
    """Return the text of a page outside scripts, styles and templates."""
    root = _tree(html)
    return "" if root is None else " ".join(cast("list[str]", _TEXTS(root)))


def snapshot_of(page: LabeledPage) -> Snapshot:
    """Return the page as a snapshot."""
    return Snapshot(page.url, page.url, 200, media_type="text/html", html=page.html)


_Row = tuple[str, str, str, Path, str]


def _wcxb(folder: Path) -> Iterator[_Row]:
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    for name, row in index.items():
        gold = json.loads((folder / "gold" / f"{name}.json").read_text(encoding="utf-8"))
        text = gold["ground_truth"].get("main_content") or ""
        yield row["type"], name, row["url"], folder / "html" / f"{name}.html", text


def _lines(folder: Path) -> Iterator[_Row]:
    for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield "", row["id"], row.get("url") or "", folder / row["html"], _gold(folder / row["gold"])


def _gold(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".json":
        return text
    gold = json.loads(text)
    parts = [*(gold.get("ingredients") or ()), *(gold.get("instructions_list") or ())]
    return gold.get("text") or " ".join([*(gold.get("with") or ()), *parts])


def _label(kind: str, name: str, url: str, file: Path, gold: str) -> Iterator[LabeledPage]:
    html = file.read_text(encoding="utf-8", errors="replace")
    root = _tree(html)
    words = Counter(_WORD.findall(gold.lower()))
    if root is None or not words:
        return
    share = _share(words, root)
    scripted = bool(_SCRIPTS(root))
    if name in _GOLD_OF_A_WALL:
        yield LabeledPage(f"{kind}, a wall", name, url, html, "blocked")
    elif share >= HELD:
        yield LabeledPage(kind, name, url, html, "ok")
        if scripted and _remove_content(root, words) and _share(words, root) < MISSING:
            stripped = etree.tostring(root, encoding="unicode", method="html")
            yield LabeledPage("made hollow", f"{name} hollow", url, stripped, "thin")
    elif share < MISSING and scripted:
        yield LabeledPage(f"{kind} without content", name, url, html, "thin")


def _tree(html: str) -> Element | None:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    root: Element | None = etree.fromstring(html.encode("utf-8", "replace"), parser)
    return root


def _share(words: Counter[str], element: Element) -> float:
    texts = cast("list[str]", _TEXTS(element))
    found = Counter(_WORD.findall(" ".join(texts).lower()))
    return (words & found).total() / words.total()


def _remove_content(root: Element, words: Counter[str]) -> bool:
    """Empty the smallest element with the main content; return False if there is none."""
    holder = root.find("body")
    if holder is None:
        return False
    inner: Element | None = holder
    while inner is not None:
        holder = inner
        inner = next((child for child in holder.iterchildren("*") if _share(words, child) >= _CORE), None)
    for child in list(holder):
        holder.remove(child)
    holder.text = None
    return True
