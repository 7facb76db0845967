"""The country that a page is made for, as its address and language tell: evidence for signs such as `$`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_WORLDWIDE = frozenset("ac ai bz cc co cx fm gg im io la ly me ms nu pw sh so st to tv vc ws".split())
"""Endings of hosts that are bought for their letters, wherever the site is at home."""

_OF_A_COUNTRY = frozenset({"com", "edu", "gob", "gov", "net", "org"})
"""Second levels that countries give out."""

_ONE_COUNTRY = {"da": "dk", "is": "is", "ja": "jp", "nb": "no", "nn": "no", "no": "no", "sv": "se"}
"""Languages of one country that has a currency of its own."""

_LOCALE = re.compile(r"\A/(?:[a-z]{2}[-_]([a-z]{2}))(?:/|\Z)", re.IGNORECASE)


def country_of(url: str, languages: Iterable[str]) -> str:
    """Two letters, lower case; empty where nothing tells. `languages`: of the page, as it states them."""
    address = urlsplit(url)
    *_, second, last = ("", "", *(address.hostname or "").split("."))
    if len(last) == 2 and (last not in _WORLDWIDE or second in _OF_A_COUNTRY):
        return last
    tags = [language.strip().replace("_", "-").lower() for language in languages]
    locale = _LOCALE.match(address.path)
    regions = [locale.group(1).lower()] if locale else []
    regions += [tag.rpartition("-")[2] for tag in tags if "-" in tag]
    known = next((region for region in regions if len(region) == 2), "")
    return known or next((_ONE_COUNTRY[tag] for tag in tags if tag in _ONE_COUNTRY), "")
