"""Parse language tags into language and country."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

_TAG = re.compile(r"^([a-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?![A-Za-z\d])", re.IGNORECASE)

_HOMES = (
    "ar:SA bg:BG ca:ES cs:CZ da:DK de:DE el:GR en:US es:ES et:EE fa:IR fi:FI fr:FR he:IL hi:IN hr:HR hu:HU "
    "id:ID it:IT ja:JP ko:KR lt:LT lv:LV ms:MY nb:NO nl:NL no:NO pl:PL pt:BR ro:RO ru:RU sk:SK sl:SI sr:RS "
    "sv:SE th:TH tr:TR uk:UA vi:VN zh:CN"
)
_HOME = MappingProxyType({pair[:2]: pair[3:] for pair in _HOMES.split()})
"""Country of each language, for language tags without a country."""


@dataclass(frozen=True, slots=True)
class Locale:
    """Language and country."""

    language: str
    """Lower case: `en`."""
    country: str
    """Upper case: `US`."""

    @property
    def tag(self) -> str:
        """Return the tag as browsers write it: `en-US`."""
        return f"{self.language}-{self.country}"


def parse_locale(tag: str) -> Locale:
    """Parse a language tag; return en-US if it is invalid.

    A tag without a country gets the main country of its language, or US if the language is not listed.
    """
    match = _TAG.match(tag.strip())
    if match is None:
        return Locale("en", "US")
    language = match.group(1).lower()
    country = (match.group(3) or "").upper()
    if not country.isalpha():
        country = "TW" if (match.group(2) or "").lower() == "hant" else _HOME.get(language, "US")
    return Locale(language, country)
