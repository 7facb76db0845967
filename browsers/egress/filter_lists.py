"""Filter lists of the operator, in the syntax of EasyList, applied to the hosts that a page loads.

The engine is Brave's (`adblock`, an optional package). The proxy knows the host of a request, not its path: rules for
paths have no effect, and regular expressions are not used at all, so none can be too expensive.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from browsers.errors import FilterListError

if TYPE_CHECKING:
    import adblock

MAX_BYTES = 20_000_000
"""Bytes of all lists together. EasyList has 2 MB, the largest public collections 8; they take a second to read."""
MAX_LINE_CHARS = 20_000
MAX_WILDCARDS = 20
"""Maximum of wildcards in a pattern. The engine converts patterns to regular expressions, and wildcards make them
slow."""
MAX_UNKNOWN = 0.1
"""Maximum share of lines that are no rule. A file with more is not a filter list."""
CACHED_HOSTS = 20_000
_COMMENT = re.compile(r"\s*(?:!|\[|#(?!@?[#?$%])|$)")
_COSMETIC = re.compile(r"#@?[?$%]*@?#")
_HOSTS_FILE = re.compile(r"(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+(?P<host>[\w.-]+)(?:\s+#.*)?$")
"""Line of a hosts file. Many lists have this format."""
_REGULAR_EXPRESSION = re.compile(r"(?:@@)?/.*/(?:\$|$)")
PROBES = ("en.wikipedia.org", "www.iana.org", "example.com", "www.example.net", "cdn.jsdelivr.net", "www.gov.uk")
"""Hosts that no filter list refuses. A list that refuses half of them would block most of the web."""
CHALLENGES = frozenset(
    "challenges.cloudflare.com hcaptcha.com recaptcha.net www.google.com www.gstatic.com captcha-delivery.com "
    "datadome.co perimeterx.net px-cdn.net px-cloud.net px-captcha.com humansecurity.com arkoselabs.com funcaptcha.com "
    "awswaf.com kasada.io imperva.com incapsula.com akamaihd.net geetest.com friendlycaptcha.com".split()
)
"""Hosts of captcha and challenge vendors. They are never refused, because pages behind a challenge need them."""


class FilterLists:
    """Apply the rules of all filter lists of the operator."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Read the lists.

        Raises:
            FilterListError: The engine is missing, or a file is no usable filter list. The message has the next step.
        """
        try:
            import adblock
        except ImportError:
            raise FilterListError("Filter lists need an engine: pip install 'search-mcp[filters]'.") from None
        rules = adblock.FilterSet()
        left = MAX_BYTES
        for path in paths:
            data = _read_list(path, left)
            left -= len(data)
            text = _decode(path, data)
            found = _select_rules(path, text)
            _raise_if_it_refuses_the_web(path, found)
            rules.add_filters(found)
        self._engine = adblock.Engine(rules)
        self.refuses = functools.lru_cache(CACHED_HOSTS)(self._refuses)

    def _refuses(self, host: str, page_host: str) -> bool:
        """Return True if a list refuses scripts of a host on pages of another."""
        return not _is_challenge(host) and _matches(self._engine, host, page_host)


def _read_list(path: Path, limit_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(limit_bytes + 1)
    except OSError as error:
        raise FilterListError(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > limit_bytes:
        raise FilterListError(
            f"{path} is too large: all lists together may have {MAX_BYTES // 1_000_000} MB. Use fewer or smaller lists."
        )
    return data


def _decode(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FilterListError(f"{path} is no filter list: it is not text in UTF-8.") from None


def _select_rules(path: Path, text: str) -> list[str]:
    """Return the rules for requests, without regular expressions and patterns of many wildcards."""
    rules, unknown, lines = [], 0, 0
    for line in text.splitlines():
        rule = line.strip()
        if _COMMENT.match(rule):
            continue
        lines += 1
        if _COSMETIC.search(rule[:MAX_LINE_CHARS]):
            continue
        if (entry := _HOSTS_FILE.match(rule)) is not None:
            rules.append(f"||{entry['host']}^")
        elif len(rule) > MAX_LINE_CHARS or rule[0] in "<{" or " " in rule:
            unknown += 1
        elif not _REGULAR_EXPRESSION.match(rule) and rule.partition("$")[0].count("*") <= MAX_WILDCARDS:
            rules.append(rule)
    if unknown > MAX_UNKNOWN * lines:
        raise FilterListError(
            f"{path} is no filter list: {unknown:,} of its {lines:,} lines are no rules. "
            "It must have the syntax of EasyList, such as ||ads.example.com^, or of a hosts file."
        )
    if not rules:
        raise FilterListError(f"{path} has no rules for requests, such as ||ads.example.com^.")
    return rules


def _raise_if_it_refuses_the_web(path: Path, rules: list[str]) -> None:
    import adblock

    filters = adblock.FilterSet()
    filters.add_filters(rules)
    engine = adblock.Engine(filters)
    refused = [host for host in PROBES if _matches(engine, host, "news.example")]
    if 2 * len(refused) >= len(PROBES):
        raise FilterListError(
            f"{path} refuses nearly every host, for example {refused[0]}: no page could load anything. "
            "Remove the rule that matches every URL."
        )


def _matches(engine: adblock.Engine, host: str, page_host: str) -> bool:
    return bool(engine.check_network_urls(f"https://{host}/", f"https://{page_host}/", "script").matched)


def _is_challenge(host: str) -> bool:
    while host:
        if host in CHALLENGES:
            return True
        host = host.partition(".")[2]
    return False
