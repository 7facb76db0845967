"""Signatures of block pages: captchas, challenges, refusals, rate limits, logins and consent forms.

Markup (ids, classes, URLs, code of challenges) does not change with the language. Phrases count only in title and
headings, since they occur in many complete pages and their scripts. Search engines use the same table on pages without
rows: plain words ("captcha", "unusual traffic") gave 43 false positives on 114 saved result pages, these signatures
none. To add a block page, add it to `block_signatures.toml`, and a saved page to a test.
"""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any

from scraper.values.text import read_table
from scraper.words.matcher import WordPattern, expand


@dataclass(frozen=True, slots=True)
class BlockSignature:
    """Signature of one kind of block page. One matching field is sufficient."""

    name: str
    """Name for people. Empty if complete result pages of search engines match too."""
    reason: str
    """Reason of the verdict: `challenge`, `captcha`, `proof_of_work`, `rate_limit`, `denied` or `consent`."""
    clears_itself: bool = False
    """True if a waiting browser passes: the page computes a proof and reloads."""
    is_widget: bool = False
    """True if complete pages match too. The verdict uses it on pages with hardly any text."""
    yields: bool = False
    """True if other result pages match too: a "no results" message takes precedence."""
    ids: str = ""
    """Values of `id` and `data-testid`, separated by blanks."""
    classes: str = ""
    """Class names, separated by blanks."""
    addresses: str = ""
    """Pattern searched in the URLs of scripts, frames, images and forms, one per line."""
    scripts: str = ""
    """Pattern searched in inline scripts."""
    urls: str = ""
    """Pattern searched in the URL of the page and of its redirects, one per line."""
    names: str = ""
    """Pattern searched in ids and classes of a result page."""
    title: str = ""
    """Pattern of the whole title of a result page."""
    opening: str = ""
    """Pattern searched in the first visible text of a result page."""

    def matches(
        self, ids: Set[str], classes: Set[str], addresses: str, scripts: Iterable[str] = (), urls: str = ""
    ) -> bool:
        """Return True if the markup of a page matches."""
        return (
            not ids.isdisjoint(self.ids.split())
            or not classes.isdisjoint(self.classes.split())
            or search_pattern(self.addresses, addresses)
            or any(search_pattern(self.scripts, script) for script in scripts)
            or search_pattern(self.urls, urls)
        )


def search_pattern(pattern: str, text: str) -> bool:
    """Return True if a pattern is in a text; an empty pattern is in none."""
    return bool(pattern and re.search(expand(pattern), text, re.IGNORECASE | re.MULTILINE))


def _read_signatures() -> Iterator[BlockSignature]:
    for row in read_table(__package__, "block_signatures.toml")["signatures"]:
        fields: dict[str, Any] = {name: "|".join(one) if isinstance(one, list) else one for name, one in row.items()}
        yield BlockSignature(**fields)


SIGNATURES = tuple(_read_signatures())
"""Specific signatures first; the first match is used."""

_ENGLISH_PHRASES = {
    "captcha": r"(?:verify|confirm|prove)(?: that)? you(?: a|['’])re (?:a )?(?:human|not a (?:ro)?bot)",
    "denied": r"access (?:to this page |to this site )?(?:has been |is |was )?(?:denied|blocked|forbidden)",
    "login": r"(?:please|you (?:must|need to|have to)(?: be)?) (?:sign|log|logged) ?in\b",
}
"""Phrases with variants, beside those in the tables."""
_REASONS = ("proof_of_work", "challenge", "captcha", "rate_limit", "denied", "login", "consent", "javascript")

PHRASES = tuple(
    (reason, WordPattern("|".join(filter(None, (f"{{blocks.{reason}}}\\b", _ENGLISH_PHRASES.get(reason))))))
    for reason in _REASONS
)
"""Reason and its phrases in title or headings, the strongest first."""
