"""Build links that open a page at a quotation: text directives, `#:~:text=`.

Format and matching: https://wicg.github.io/scroll-to-text-fragment/. A quotation must begin and end at word boundaries
and must not leave its block; its first words are enough. If they are not found, the page opens at its top.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from scraper.text.terms import UNSPACED_CHARACTER, split_terms

_FIRST_WORD_COUNTS = (3, 5, 8, 12)
"""Numbers of first words to try: the fewest that do not occur earlier on the page."""
_SHORT_CHARACTERS = 32
"""Characters. A shorter quotation is quoted whole, and is chosen only if it has rarer words."""
_CONTEXT_WORDS = 3
_MIN_LETTERS = 4
"""Letters. A shorter quotation would match anywhere."""

LINK_TARGET = r"\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)"
_IMAGE = re.compile(rf"(\\.)|!\[(?:[^\[\]\\\n]|\\.)*+\]{LINK_TARGET}")
_LINK = re.compile(rf"(\\.)|\[((?:[^\[\]\\\n]|\\.|\[[^\[\]\n]*\])*+)\]{LINK_TARGET}")
"""Links. Escaped characters match too, so that an escaped bracket opens nothing."""
_OPENING = re.compile(r"[ \t>]*(?:#{1,6} +|(?:[-*+]|\d{1,9}[.)]) +(?:\[[ xX]\] +)?|\|)?[ \t]*")
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|\*+|`+|~~")
_RUN_END = re.compile(r"[|<>$\\{}^\u2028]|\s{2,}|!\[")
"""Characters that may look different on the page; a quotation must not contain them."""
_SENTENCE = re.compile(r"[^.!?。！？।؟]+(?:[.!?。！？।؟](?!\s|$)[^.!?。！？।؟]*)*")
_CLAUSE = re.compile(r"[^\s、，。；：！？「」『』（）《》〈〉【】,;:!?()]+")
_EDGES = re.compile(r"^[^\w]+|[^\w\u0300-\u036f\u0900-\u0fff]+$")
"""Punctuation at both ends: a quotation must end at a word boundary."""
_TO_ENCODE = re.compile(r"[^\w~.\u0300-\u036f\u0900-\u0fff\u1000-\u109f\u1780-\u17ff]")


@dataclass(frozen=True, slots=True)
class _Quote:
    """A quotable part of a line, and the text before and after it."""

    words: str
    before: str
    after: str


class VisibleText:
    """Visible words of a page's Markdown."""

    def __init__(self, markdown: str) -> None:
        """Index the lines of a Markdown text."""
        self.markdown = markdown
        self._starts: list[int] = []
        self._places: list[int] = []
        lines: list[str] = []
        at = place = 0
        for line in markdown.splitlines(keepends=True):
            if plain := visible_line(line).casefold():
                lines.append(plain)
                self._starts.append(at)
                self._places.append(place)
                place += len(plain) + 1
            at += len(line)
        self._text = " ".join(lines)

    def weigh_terms(self, words: Iterable[str]) -> Mapping[str, float]:
        """Return a weight for each word: the rarer it is on this page, the higher."""
        return {word: 1 / (1 + self._text.count(word)) for word in words}

    def is_first_occurrence(self, words: str, start: int) -> bool:
        """Return True if words at or after an offset of the Markdown do not occur before it."""
        line = bisect_right(self._starts, start) - 1
        needle = words.casefold()
        return self._text.find(needle) >= self._text.find(needle, self._places[max(0, line)])


def build_text_directive(page: VisibleText, start: int, end: int, term_weights: Mapping[str, float]) -> str:
    """Return the text directive for the best sentence between two offsets, by term weights; empty if there is none."""
    quotes = list(_find_quotes(page.markdown[start:end]))
    if not quotes:
        return ""
    best = max(quotes, key=lambda quote: _rank_quote(quote, term_weights))
    quote = next(
        (words for words in _find_beginnings(best.words) if page.is_first_occurrence(words, start)), best.words
    )
    before = after = ""
    if not page.is_first_occurrence(quote, start):
        # Only white space may separate these from the quotation: punctuation belongs to them.
        before = " ".join(best.before.split()[-_CONTEXT_WORDS:])
        after = "" if before else " ".join(best.after.split()[:_CONTEXT_WORDS])
    parts = (f"{_percent_encode(before)}-," if before else "", f",-{_percent_encode(after)}" if after else "")
    return f"text={parts[0]}{_percent_encode(quote)}{parts[1]}"


def link_to_quotation(url: str, text_directive: str) -> str:
    """Return the URL that opens the page at the quotation. An existing fragment is preserved."""
    if not text_directive:
        return url
    page, mark, fragment = url.partition("#")
    fragment = fragment.partition(":~:")[0]
    return f"{page}#{fragment if mark else ''}:~:{text_directive}"


def _percent_encode(text: str) -> str:
    """Percent-encode all but letters of all scripts, which URLs may contain, and which need fewer tokens so."""
    return _TO_ENCODE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), text)


def _find_beginnings(words: str) -> Iterator[str]:
    """Yield the first words of a quotation, more each time, then the whole quotation."""
    split_words = words.split()
    for count in _FIRST_WORD_COUNTS:
        if len(words) > _SHORT_CHARACTERS and len(split_words) > count:
            yield _EDGES.sub("", " ".join(split_words[:count]))
    yield words


def _find_quotes(markdown: str) -> Iterator[_Quote]:
    """Yield parts of Markdown that can be quoted: sentences, or clauses in scripts without spaces."""
    for line in markdown.splitlines():
        plain = visible_line(line)
        pattern = _CLAUSE if UNSPACED_CHARACTER.search(plain) else _SENTENCE
        for run in _RUN_END.split(plain):
            for match in pattern.finditer(run):
                words = _EDGES.sub("", match.group())
                if sum(map(str.isalnum, words)) >= _MIN_LETTERS:
                    at = run.index(words, match.start())
                    yield _Quote(words, run[:at], run[at + len(words) :])


def _rank_quote(quote: _Quote, term_weights: Mapping[str, float]) -> tuple[float, bool, int]:
    """Return a sort key: term weight first, then sufficient length, then brevity."""
    weight = sum(term_weights.get(word, 0.0) for word in sorted(set(split_terms(quote.words))))
    return weight, len(quote.words) >= _SHORT_CHARACTERS, -len(quote.words)


def visible_line(line: str) -> str:
    """Return the visible text of a line of Markdown."""
    text = line[_OPENING.match(line).end() :].rstrip()  # type: ignore[union-attr]
    if "](" in text:
        text = _LINK.sub(r"\1\2", _IMAGE.sub(r"\1", text))
    return _MARKUP.sub(r"\1", text) if any(sign in text for sign in "\\*`~") else text
