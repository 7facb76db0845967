"""Names of functions and symbols in TeX."""

from collections.abc import Mapping

from scraper.values.text import read_table

_TABLE = read_table(__package__, "symbols.toml")
FUNCTIONS = frozenset(_TABLE["functions"].split())
"""Names of operators with a command in TeX."""

_REPLACEMENTS = {
    **dict.fromkeys("−\u2010\u2011", "-"),
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b", ""),
    **{character: f"\\{character}" for character in "{}%#&$"},
    "′": "'",
    "″": "''",
    "\u00a0": " ",
    "√": "\\surd",
}

SYMBOLS: Mapping[str, str] = {
    **{character: f"\\{name}" for character, name in zip(*[iter(_TABLE["commands"].split())] * 2, strict=True)},
    **{pair[0]: f"\\{style}{{{pair[1]}}}" for style, pairs in _TABLE["styles"].items() for pair in pairs.split()},
    **_REPLACEMENTS,
}
"""TeX for a character. Characters that are not here stay unchanged."""
