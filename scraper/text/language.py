"""Detect the language of a text by its script and its commonest words."""

from __future__ import annotations

import re
from collections import Counter

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

_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = {
    "ko": "\uac00-\ud7a3",
    "kana": "\u3041-\u30fa",
    "han": "\u3400-\u4dbf\u4e00-\u9fff",
    "th": "\u0e01-\u0e5b",
    "lo": "\u0e81-\u0edf",
    "my": "\u1000-\u109f",
    "km": "\u1780-\u17ff",
    "he": "\u05d0-\u05ea",
    "el": "\u0386-\u03ce\u1f00-\u1fff",
    "ka": "\u10d0-\u10ff",
    "hy": "\u0531-\u0586",
    "hi": "\u0904-\u0963",
    "bn": "\u0985-\u09e3",
    "pa": "\u0a05-\u0a74",
    "gu": "\u0a85-\u0ae3",
    "ta": "\u0b85-\u0bd7",
    "te": "\u0c05-\u0c63",
    "kn": "\u0c85-\u0ce3",
    "ml": "\u0d05-\u0d63",
    "si": "\u0d85-\u0df3",
    "ar": "\u0620-\u064a\u066e-\u06d3",
    "cyrillic": "\u0400-\u045f\u048a-\u04ff",
    "latin": "A-Za-z\u00c0-\u024f\u1e00-\u1eff",
}
_SCRIPT = re.compile("|".join(f"(?P<{name}>[{letters}])" for name, letters in _SCRIPTS.items()))
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())
_MIN_LETTERS = 40
_MIN_SCRIPT_SHARE = 0.5
"""Share of the letters in one script. Latin names and figures occur in texts of every script."""

_MIN_KANA_SHARE = 0.08
"""Minimum share of kana among Japanese letters: running text has .4 and more; Chinese text has only quoted names."""

_PERSIAN = re.compile("[\u067e\u0686\u0698\u06af\u06cc]")
_URDU = re.compile("[\u0679\u0688\u0691\u06ba\u06be\u06d2]")
_MIN_OWN_LETTER_SHARE = 0.03

_LATIN_WORDS = {
    "en": "the and of to in is that for with are this was it you on your be as at from",
    "de": "der die und das nicht ist mit den von auf ein eine für sich dem des zu im auch es",
    "fr": "le les des et est une dans pour que qui sur pas du au la de en il ne par",
    "es": "el los las que una por con para del se y en es como la de un su más lo",
    "pt": "não uma os que com para dos da em do mais são por ao é o de as na um",
    "it": "il che di una per della con non sono gli nel è del le la un si dei alla i",
    "nl": "het een van de dat niet zijn met voor op te aan ook en in is die er bij",
    "sv": "och att det som för är inte den med har av på en i till om ett kan de",
    "no": "og det som ikke er på til har med av for en i at den de ble etter fra også",
    "da": "og det ikke er på til har af med for en i at den de som blev efter fra også",
    "fi": "ja on ei että se oli hän myös mutta kun ovat joka mukaan kuin sen niin ole",
    "pl": "nie się na że do jest z w to jak po od i o dla za przez oraz są ale",
    "cs": "se na je že to v s by jako ale který při a do si za k podle po o",
    "sk": "sa na je že to v s by ako ale ktorý pri a do si za k podľa po o aj",
    "hu": "a az és hogy nem is egy van meg ez volt de ha csak már még el azt",
    "ro": "și în la nu este pe din să care mai de cu a o un că au pentru fi prin",
    "tr": "ve bir bu için de da ile olarak çok daha olan gibi kadar sonra göre ama en ne",
    "hr": "je i u na se da su za od što koji kao ne o s a bi iz koje biti",
    "sl": "je in v na se da so za ki pa ni bi z po s kot tudi še ne iz",
    "lt": "ir yra kad su į iš tai bet buvo nuo apie kaip po dėl ar jo už tik jau",
    "lv": "un ir ka ar no par uz tas bija kas to gan bet kā lai pēc arī nav vai",
    "et": "ja on ei et see oli ta ka kui mis oma aga ning või seda nii veel ole",
    "vi": "và của là có cho không được một trong với những các người đã này khi để từ đến về",
    "id": "yang dan di ini untuk dengan dari tidak pada adalah itu akan ke dalam juga oleh telah saat",
    "ca": "el la els les i que amb per és una dels del de un en al ha més no com",
    "eu": "eta da ez bat du dira baina ere izan duen zuen dute egin den dela",
    "af": "die en van het is nie wat vir met om sy te dat in op 'n ook as hy",
    "sq": "dhe në të e për me nga është që një i se si ka nuk më u do",
    "is": "og að í á er sem það ekki til við um var hann af með fyrir en",
    "tl": "ang ng sa na mga at ay si ni para ito hindi kung may ko",
    "sw": "ya na wa kwa ni katika la za kuwa hiyo huo hii cha yake",
}
_CYRILLIC_WORDS = {
    "ru": "и в не на что с как это по но из за от так он к для его о же был у",
    "uk": "і в не на що з та як це до від за він у є й про для його а під",
    "bg": "и в не на да се за от е са че по с това като ще до си той към",
    "sr": "и у не на да је се за од су што који о са а као из то био",
    "mk": "и во не на да се за од е што со ќе како ги го беше до по",
    "be": "і ў не на што з як гэта па да у за ад для яго але ён",
    "kk": "және бұл мен үшін деп да де бір болды осы ол туралы",
}
_COMMON_WORDS = {
    script: {name: frozenset(words.split()) for name, words in languages.items()}
    for script, languages in (("latin", _LATIN_WORDS), ("cyrillic", _CYRILLIC_WORDS))
}


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
    if script in _COMMON_WORDS:
        return _detect_by_words(text.lower(), _COMMON_WORDS[script], against)
    return script


def _detect_script(text: str) -> str | None:
    """Return the language of the text's script; `latin` or `cyrillic`, which many languages share; None if unclear.

    Japanese, Urdu and Persian are recognized by their own letters.
    """
    if len(text.encode("ascii", "ignore").translate(None, _NO_LETTERS)) > _MIN_SCRIPT_SHARE * len(text):
        return "latin"  # nine pages of ten; the expression would take 2 ms
    counts = Counter(match.lastgroup for match in _SCRIPT.finditer(text))
    japanese = counts["kana"] + counts["han"]
    counts["ja" if counts["kana"] > _MIN_KANA_SHARE * japanese else "zh"] = japanese
    del counts["kana"], counts["han"]
    name, count = counts.most_common(1)[0]
    if count < _MIN_LETTERS or count < _MIN_SCRIPT_SHARE * counts.total():
        return None
    own_letters = (("ur", _URDU), ("fa", _PERSIAN)) if name == "ar" else ()
    matches = (own for own, letters in own_letters if len(letters.findall(text)) > _MIN_OWN_LETTER_SHARE * count)
    return next(matches, name)


def _detect_by_words(text: str, languages: dict[str, frozenset[str]], against: str | None) -> str | None:
    words = Counter(_WORD.findall(text))
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
