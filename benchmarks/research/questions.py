"""Questions whose answers are known: each is made from one sentence that stands somewhere in a long page.

How they are made, always in the same way, from the corpora's gold texts alone (no reader of ours has a part):

1. Pages whose gold text, or where only phrases are given whose visible text, costs more than 2,500 tokens; at
   most four questions a page, at most ten pages a domain.
2. A sentence of 40 to 320 characters (12 to 160 where words are not set apart), drawn evenly over the whole
   page by a hash of the page's name: not deep on purpose, not near the top on purpose.
3. Its content words, commonest in the language's pages last. The commonest third is dropped, and so is the
   very rarest one: questions seldom hold the one word that gives the answer away. Seven at most are kept, in
   an order of their hashes.
4. Four kinds in turn. `words`: those words. `forms`: words of seven letters and more lose their last two,
   as another form of the word would. `heading`: the heading above the sentence and two of the words. `title`:
   the page's title, whose words stand everywhere in it, and three of the words.

The half by which parameters were chosen and the half that is reported are told apart by a hash of the domain.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree
from lxml import html as lxml_html

from benchmarks.common.corpora import corpus_folder
from scraper.extract.text.token_estimate import estimate

LEAST_TOKENS = 2_500
QUESTIONS_A_PAGE = 4
PAGES_A_DOMAIN = 10
KINDS = ("words", "forms", "heading", "title")

_SENTENCE = re.compile(r"[^.!?。！？।\n]+(?:[.!?。！？।]+(?=[\s\"'”’»）)」]|$|(?<=[。！？।]))|(?=\n|$)|\.(?=\S))*")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0eff]")
_CONTENT = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\u30a0-\u30ff]{2,}"
    "|[\u0e00-\u0eff]{4,}"
    r"|[^\W\d_\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff]{4,}"
    r"|\d{2,}"
)
_LINK_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_NOT_LETTERS = re.compile(r"[\W_]+")
_HIDDEN_TAGS = ("script", "style", "noscript", "template", "svg")


@dataclass(frozen=True, slots=True)
class Page:
    """One long page of a corpus."""

    name: str
    url: str
    domain: str
    language: str
    file: Path
    title: str
    gold: str
    """The main text; empty where the corpus gives only phrases of it."""
    phrases: tuple[str, ...] = ()

    @property
    def is_for_choosing(self) -> bool:
        """Whether its questions may be looked at while parameters are chosen."""
        return zlib.crc32(self.domain.encode()) % 2 == 0


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the sentence that answers it."""

    text: str
    passage: str
    kind: str
    page: Page


def pages_of(corpora: Path, least_tokens: int = LEAST_TOKENS) -> list[Page]:
    """Return the long pages of both corpora, with a limit per domain."""
    chosen: list[Page] = []
    domains: Counter[str] = Counter()
    for page in sorted((*_of_wcxb(corpora), *_of_languages(corpora)), key=lambda page: _hash(page.name)):
        if domains[page.domain] < PAGES_A_DOMAIN and _length(page) > least_tokens:
            domains[page.domain] += 1
            chosen.append(page)
    return chosen


def questions_of(pages: Iterable[Page]) -> list[Question]:
    """Return the questions of these pages, ordered by their hashes."""
    pages = list(pages)
    commonness: dict[str, Counter[str]] = defaultdict(Counter)
    for page in pages:
        for sentence in _sentences(page):
            commonness[page.language].update(set(_words(sentence)))
    questions = [
        question
        for page in pages
        for number in range(QUESTIONS_A_PAGE)
        if (question := _question(page, number, commonness[page.language])) is not None
    ]
    unique = {(question.page.name, question.passage): question for question in questions}
    return sorted(unique.values(), key=lambda question: _hash(question.text))


def is_inside(passage: str, answer: str) -> bool:
    """Whether the passage stands in the answer, letter for letter; white space and marks do not count."""
    return _letters(passage) in _letters(_LINK_TARGET.sub("]", answer))


