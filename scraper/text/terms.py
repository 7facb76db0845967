"""Split text of any script into comparable terms, weight terms by rarity, and count words."""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator

from scraper.words.matcher import Words

_STEM_LETTERS = 5
"""Letters. Words that share this prefix count as one. Cutting words at five letters does about as well as stemmers
made for a language (McNamee, Nicholas and Mayfield 2009, on European languages)."""

ENGLISH_STOP_WORDS = Words("stop_words.any_topic", language="en")
"""English words that occur in questions on any topic."""

_MIN_PLURAL_STEM = 3
"""Letters. The plural of a short word differs within its first five letters: cats, roads."""

_BIGRAM_SCRIPTS = (
    "\u3040-\u30ff\u3105-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3\U00020000-\U000323af"
)
"""Kana, bopomofo, Han, Hangul: each pair of characters is a term, as is usual in their retrieval. Korean has spaces,
but attaches particles to the preceding word."""

_TRIGRAM_SCRIPTS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer: written without spaces; each three characters are a term."""

_VOWEL_SIGNS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0dff\u0f18-\u0fbc"
)
r"""Vowel signs and points inside of words, which `\w` does not match."""

_RUN = re.compile(rf"[\w{_VOWEL_SIGNS}{_TRIGRAM_SCRIPTS}]+")
_SCRIPT_RUN = re.compile(rf"([{_BIGRAM_SCRIPTS}]+)|([{_TRIGRAM_SCRIPTS}]+)|[^{_BIGRAM_SCRIPTS}{_TRIGRAM_SCRIPTS}]+")
_LINK_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)")
_WORD = re.compile(r"\w+")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_WORD_OR_CHARACTER = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_ASCII_WORDS = bytes(code if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(128)).ljust(256)
"""Word characters, and spaces for all else. Splitting with this table takes a quarter of the time of the expression."""
DIGITS = re.compile(r"\d+")
LETTERS = re.compile(r"[^\W\d_]+")
CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Matches the empty text between the words of a name such as `itemPrice`."""
_NGRAM_SCRIPT = re.compile(rf"[{_BIGRAM_SCRIPTS}{_TRIGRAM_SCRIPTS}]")
_STROKES = {"đ": "d", "ł": "l", "ø": "o", "ħ": "h", "ŧ": "t", "ı": "i"}
"""Letters with a stroke or a missing dot. Unicode does not decompose them, but people omit the stroke."""
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]+")
"""Accents and points, which people omit in queries."""


def fold_text(text: str) -> str:
    """Return the text without differences of case, accents and width."""
    if text.isascii():
        return text.lower()
    # Case-fold after decomposing: mathematical letters, for example, have no case before.
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    folded = unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))
    for letter, plain in _STROKES.items():
        folded = folded.replace(letter, plain)
    return folded


def split_words(text: str, *, by_character: bool = False, ignore_numbers: bool = False) -> list[str]:
    """Return the words of a text in lower case, as it writes them; see `split_terms` for a comparison of meanings.

    Args:
        text: Text in any script.
        by_character: Make each character a word in scripts without spaces.
        ignore_numbers: Replace each number by 0.
    """
    lowered = text.lower()
    if ignore_numbers:
        lowered = DIGITS.sub("0", lowered)
    if lowered.isascii():
        return lowered.encode().translate(_ASCII_WORDS).decode().split()
    return (_WORD_OR_CHARACTER if by_character else _WORD).findall(lowered)


def split_terms(text: str) -> list[str]:
    """Return the words of a text, folded, or n-grams of characters for scripts without spaces."""
    folded = fold_text(text).replace("_", " ")
    runs: list[str] = _RUN.findall(folded)
    if text.isascii() or not _NGRAM_SCRIPT.search(folded):
        return runs
    return [term for run in runs for term in ((run,) if run.isascii() else _split_run(run))]


def unique_terms(text: str) -> frozenset[str]:
    """Return the different terms of a text."""
    return frozenset(split_terms(text))


def is_ngram(term: str) -> bool:
    """Return True if a term is an n-gram of a script without spaces."""
    return _NGRAM_SCRIPT.match(term) is not None


def is_unspaced(word: str) -> bool:
    """Return True if a word begins with a character of a script without spaces, which is a word of its own."""
    return UNSPACED_CHARACTER.match(word) is not None


def fold_letters(text: str) -> str:
    """Return only the letters and digits of a text, folded."""
    return "".join(_RUN.findall(fold_text(text).replace("_", " ")))


def split_markdown_terms(markdown: str) -> list[str]:
    """Return the terms of a Markdown text without the URLs of its links."""
    return split_terms(_LINK_TARGET.sub("]", markdown))


def stem(term: str) -> str:
    """Return the prefix that the forms of a word share."""
    if len(term) > _MIN_PLURAL_STEM and term.endswith("s"):
        term = term[:-1]
    return term[:_STEM_LETTERS]


def inverse_document_frequency(frequency: float, documents: float) -> float:
    """Return the IDF of BM25 for a term that `frequency` of all documents contain; never negative."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def _split_run(run: str) -> Iterator[str]:
    for piece in _SCRIPT_RUN.finditer(run):
        bigrams, trigrams = piece.groups()
        letters, size = piece.group(), 2 if bigrams else 3
        if bigrams or trigrams:
            yield from (letters[at : at + size] for at in range(max(1, len(letters) - size + 1)))
        else:
            yield letters


def compile_any_of(alternatives: Iterable[str]) -> re.Pattern[str]:
    r"""Compile alternatives so that a search takes a third of the time or less: grouped by their first letters.

    Each alternative must begin with a letter, or with `\b` and a letter. The result matches where one of them does, but
    may prefer another one there.
    """
    endings: defaultdict[str, list[str]] = defaultdict(list)
    for alternative in alternatives:
        # The expression engine skips to the first letters only if no assertion is before them.
        word = alternative.removeprefix(r"\b")
        endings[word[0]].append((r"(?<!\w.)" if word != alternative else "") + word[1:])
    return re.compile("|".join(f"{first}(?:{'|'.join(after)})" for first, after in endings.items()))


_CHARACTERS_PER_WORD = 5
"""Characters per word in Chinese, Japanese and Thai, which write no spaces."""


def count_words(text: str, most: int = -1) -> int:
    """Return the number of words of a text; for scripts without spaces, estimate it from the length.

    With `most`, counting ends there, and the remaining text counts as one word.
    """
    words = text.split(None, most)
    return max(len(words), 0 if text.isascii() else sum(map(len, words)) // _CHARACTERS_PER_WORD)
