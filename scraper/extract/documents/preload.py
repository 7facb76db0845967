"""Loads everything that reading a document will need, for processes that may open no file afterwards."""

from __future__ import annotations

import importlib

from scraper.extract.documents.model import ParseRequest
from scraper.extract.documents.read import reader_of
from scraper.extract.documents.sniff import kind_of

_LETTERS = (
    "ascii charmap utf_8 utf_8_sig utf_16 utf_16_le utf_16_be utf_32 latin_1 idna punycode cp1250 "
    "cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874 cp932 cp949 cp950 cp437 cp737 cp775 "
    "cp850 cp852 cp855 cp857 cp862 cp864 cp866 johab big5 big5hkscs gb18030 gbk gb2312 euc_jp euc_kr "
    "shift_jis iso2022_jp iso2022_kr hz iso8859_1 iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 "
    "iso8859_7 iso8859_8 iso8859_9 iso8859_10 iso8859_11 iso8859_13 iso8859_14 iso8859_15 iso8859_16 "
    "koi8_r koi8_u mac_roman mac_cyrillic quopri_codec base64_codec unicode_escape raw_unicode_escape"
).split()
"""Encodings are modules that Python loads when they are first met."""


def load_for(data: bytes, asked: ParseRequest) -> None:
    """Import the reader of this document, and what it would import later."""
    reader = reader_of(kind_of(data, media_type=asked.media_type, name=asked.name), plain=asked.plain_reader)
    for name in _LETTERS:
        importlib.import_module(f"encodings.{name}")
    module = importlib.import_module(reader.__module__)
    warm_up = getattr(module, "warm_up", None)
    if warm_up is not None:
        warm_up(asked)
