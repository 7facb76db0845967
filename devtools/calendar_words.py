"""Write the names of months, days of the week and units of time in `scraper/words/calendar.toml` from Babel's CLDR.

python -m devtools.calendar_words [--check]

Names are in lower case, without the dot of an abbreviation. Names of several words, such as those of numbered months,
are left out. `--check` writes nothing and ends with code 1 if the file is stale.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from itertools import chain, product
from pathlib import Path

from babel import Locale
from babel.units import format_unit

FILE = Path(__file__).resolve().parents[1] / "scraper" / "words" / "calendar.toml"
LOCALES = (
    "en de de_AT fr es pt it nl pl ru uk sv da nb fi cs sk hu ro tr bg el sr sr_Latn hr sl mk be lt lv et is ca gl sq "
    "af id ms sw fil az uz kk ka hy he ar ar_SY ar_DZ ar_MA fa ur hi mr bn pa gu ta te kn ml th"
).split()
"""If languages share the name of a month, the first of them decides."""
MONTHS = "january february march april may june july august september october november december".split()
HEADER = """\
# Names of months, days of the week and units of time from the CLDR. Generated: python -m devtools.calendar_words
# Unicode data files are under the Unicode License (https://www.unicode.org/license.txt).
"""
UNITS = "second minute hour day week month year".split()
_AMOUNTS = (1, 2, 3, 5, 11, 20, 21, 100, 1.5)
"""Amounts that take all forms of a unit's name, from the singular to the forms of Slavic languages and Arabic."""
_AMOUNT_AND_UNIT = re.compile(r"[\d.,٫]+\s?([^\d\s-]+)")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_ARTICLE = re.compile(r"^(?:de |d['’])")
_WIDTHS = {"months": ("wide", "abbreviated"), "days": ("wide",)}
"""Abbreviations of days, such as `to` in Finnish, are words of other languages."""


def build_tables() -> str:
    """Return the text of the file."""
    tables = dict.fromkeys((*MONTHS, "weekdays", *UNITS), "")
    by_language: dict[str, list[Locale]] = {}
    for name in LOCALES:
        locale = Locale.parse(name)
        by_language.setdefault("no" if locale.language == "nb" else locale.language, []).append(locale)
    for language, locales in by_language.items():
        for number, month in enumerate(MONTHS, start=1):
            tables[month] += _row(language, _names(locales, "months", [number]))
        tables["weekdays"] += _row(language, _names(locales, "days", range(7)))
        for unit in UNITS:
            tables[unit] += _row(language, _unit_names(locales, unit))
    tables["marked"] = _row("any", _find_marked_months(tables))
    return HEADER + "".join(f"\n[{name}]\n{rows}" for name, rows in tables.items())


def _find_marked_months(tables: Mapping[str, str]) -> list[str]:
    """Return the months, also in `dates.toml`, that are not three letters or more, since vowel signs are none."""
    more = tomllib.loads(FILE.with_name("dates.toml").read_text(encoding="utf-8"))
    rows = (row for month in MONTHS for row in (*tomllib.loads(tables[month]).values(), *more[month].values()))
    return sorted({name for name in chain.from_iterable(rows) if not (name.isascii() or _LETTERS.fullmatch(name))})


def _row(language: str, names: list[str]) -> str:
    return f"{language} = {json.dumps(names, ensure_ascii=False)}\n" if names else ""


def _names(locales: list[Locale], kind: str, numbers: range | list[int]) -> list[str]:
    """Return the names in lower case, each once."""
    return list(dict.fromkeys(name for locale in locales for name in _iterate_names(locale, kind, numbers)))


def _unit_names(locales: list[Locale], unit: str) -> list[str]:
    """Return the forms of the name of a unit behind an amount, each once."""
    texts = (format_unit(amount, f"duration-{unit}", locale=locale) for locale, amount in product(locales, _AMOUNTS))
    found = (_AMOUNT_AND_UNIT.fullmatch(text.lower()) for text in texts)
    return list(dict.fromkeys(match[1] for match in found if match))


def _iterate_names(locale: Locale, kind: str, numbers: range | list[int]) -> Iterator[str]:
    for number, width, context in product(numbers, _WIDTHS[kind], ("format", "stand-alone")):
        name = _ARTICLE.sub("", getattr(locale, kind)[context][width][number].lower())
        if not re.search(r"[\s\d]", name):
            yield name if name.count(".") > 1 else name.rstrip(".׳॰")


def main() -> None:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(prog="python -m devtools.calendar_words", description="Write calendar.toml.")
    parser.add_argument("--check", action="store_true", help="only compare the file with the CLDR")
    tables = build_tables()
    if parser.parse_args().check:
        sys.exit(FILE.read_text(encoding="utf-8") != tables)
    FILE.write_text(tables, encoding="utf-8")


if __name__ == "__main__":
    main()
