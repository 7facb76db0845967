"""Texts in many scripts, each with the encodings of old pages in that language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_TEXTS = Path(__file__).with_name("texts")

# (WHATWG label, Python codec)
_ENCODINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "zh-Hans": (("gbk", "gbk"), ("gb2312", "gb2312"), ("gb18030", "gb18030")),
    "zh-Hant": (("big5", "big5"),),
    "ja": (("shift_jis", "shift_jis"), ("euc-jp", "euc_jp"), ("iso-2022-jp", "iso2022_jp")),
    "ko": (("euc-kr", "euc_kr"),),
    "ru": (("windows-1251", "cp1251"), ("koi8-r", "koi8_r"), ("iso-8859-5", "iso8859_5"), ("ibm866", "cp866")),
    "uk": (("windows-1251", "cp1251"), ("koi8-u", "koi8_u")),
    "el": (("windows-1253", "cp1253"), ("iso-8859-7", "iso8859_7")),
    "he": (("windows-1255", "cp1255"), ("iso-8859-8", "iso8859_8")),
    "ar": (("windows-1256", "cp1256"), ("iso-8859-6", "iso8859_6")),
    "tr": (("windows-1254", "cp1254"), ("iso-8859-9", "iso8859_9")),
    "pl": (("windows-1250", "cp1250"), ("iso-8859-2", "iso8859_2")),
    "cs": (("windows-1250", "cp1250"), ("iso-8859-2", "iso8859_2")),
    "de": (("windows-1252", "cp1252"), ("iso-8859-1", "latin_1"), ("iso-8859-15", "iso8859_15")),
    "fr": (("windows-1252", "cp1252"), ("iso-8859-1", "latin_1"), ("iso-8859-15", "iso8859_15")),
    "th": (("windows-874", "cp874"), ("tis-620", "tis_620")),
    "lt": (("windows-1257", "cp1257"),),
}


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its text and the encodings (WHATWG label, Python codec) of its pages."""

    code: str
    text: str
    encodings: tuple[tuple[str, str], ...]


LANGUAGES = {
    code: Language(code, (_TEXTS / f"{code}.txt").read_text(encoding="utf-8").strip(), encodings)
    for code, encodings in _ENCODINGS.items()
}
