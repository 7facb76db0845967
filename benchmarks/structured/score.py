"""Score the facts of a product or recipe against gold from annotators or per-site code."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein

RECIPE_FIELDS = (
    "title", "ingredients", "instructions", "total_time", "prep_time", "cook_time", "yields", "author",
    "image", "ratings", "nutrients",
)  # fmt: skip
PRODUCT_FIELDS = ("price", "currency", "availability", "sku", "gtin", "mpn", "brand")
EXTRA_COUNTS = frozenset({"price", "availability", "sku"})
"""Fields for which a value without gold counts as wrong; the gold of these fields is complete."""

Verdict = str
"""`right`, `wrong`, `missing`, `extra`."""

_BUYABLE = frozenset(
    "instock limitedavailability instoreonly onlineonly preorder presale backorder available "
    "availablefororder madetoorder true 1".split()
)
_SIGNS = {
    "$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "₹": "INR", "¥": "JPY", "C$": "CAD", "CA$": "CAD",
    "A$": "AUD", "AU$": "AUD", "zł": "PLN", "Kč": "CZK", "kr": "SEK", "R": "ZAR", "Rs": "INR", "Rs.": "INR",
    "₽": "RUB", "Lei": "RON", "тг.": "KZT", "ر.س": "SAR", "Kn": "HRK",
}  # fmt: skip
_TAG = re.compile(r"<[^>]+>")
_NO_LETTER = re.compile(r"[\W_]+")
_ISO = re.compile(
    r"P(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE
)


def similarity(field: str, gold: Any, found: Any) -> float:
    """Return the similarity of a recipe field to its gold, 0 to 1."""
    if found in (None, "", [], {}):
        return 0.0
    if field == "ingredients":
        return _overlap(map(_normalize, gold), map(_normalize, _listed(found)))
    if field == "instructions":
        return Levenshtein.normalized_similarity(
            _normalize(" ".join(gold)), _normalize(" ".join(map(str, _listed(found))))
        )
    if field in ("total_time", "prep_time", "cook_time"):
        return float(_minutes(gold) == _minutes(found))
    if field == "yields":
        return float(_number(gold) == _number(found))
    if field == "ratings":
        mine, theirs = _number(found), _number(gold)
        return float(mine is not None and theirs is not None and abs(mine - theirs) <= 0.1)
    if field == "image":
        return float(_file_name(gold) == _file_name(found))
    if field == "nutrients":
        pairs = found.items() if isinstance(found, Mapping) else ()
        return _overlap((f"{k}{_number(v)}" for k, v in gold.items()), (f"{k}{_number(v)}" for k, v in pairs))
    return float(_normalize(gold) == _normalize(found))


def judge(field: str, gold: Sequence[str] | None, found: Any, sign: str | None = None) -> Verdict | None:
    """Compare a product field with its gold; None if both lack it. `sign` is the visible currency."""
    if not gold:
        return "extra" if found not in (None, "") else None
    if found in (None, ""):
        return "missing"
    right = any(_same(field, one, found) for one in gold)
    if field == "currency" and sign:
        right = right or any(_normalize_sign(one) == _normalize_sign(sign) for one in gold)
    return "right" if right else "wrong"


def f1(field: str, verdicts: Iterable[Verdict]) -> float:
    """Return the F1 of precision and recall over pages."""
    count = Counter(verdicts)
    found = count["right"] + count["wrong"] + (count["extra"] if field in EXTRA_COUNTS else 0)
    expected = count["right"] + count["wrong"] + count["missing"]
    return 2 * count["right"] / (found + expected) if found + expected else 0.0


def _same(field: str, gold: str, found: Any) -> bool:
    if field == "price":
        return _money(gold) is not None and _money(gold) == _money(found)
    if field == "currency":
        return _code(gold) == _code(str(found))
    if field == "availability":
        buyable = _normalize(str(found).rpartition("/")[2]) in _BUYABLE
        return _normalize(gold) == ("instock" if buyable else "outofstock")
    if field == "gtin":
        return _normalize(gold).lstrip("0") == _normalize(found).lstrip("0")
    return _normalize(gold) == _normalize(found)


def _normalize(value: Any) -> str:
    """Return the letters and digits, normalized and in lower case, without tags and entities."""
    text = html.unescape(html.unescape(_TAG.sub(" ", str(value))))
    return _NO_LETTER.sub("", unicodedata.normalize("NFKC", text).replace("\u2044", "/")).lower()


def _normalize_sign(sign: str) -> str:
    return sign.strip(" .").lower()


def _code(currency: str) -> str:
    return _SIGNS.get(currency.strip(), currency.strip().upper())


def _money(value: Any) -> float | None:
    digits = re.sub(r"[^\d.,]", "", str(value)).strip(".,")
    cents = re.fullmatch(r"(.*?)[.,](\d{1,2})", digits)
    whole, rest = (cents[1], cents[2]) if cents else (digits, "0")
    whole = re.sub(r"[.,]", "", whole)
    return round(float(f"{whole}.{rest}"), 2) if whole else None


def _minutes(value: Any) -> int | None:
    if isinstance(value, int | float):
        return int(value)
    text = str(value or "").strip()
    iso = _ISO.fullmatch(text)
    if iso and any(iso.groups()):
        days, hours, minutes, seconds = (float(part or 0) for part in iso.groups())
        return int(days * 1440 + hours * 60 + minutes + seconds / 60)
    hours_match = re.search(r"(\d+)\s*(?:h|std|heure|ora|ore|uur|tim)", text, re.IGNORECASE)
    minutes_match = re.search(r"(\d+)\s*(?:m|'|分)", text, re.IGNORECASE)
    if hours_match or minutes_match:
        return int(hours_match[1] if hours_match else 0) * 60 + int(minutes_match[1] if minutes_match else 0)
    return int(text) if text.isdecimal() else None


def _number(value: Any) -> float | None:
    match = re.search(r"\d+(?:[.,]\d+)?", str(value))
    return round(float(match[0].replace(",", ".")), 1) if match else None


def _file_name(address: Any) -> str:
    return re.sub(r"[?#].*$", "", str(address)).rpartition("/")[2].lower()


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _overlap(gold: Iterable[str], found: Iterable[str]) -> float:
    mine, theirs = Counter(filter(None, gold)), Counter(filter(None, found))
    total = mine.total() + theirs.total()
    return 2 * (mine & theirs).total() / total if total else 1.0
