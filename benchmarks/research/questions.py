"""Generate questions with known answers: each comes from one sentence of a long page.

The questions are deterministic and use only the gold texts of the corpora, not our reader:

1. Use pages whose gold text costs more than 2,500 tokens (the visible text if the gold has only phrases). Take at
   most four questions per page and ten pages per domain.
2. Choose a sentence of 40 to 320 characters (12 to 160 in scripts without spaces) by a hash of the page's name,
   evenly over the page.
3. Sort its content words by frequency in the language's pages. Drop the most frequent third and the rarest word,
   which questions seldom contain. Keep at most seven words, ordered by their hashes.
4. Build one of four kinds, chosen by a hash. `words`: those words. `forms`: words of seven letters and more without
   their last two letters, like another form of the word. `heading`: the heading above the sentence and two of the
   words. `title`: the page's title, whose words occur all over the page, and three of the words.

A hash of the domain separates the half for choosing parameters from the half that is reported.
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
from scraper.text.token_estimate import estimate

MIN_TOKENS = 2_500
QUESTIONS_PER_PAGE = 4
PAGES_PER_DOMAIN = 10
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
    """Main text; empty if the corpus has only phrases of it."""
    phrases: tuple[str, ...] = ()

    @property
    def is_for_choosing(self) -> bool:
        """True if its questions may be used to choose parameters."""
        return zlib.crc32(self.domain.encode()) % 2 == 0


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the sentence that answers it."""

    text: str
    passage: str
    kind: str
    page: Page


def pages_of(corpora: Path, min_tokens: int = MIN_TOKENS) -> list[Page]:
    """Return the long pages of both corpora, with a limit per domain."""
    selected: list[Page] = []
    domains: Counter[str] = Counter()
    for page in sorted((*_of_wcxb(corpora), *_of_languages(corpora)), key=lambda page: _hash(page.name)):
        if domains[page.domain] < PAGES_PER_DOMAIN and _length(page) > min_tokens:
            domains[page.domain] += 1
            selected.append(page)
    return selected


def questions_of(pages: Iterable[Page]) -> list[Question]:
    """Return the questions of these pages, ordered by their hashes."""
    pages = list(pages)
    frequency: dict[str, Counter[str]] = defaultdict(Counter)
    for page in pages:
        for sentence in _sentences(page):
            frequency[page.language].update(set(_words(sentence)))
    questions = [
        question
        for page in pages
        for number in range(QUESTIONS_PER_PAGE)
        if (question := _question(page, number, frequency[page.language])) is not None
    ]
    unique = {(question.page.name, question.passage): question for question in questions}
    return sorted(unique.values(), key=lambda question: _hash(question.text))


def is_inside(passage: str, answer: str) -> bool:
    """Return True if the answer contains the letters of the passage; white space and punctuation are ignored."""
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


def _question(page: Page, number: int, frequency: Counter[str]) -> Question | None:
    sentences = [sentence for sentence in _sentences(page) if _is_askable(sentence)]
    if not sentences:
        return None
    seed = f"{page.name} {number}"
    passage = sentences[_hash(seed) % len(sentences)]
    words = _select_words(passage, frequency, seed)
    kind = KINDS[_hash(f"{seed} kind") % len(KINDS)]
    text = _question_text(kind, words, page, passage)
    return Question(text, passage, kind, page) if text else None


def _question_text(kind: str, words: list[str], page: Page, passage: str) -> str:
    if kind == "forms":
        return " ".join(word[:-2] if len(word) >= 7 and word.isalpha() else word for word in words)
    if kind == "heading":
        heading = _heading_above(page.gold, passage)
        return f"{heading} {' '.join(words[:2])}" if heading else " ".join(words)
    if kind == "title" and page.title:
        return f"{page.title[:120]}: {' '.join(words[:3])}"
    return " ".join(words)


def _select_words(passage: str, frequency: Counter[str], seed: str) -> list[str]:
    words = sorted(dict.fromkeys(_words(passage)), key=lambda word: (frequency[word], word))
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
    """Return words of at least four letters, and numbers; in scripts without spaces, pieces of 3 or 6 characters."""
    found: list[str] = []
    for word in _CONTENT.findall(sentence.lower()):
        size = 3 if "\u3040" <= word[0] <= "\u9fff" else 6 if "\u0e00" <= word[0] <= "\u0eff" else 0
        found += [word[at : at + size] for at in range(0, len(word), size)] if size else [word]
    return [word for word in found if len(word) > 1]


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).casefold()


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
