"""Texts and queries as SQLite's tokenizer should see them, so that it finds words in every script.

FTS5's `unicode61` cuts at spaces and punctuation. That is right for most scripts; Chinese, Japanese, Korean
and Thai are rewritten as overlapping pairs of characters, the usual index for scripts without spaces, and
`C++` and `C#` get letters in place of their signs, so that they are words of their own. Case and accents are
folded here, since SQLite knows those of Latin letters alone.
"""

from __future__ import annotations

import re
import unicodedata

TOKENIZER = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""Vowel signs (Mn, Mc) belong to words in Hindi, Tamil or Thai; the default cuts there."""

SIGNS = "\u0300-\u036f\u0900-\u0dff"
"""Marks that go on a word and are no letters to Python."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3105-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
"""Thai, Lao, Burmese, Khmer, kana, bopomofo, Han; and Hangul, which writes particles to the word before."""

_RUN = re.compile(f"[{UNSPACED}]+")
_SIGNED = re.compile(r"(?<=[A-Za-z])(?:\+\+|#)(?!\w)")
_PLUS, _SHARP = "\ue000\ue000", "\ue001"
"""Private characters: letters to the tokenizer, and in no page's words."""
_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]+"
)
"""Accents, and the points and vowel signs that Hebrew and Arabic are mostly written without."""
_SHORT_I, _KEPT = "\u0438\u0306", "\ue002"
"""A letter of its own, which only looks like one with an accent."""
_LETTERS = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
"""Letters that no normal form takes apart, and that people without them on their keyboards write so."""
_LETTER = re.compile(f"[{''.join(_LETTERS)}]")
_WORD = re.compile(r"[^\W_]")
_ALIGNMENT_LIMIT = 20_000
"""Characters remembered: more than any language has."""


def indexable(text: str) -> str:
    """A page's text, rewritten for the tokenizer."""
    text = _lettered(text)
    if text.isascii():
        return text
    text = folded(text)
    paired = _RUN.sub(lambda run: _pairs(run.group()), text)
    # Single characters are asked for by prefix, which finds the pairs that begin with them; those that only
    # end a run stand here once more, behind all else so that phrases stay together.
    lasts = " . ".join(sorted({run[-1] for run in _RUN.findall(text)}))
    return f"{paired} . {lasts}" if lasts else paired


def askable(text: str) -> tuple[str, bool]:
    """A word or phrase of a query, rewritten the same way; and whether it must be asked for as a prefix."""
    text = folded(_lettered(text)).strip()
    if len(text) == 1 and is_unspaced(text):
        return text, True
    return _RUN.sub(lambda run: _pairs(run.group()), text), False


def has_words(text: str) -> bool:
    """Whether the tokenizer finds anything in it."""
    return _WORD.search(text) is not None


def aligned(text: str) -> str:
    """`text` without case and accents, each character where it stood: for finding places in it."""
    return text.lower() if text.isascii() else text.translate(_ALIGNMENT)


def is_unspaced(character: str) -> bool:
    """Whether words of this character's script are not set apart."""
    return _RUN.match(character) is not None


def folded(text: str) -> str:
    """`text` without case and accents, as it is looked for."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text).casefold().replace(_SHORT_I, _KEPT)
    plain = _MARKS.sub("", apart).replace(_KEPT, _SHORT_I)
    return unicodedata.normalize("NFKC", _LETTER.sub(lambda found: _LETTERS[found[0]], plain))


def _lettered(text: str) -> str:
    """`C++` and `C#` as words."""
    if "++" not in text and "#" not in text:
        return text
    return _SIGNED.sub(lambda sign: _SHARP if sign[0] == "#" else _PLUS, text)


def _pairs(run: str) -> str:
    return f" {' '.join(run[at : at + 2] for at in range(len(run) - 1)) or run} "


class _Alignment(dict[int, str]):
    """Each character's plain form, found when it is first met; one character stays one."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = folded(character)
        same = plain if len(plain) == 1 else character.lower()
        same = same if len(same) == 1 else character
        if len(self) < _ALIGNMENT_LIMIT:
            self[code] = same
        return same


_ALIGNMENT = _Alignment()
