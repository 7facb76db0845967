"""Detect the language of a text by its script and its commonest words."""

import re
from collections import Counter

from scraper.text.terms import LETTERS
from scraper.values.text import read_table
from scraper.words.matcher import load_once, read_topic

_MAX_CHARACTERS = 4_000
_MIN_WORDS = 20
_MIN_SHARE = 0.12
"""Minimum share of common words of the language: running text has .2 to .45, lists of names almost none."""

_MIN_LEAD = 1.15
"""Factor over the score of the next language. A word counts less if more languages have it."""

_MIN_WORDS_TO_OVERRULE = 40
"""Words. Shorter texts do not overrule the language that their page declares."""

_FOREIGN_SHARE = 0.05
_TEMPLATE_LANGUAGE = "en"
"""Language that templates declare by default. Of 162 pages in other languages, three declared English, and none
declared another wrong language."""

_SCRIPT = re.compile(
    "|".join(f"(?P<{name}>[{letters}])" for name, letters in read_table(__package__, "scripts.toml").items())
)
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_MIN_LETTERS = 40
_MIN_SCRIPT_SHARE = 0.5
"""Share of the letters in one script. Latin names and figures occur in texts of every script."""

_MIN_KANA_SHARE = 0.08
"""Minimum share of kana among Japanese letters: running text has .4 and more; Chinese text has only quoted names."""

_OWN_LETTERS = {"ar": {"ur": "\u0679\u0688\u0691\u06ba\u06be\u06d2", "fa": "\u067e\u0686\u0698\u06af\u06cc"}}
"""By language of a script: the letters that only another language of the script has."""
_MIN_OWN_LETTER_SHARE = 0.03

_WORD_SCRIPTS = ("latin", "cyrillic")
"""Scripts that many languages share, which are told apart by the words of these lists of the topic `language`."""


@load_once
def _common_words() -> dict[str, dict[str, frozenset[str]]]:
    lists = read_topic("language")
    return {script: {name: frozenset(words) for name, words in lists[script].items()} for script in _WORD_SCRIPTS}


def choose_language(declared: str | None, text: str) -> str | None:
    """Return the declared language, or the detected one if none is declared or English is declared wrongly."""
    if declared and declared.lower().split("-")[0] != _TEMPLATE_LANGUAGE:
        return declared
    return detect_language(text, against=_TEMPLATE_LANGUAGE if declared else None) or declared


def detect_language(text: str, against: str | None = None) -> str | None:
    """Return the language of a text, or None if the text is too short, mixed, or in an unknown language.

    With `against`, a declared language, return None if the text may be in that language. Another language of the same
    script then needs a longer text.
    """
    text = text[:_MAX_CHARACTERS]
    script = _detect_script(text)
    if script in _WORD_SCRIPTS:
        return _detect_by_words(text.lower(), _common_words()[script], against)
    return script


def _detect_script(text: str) -> str | None:
    """Return the language of the script, `latin` or `cyrillic`, which many languages share, or None if unclear."""
    if len(text.encode("ascii", "ignore").translate(None, _NO_LETTERS)) > _MIN_SCRIPT_SHARE * len(text):
        return "latin"  # nine pages of ten; the expression would take 2 ms
    counts = Counter(match.lastgroup for match in _SCRIPT.finditer(text))
    japanese = counts["kana"] + counts["han"]
    counts["ja" if counts["kana"] > _MIN_KANA_SHARE * japanese else "zh"] = japanese
    del counts["kana"], counts["han"]
    name, count = counts.most_common(1)[0]
    if count < _MIN_LETTERS or count < _MIN_SCRIPT_SHARE * counts.total():
        return None
    own_letters = _OWN_LETTERS.get(name or "", {})
    least = _MIN_OWN_LETTER_SHARE * count
    return next((own for own, letters in own_letters.items() if sum(map(text.count, letters)) > least), name)


def _detect_by_words(text: str, languages: dict[str, frozenset[str]], against: str | None) -> str | None:
    words = Counter(LETTERS.findall(text))
    total = words.total()
    if total < (_MIN_WORDS_TO_OVERRULE if against else _MIN_WORDS):
        return None
    if against in languages and _word_share(words, languages[against]) > _FOREIGN_SHARE:
        return None
    holders = Counter(word for common in languages.values() for word in common if word in words)
    weights = {word: count / holders[word] for word, count in words.items() if word in holders}
    scores = {name: sum(weights.get(word, 0) for word in common) for name, common in languages.items()}
    (first, score), (_, second) = sorted(scores.items(), key=lambda pair: -pair[1])[:2]
    return first if score > _MIN_LEAD * second and _word_share(words, languages[first]) > _MIN_SHARE else None


def _word_share(words: Counter[str], common: frozenset[str]) -> float:
    return sum(words[word] for word in common) / words.total()
