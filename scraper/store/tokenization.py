"""Rewrite texts and queries so that SQLite's tokenizer finds words in every script.

FTS5's `unicode61` splits at spaces and punctuation, which is right for most scripts. Chinese, Japanese, Korean and
Thai are rewritten as overlapping pairs of characters, the usual index for scripts without spaces. In `C++` and `C#`
the signs are replaced by letters, so that they are words of their own. Case and accents are folded here, since SQLite
folds those of Latin letters only.
"""

import re
import unicodedata

TOKENIZER = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""Vowel signs (Mn, Mc) belong to words in Hindi, Tamil or Thai; the default tokenizer splits there."""

SIGNS = "\u0300-\u036f\u0900-\u0dff"
"""Combining marks inside words that Python does not count as letters."""

UNSPACED_SCRIPTS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3105-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
"""Thai, Lao, Burmese, Khmer, kana, bopomofo, Han; and Hangul, which appends particles to words."""

_RUN = re.compile(f"[{UNSPACED_SCRIPTS}]+")
_SIGNED = re.compile(r"(?<=[A-Za-z])(?:\+\+|#)(?!\w)")
_PLUS, _SHARP = "\ue000\ue000", "\ue001"
"""Private characters: letters to the tokenizer, and absent from the words of pages."""
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]+")
"""Accents, and the points and vowel signs that Hebrew and Arabic usually omit."""
_SHORT_I, _SHORT_I_MARK = "\u0438\u0306", "\ue002"
"""A separate letter that only looks like a letter with an accent."""
_LETTERS = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
"""Letters without a decomposition, and their usual spelling on keyboards that lack them."""
_ALIGNMENT_LIMIT = 20_000
"""Cached characters, more than any language has."""


def to_index_text(text: str) -> str:
    """Return a page's text as the tokenizer should index it."""
    text = _replace_signs(text)
    if text.isascii():
        return text
    text = fold(text)
    paired = _RUN.sub(lambda run: _split_pairs(run.group()), text)
    # Single characters are searched as prefixes, which find the pairs that begin with them. Characters that only end a
    # run are appended, after everything else so that phrases stay together.
    lasts = " . ".join(sorted({run[-1] for run in _RUN.findall(text)}))
    return f"{paired} . {lasts}" if lasts else paired


def to_query_text(text: str) -> tuple[str, bool]:
    """Return a query term as the tokenizer should see it, and True if it must be searched as a prefix."""
    text = fold(_replace_signs(text)).strip()
    if len(text) == 1 and is_unspaced(text):
        return text, True
    return _RUN.sub(lambda run: _split_pairs(run.group()), text), False


def has_words(text: str) -> bool:
    """Return True if the tokenizer finds a word in the text."""
    return any(character.isalnum() for character in text)


def fold_aligned(text: str) -> str:
    """Return the text without case and accents, with each character at its original offset."""
    return text.lower() if text.isascii() else text.translate(_ALIGNMENT)


def is_unspaced(character: str) -> bool:
    """Return True if the script of this character has no spaces between words."""
    return _RUN.match(character) is not None


def fold(text: str) -> str:
    """Return the text without case and accents, as it is indexed and searched."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text).casefold().replace(_SHORT_I, _SHORT_I_MARK)
    plain = _MARKS.sub("", apart).replace(_SHORT_I_MARK, _SHORT_I)
    return unicodedata.normalize("NFKC", plain.translate(_LETTERS))


def _replace_signs(text: str) -> str:
    if "++" not in text and "#" not in text:
        return text
    return _SIGNED.sub(lambda sign: _SHARP if sign[0] == "#" else _PLUS, text)


def _split_pairs(run: str) -> str:
    return f" {' '.join(run[at : at + 2] for at in range(len(run) - 1)) or run} "


class _Alignment(dict[int, str]):
    """Cache of the folded form of each character, one character long."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = fold(character)
        same = plain if len(plain) == 1 else character.lower()
        same = same if len(same) == 1 else character
        if len(self) < _ALIGNMENT_LIMIT:
            self[code] = same
        return same


_ALIGNMENT = _Alignment()
