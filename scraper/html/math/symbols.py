"""Names of functions and symbols in TeX."""

from collections.abc import Mapping

from scraper.values.text import read_table

TABLE = read_table(__package__, "symbols.toml")
FUNCTIONS = frozenset(TABLE["functions"].split())
"""Names of operators with a command in TeX."""

SYMBOLS: Mapping[str, str] = {
    **{character: f"\\{name}" for character, name in zip(*[iter(TABLE["commands"].split())] * 2, strict=True)},
    **{pair[0]: f"\\{style}{{{pair[1]}}}" for style, pairs in TABLE["styles"].items() for pair in pairs.split()},
    **{character: text for text, characters in TABLE["texts"].items() for character in characters},
    **{character: f"\\{character}" for character in "{}%#&$"},
}
"""TeX for a character. Characters that are not here stay unchanged."""
