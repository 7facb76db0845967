"""Links that open a page at a quotation: text directives, `#:~:text=`, by the rules of browsers.

Format and matching: https://wicg.github.io/scroll-to-text-fragment/. A quotation must begin and end at word
boundaries and must not leave its block. One that finds nothing does no harm: the page opens at its top.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from scraper.extract.text.terms import split_terms

_EXACT_CHARACTERS = 48
"""A longer quotation is given by its first and its last words."""
_FIRST_WORDS = (5, 8, 12)
"""How many first words: the fewest with which no place before this one begins."""
_LAST_WORDS, _CONTEXT_WORDS = 3, 3
_LEAST_LETTERS = 4
"""Below this a quotation is found anywhere."""

_TARGET = r"\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)"
_IMAGE = re.compile(rf"(\\.)|!\[(?:[^\[\]\\\n]|\\.)*+\]{_TARGET}")
_LINK = re.compile(rf"(\\.)|\[((?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\])*+)\]{_TARGET}")
"""What is escaped is matched too: a bracket in it opens nothing, and is not tried as one."""
_OPENING = re.compile(r"[ \t>]*(?:#{1,6} +|(?:[-*+]|\d{1,9}[.)]) +(?:\[[ xX]\] +)?|\|)?[ \t]*")
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|\*+|`+|~~")
_MARKED = re.compile(r"[\\*`~]")
_BREAKS = re.compile(r"[|<>$\\{}^\u2028]|\s{2,}|!\[")
"""What may look otherwise on the page than in Markdown ends a run of words that can be quoted."""
_SENTENCE = re.compile(r"[^.!?。！？।؟]+(?:[.!?。！？।؟](?!\s|$)[^.!?。！？।؟]*)*")
_CLAUSE = re.compile(r"[^\s、，。；：！？「」『』（）《》〈〉【】,;:!?()]+")
_EDGES = re.compile(r"^[^\w]+|[^\w\u0300-\u036f\u0900-\u0fff]+$")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_TO_ENCODE = re.compile(r"[^\w~.\u0300-\u036f\u0900-\u0fff\u1000-\u109f\u1780-\u17ff]")


@dataclass(frozen=True, slots=True)
class _Quote:
    """Some words of one line of the page, and what stands around them in it."""

    words: str
    before: str
    after: str


class VisibleText:
    """A page's Markdown as its words stand on the page."""

    def __init__(self, markdown: str) -> None:
        self.markdown = markdown
        self._starts: list[int] = []
        self._places: list[int] = []
        lines: list[str] = []
        at = place = 0
        for line in markdown.splitlines(keepends=True):
            if plain := _plain(line).casefold():
                lines.append(plain)
                self._starts.append(at)
                self._places.append(place)
                place += len(plain) + 1
            at += len(line)
        self._text = " ".join(lines)

    def rarities(self, words: Iterable[str]) -> Mapping[str, float]:
        """How much it tells, word by word, that it stands in a part of this page."""
        return {word: 1 / (1 + self._text.count(word)) for word in words}

    def comes_first(self, words: str, start: int) -> bool:
        """Whether the words, standing at or after a place of the Markdown, stand nowhere before it."""
        line = bisect_right(self._starts, start) - 1
        sought = words.casefold()
        return self._text.find(sought) >= self._text.find(sought, self._places[max(0, line)])


def build_text_directive(page: VisibleText, start: int, end: int, telling: Mapping[str, float]) -> str:
    """The text directive for the sentence between two places that tells most of the words asked for."""
    quotes = list(_quotes(page.markdown[start:end]))
    if not quotes:
        return ""
    best = max(quotes, key=lambda quote: _nearness(quote, telling))
    first, last = next(
        (ends for ends in _ends(best.words) if page.comes_first(ends[0], start)), (best.words, "")
    )
    before = after = ""
    if not page.comes_first(first, start):
        # Between these and the quotation nothing but white space may stand: punctuation belongs to them.
        before = " ".join(best.before.split()[-_CONTEXT_WORDS:])
        after = "" if before or last else " ".join(best.after.split()[:_CONTEXT_WORDS])
    return _written(before, first, last, after)


def link_to_quotation(url: str, text_directive: str) -> str:
    """The URL that opens the page at the quotation; a fragment of its own is kept."""
    if not text_directive:
        return url
    page, mark, fragment = url.partition("#")
    fragment = fragment.partition(":~:")[0]
    return f"{page}#{fragment if mark else ''}:~:{text_directive}"


def _written(before: str, first: str, last: str, after: str) -> str:
    parts = (
        f"{_encoded(before)}-," if before else "",
        _encoded(first),
        f",{_encoded(last)}" if last else "",
        f",-{_encoded(after)}" if after else "",
    )
    return f"text={''.join(parts)}"


def _encoded(text: str) -> str:
    """Percent-encoded where the directive, an address or Markdown would read a character as its own.

    Letters of every script stay as they are: an address may hold them, and they cost a fraction so.
    """
    return _TO_ENCODE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), text)


def _ends(words: str) -> Iterator[tuple[str, str]]:
    """A short quotation whole, a long one as its first and its last words."""
    apart = words.split()
    for count in _FIRST_WORDS:
        if len(words) > _EXACT_CHARACTERS and len(apart) > count + _LAST_WORDS:
            yield _bared(" ".join(apart[:count])), _bared(" ".join(apart[-_LAST_WORDS:]))
    yield words, ""


def _quotes(markdown: str) -> Iterator[_Quote]:
    """What can be quoted of some Markdown: sentences, or clauses where words are not set apart."""
    for line in markdown.splitlines():
        plain = _plain(line)
        pattern = _CLAUSE if _UNSPACED.search(plain) else _SENTENCE
        for run in _runs(plain):
            for match in pattern.finditer(run):
                words = _bared(match.group())
                if sum(map(str.isalnum, words)) >= _LEAST_LETTERS:
                    at = run.index(words, match.start())
                    yield _Quote(words, run[:at], run[at + len(words) :])


def _nearness(quote: _Quote, telling: Mapping[str, float]) -> tuple[float, bool, int]:
    """More and rarer words of the question first, then enough words to be unlike others, then brevity."""
    told = sum(telling.get(word, 0.0) for word in sorted(set(split_terms(quote.words))))
    return told, len(quote.words) >= _EXACT_CHARACTERS // 2, -len(quote.words)


def _runs(plain: str) -> list[str]:
    return [run for run in _BREAKS.split(plain) if run]


def _bared(words: str) -> str:
    """Without punctuation at its ends: a quotation ends where a word does."""
    return _EDGES.sub("", words)


def _plain(line: str) -> str:
    """A line of Markdown as a person sees it."""
    text = line[_OPENING.match(line).end() :].rstrip()  # type: ignore[union-attr]
    if "](" in text:
        text = _LINK.sub(r"\1\2", _IMAGE.sub(r"\1", text))
    return _MARKUP.sub(r"\1", text) if _MARKED.search(text) else text