def _of_wcxb(corpora: Path) -> Iterator[Page]:
    folder = corpus_folder(corpora, "wcxb")
    for name, row in json.loads((folder / "index.json").read_text(encoding="utf-8")).items():
        gold = json.loads((folder / "gold" / f"{name}.json").read_text(encoding="utf-8"))["ground_truth"]
        yield Page(
            f"wcxb/{name}",
            row["url"],
            row["domain"],
            "en",
            folder / "html" / f"{name}.html",
            gold.get("title") or "",
            gold.get("main_content") or "",
        )


def _of_languages(corpora: Path) -> Iterator[Page]:
    folder = corpus_folder(corpora, "pages-lang")
    for line in (folder / "index.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        gold: dict[str, Any] = json.loads((folder / row["gold"]).read_text(encoding="utf-8"))
        yield Page(
            f"pages-lang/{row['id']}",
            row["url"],
            row["domain"],
            row["lang"],
            folder / row["html"],
            gold.get("title") or "",
            gold.get("text") or "",
            tuple(gold.get("with") or ()),
        )


def _length(page: Page) -> int:
    return estimate(page.gold or _visible(page.file))


def _visible(file: Path) -> str:
    root = lxml_html.document_fromstring(file.read_bytes())
    etree.strip_elements(root, *_HIDDEN_TAGS, with_tail=False)
    return " ".join(" ".join(map(str, root.itertext())).split())


def _question(page: Page, number: int, commonness: Counter[str]) -> Question | None:
    sentences = [sentence for sentence in _sentences(page) if _is_askable(sentence)]
    if not sentences:
        return None
    seed = f"{page.name} {number}"
    passage = sentences[_hash(seed) % len(sentences)]
    kept = _kept(passage, commonness, seed)
    kind = KINDS[_hash(f"{seed} kind") % len(KINDS)]
    text = _worded(kind, kept, page, passage)
    return Question(text, passage, kind, page) if text else None


def _worded(kind: str, kept: list[str], page: Page, passage: str) -> str:
    if kind == "forms":
        return " ".join(word[:-2] if len(word) >= 7 and word.isalpha() else word for word in kept)
    if kind == "heading":
        heading = _heading_above(page.gold, passage)
        return f"{heading} {' '.join(kept[:2])}" if heading else " ".join(kept)
    if kind == "title" and page.title:
        return f"{page.title[:120]}: {' '.join(kept[:3])}"
    return " ".join(kept)


def _kept(passage: str, commonness: Counter[str], seed: str) -> list[str]:
    words = sorted(dict.fromkeys(_words(passage)), key=lambda word: (commonness[word], word))
    rarer = words[1 : max(4, 1 + len(words) * 2 // 3)]
    return sorted(rarer, key=lambda word: _hash(seed + word))[:7]


def _heading_above(text: str, passage: str) -> str:
    """Return the last line before the passage that is short and ends like a heading."""
    before = text[: text.find(passage)].splitlines()[:-1]
    for line in reversed(before):
        if 3 <= len(line) <= 80 and line[-1].isalnum():
            return line.strip()
    return ""


def _sentences(page: Page) -> list[str]:
    if not page.gold:
        return [phrase.strip() for phrase in page.phrases]
    return [sentence.strip() for sentence in _SENTENCE.findall(page.gold) if sentence.strip()]


def _is_askable(sentence: str) -> bool:
    unspaced = len(_UNSPACED.findall(sentence)) > len(sentence) / 3
    low, high = (12, 160) if unspaced else (40, 320)
    return low <= len(sentence) <= high and len(set(_words(sentence))) >= 4


def _words(sentence: str) -> list[str]:
    """Words of four letters and more, numbers; pieces of two to four characters where nothing parts words."""
    found: list[str] = []
    for word in _CONTENT.findall(sentence.lower()):
        size = 3 if "\u3040" <= word[0] <= "\u9fff" else 6 if "\u0e00" <= word[0] <= "\u0eff" else 0
        found += [word[at : at + size] for at in range(0, len(word), size)] if size else [word]
    return [word for word in found if len(word) > 1]


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).casefold()


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
