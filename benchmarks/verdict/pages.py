"""Pages with the verdict that they deserve: saved ones by their gold, the same made hollow, walls, shells.

A saved page holds its content when three quarters of the words of its gold stand in its HTML outside of
scripts; it needs its scripts when less than three tenths do; what lies between is left out. A page that
holds its content is made hollow by taking out of it the smallest element with four fifths of those words:
what is left is what a site serves that loads its content by script, menus, teasers and footer included.
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
from scraper.extract.dom.xpath import Element, element_selector

HELD = 0.75
MISSING = 0.3
_CORE = 0.8

_WORD = re.compile(r"\w+")
_SCRIPTS = element_selector("//script[@src or not(@type) or @type='text/javascript' or @type='module']")
_TEXTS = etree.XPath(
    ".//text()[not(ancestor::script or ancestor::style or ancestor::template[not(@shadowrootmode)] or ancestor::head)]"
)
_GOLD_OF_A_WALL = frozenset({"0551"})
"""The gold of this page is the text of the wall that whoever saved it met."""

_NOWHERE = "https://saved.example/"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page and what a reader should make of it."""

    kind: str
    """Where it comes from; figures are told by it."""
    name: str
    url: str
    html: str
    expected: str
    """`ok`, `thin` or `blocked`."""


def saved(corpora: Path, every: int = 1) -> Iterator[Labelled]:
    """Return the available saved pages and, of those with scripts, copies without their content."""
    for corpus, read in (("wcxb", _wcxb), ("extra-pages", _lines), ("pages-lang", _lines), ("recipes", _lines)):
        folder = corpus_folder(corpora, corpus)
        for number, (kind, name, url, file, gold) in enumerate(read(folder)):
            if number % every == 0:
                yield from _labelled(f"{corpus} {kind}".strip(), name, url or _NOWHERE, file, gold)


def searches(corpora: Path) -> Iterator[Labelled]:
    """Pages of search engines: walls, shells, and pages with results or with the word that there are none."""
    folder = corpus_folder(corpora, "serp")
    labels = {"wall": "blocked", "consent": "blocked", "shell": "thin"}
    for line in (folder / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        file = folder / row["file"]
        if file.suffix == ".html" and file.exists():
            html = file.read_text(encoding="utf-8", errors="replace")
            yield Labelled(f"serp {row['kind']}", row["id"], row["page_url"], html, labels.get(row["kind"], "ok"))


def text_of(html: str) -> str:
    """Return the text of a page outside scripts, styles and templates."""
    root = _tree(html)
    return "" if root is None else " ".join(cast("list[str]", _TEXTS(root)))


def snapshot_of(page: Labelled) -> Snapshot:
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


def _labelled(kind: str, name: str, url: str, file: Path, gold: str) -> Iterator[Labelled]:
    html = file.read_text(encoding="utf-8", errors="replace")
    root = _tree(html)
    words = Counter(_WORD.findall(gold.lower()))
    if root is None or not words:
        return
    share = _share(words, root)
    scripted = bool(_SCRIPTS(root))
    if name in _GOLD_OF_A_WALL:
        yield Labelled(f"{kind}, a wall", name, url, html, "blocked")
    elif share >= HELD:
        yield Labelled(kind, name, url, html, "ok")
        if scripted and _take_out(root, words) and _share(words, root) < MISSING:
            hollow = etree.tostring(root, encoding="unicode", method="html")
            yield Labelled("made hollow", f"{name} hollow", url, hollow, "thin")
    elif share < MISSING and scripted:
        yield Labelled(f"{kind} without content", name, url, html, "thin")


def _tree(html: str) -> Element | None:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    root: Element | None = etree.fromstring(html.encode("utf-8", "replace"), parser)
    return root


def _share(words: Counter[str], element: Element) -> float:
    texts = cast("list[str]", _TEXTS(element))
    there = Counter(_WORD.findall(" ".join(texts).lower()))
    return (words & there).total() / words.total()


def _take_out(root: Element, words: Counter[str]) -> bool:
    """Empty the smallest element that holds the core of the content; whether there is one."""
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
