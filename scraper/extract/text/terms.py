"""What a text is about, in words that compare: one measure for every script, with or without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

STEM_LETTERS = 5
"""Words that share so many first letters count as forms of one. Cutting words at five letters does about as
well as stemmers made for a language (McNamee, Nicholas and Mayfield 2009, on European languages)."""

_PLURAL_FROM = 3
"""The plural of a short word differs within its first five letters: cats, roads."""

_PAIRED = (
    "\u3040-\u30ff\u3105-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
    "\U00020000-\U000323af"
)
"""Kana, bopomofo, Han, Hangul: pairs of characters stand for words, as is usual in their retrieval. Korean
has spaces, but writes its particles to the word before."""

_TRIPLED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer: written without spaces; threes of characters stand for words."""

_SIGNS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc"
)
"""Vowel signs and points inside of words, which `\\w` does not take for letters."""

_RUN = re.compile(rf"[\w{_SIGNS}{_TRIPLED}]+")
_PIECE = re.compile(rf"([{_PAIRED}]+)|([{_TRIPLED}]+)|[^{_PAIRED}{_TRIPLED}]+")
_LINK_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)")
_PART = re.compile(rf"[{_PAIRED}{_TRIPLED}]")
_STROKES = str.maketrans("đłøħŧı", "dlohti")
"""A stroke, or a missing dot, is no accent to Unicode, but people leave it out all the same."""
_POINTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]+")
"""Accents and points, which people leave out when they ask."""


def fold_text(text: str) -> str:
    """`text` without what does not tell words apart: case, accents, width."""
    if text.isascii():
        return text.lower()
    # Folded after it is decomposed: mathematical letters, for one, have no case before.
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", _POINTS.sub("", decomposed)).translate(_STROKES)


def split_terms(text: str) -> list[str]:
    """The words of `text`, folded; pairs or threes of characters where words are not set apart."""
    runs: list[str] = _RUN.findall(fold_text(text).replace("_", " "))
    if text.isascii():
        return runs
    return [term for run in runs for term in ((run,) if run.isascii() else _split(run))]


def is_ngram(term: str) -> bool:
    """Whether a term is characters out of a run of them, of a script that does not set words apart."""
    return _PART.match(term) is not None


def fold_letters(text: str) -> str:
    """Letters and digits alone, folded."""
    return "".join(_RUN.findall(fold_text(text).replace("_", " ")))


def split_markdown_terms(markdown: str) -> list[str]:
    """The words of a Markdown text as a person reads them: addresses of links are none."""
    return split_terms(_LINK_TARGET.sub("]", markdown))


def stem(term: str) -> str:
    """What the forms of a word have in common."""
    if len(term) > _PLURAL_FROM and term.endswith("s"):
        term = term[:-1]
    return term[:STEM_LETTERS]


def _split(run: str) -> Iterator[str]:
    for piece in _PIECE.finditer(run):
        paired, tripled = piece.groups()
        if paired:
            yield from _grams(paired, 2)
        elif tripled:
            yield from _grams(tripled, 3)
        else:
            yield piece.group()


def _grams(run: str, size: int) -> Iterator[str]:
    if len(run) <= size:
        yield run
    else:
        yield from (run[at : at + size] for at in range(len(run) - size + 1))


_CHARACTERS_PER_WORD = 5
"""Chinese, Japanese and Thai write no spaces: there, characters tell how much is said."""


def count_words(text: str, most: int = -1) -> int:
    """How many words a text has, or as many as its length is worth where words are not set apart.

    `most`: the count ends there, as all that is behind it then counts as one word more.
    """
    words = text.split(None, most)
    return max(len(words), 0 if text.isascii() else sum(map(len, words)) // _CHARACTERS_PER_WORD)
