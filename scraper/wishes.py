"""Read what publishers state about the use of their pages by machines, from what a visit has received anyway.

Statements: Content-Signal (contentsignals.org), Content-Usage (draft-ietf-aipref-attach-05), RSL 1.0 licenses, TDMRep
(W3C community group, 2024), `noai`, and prices of responses with status 402.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import urlsplit

from scraper.model import Wish
from scraper.text.sanitize import clean_line
from scraper.urls import join_url, parse_link_header

USER_AGENT_NAME = "search-mcp"
"""Product token of this program in robots.txt; groups for `*` apply if none names it."""

_USES = {"ai-input": "input", "ai-train": "train", "train-ai": "train", "search": "search"}
_VALUES = {"yes": "allowed", "y": "allowed", "?1": "allowed", "no": "disallowed", "n": "disallowed", "?0": "disallowed"}
_NO_AI = frozenset({"noai", "noimageai"})
_STATEMENTS = ("content-signal", "content-usage")
_MAX_VALUE = 200
RSL_RELATION = "license application/rsl+xml"
"""Relation of a link to a license, with its type."""
_PRICE = re.compile(r"(?:[A-Z$\u20ac\u00a3\u00a5]{1,4} ?)?\d[\d.,]{0,15}(?: ?[A-Z$\u20ac\u00a3\u00a5]{1,4})?", re.ASCII)
_AMOUNT = re.compile(r"\d[\d.]{0,30}", re.ASCII)
_MAX_LINES, _MAX_UNIT = 20_000, 10
_BASE64_URL = str.maketrans("-_", "+/")

_PHRASES = {"input": "AI input", "train": "training", "search": "search", "mining": "text and data mining"}


def from_headers(headers: Mapping[str, str], url: str) -> list[Wish]:
    """Return the statements of the response of a URL; names of headers are in lower case."""
    wishes = [
        wish for name in _STATEMENTS for wish in _read_preferences(headers.get(name, ""), f"header {name.title()}")
    ]
    if any(_is_no_ai(headers.get("x-robots-tag", ""))):
        wishes.append(Wish("train", "disallowed", "header X-Robots-Tag"))
    wishes += _read_reservation(headers, "header", url)
    for link in parse_link_header(headers.get("link", ""), url):
        if f"{link.get('rel', '')} {link.get('type', '')}".lower() == RSL_RELATION:
            wishes.append(_build_license(url, link["href"], "header Link"))
    challenges = headers.get("www-authenticate", "").lower().replace("\n", ",").split(",")
    if any(challenge.split()[:1] == ["license"] for challenge in challenges):
        wishes.append(Wish("license", "required", "header WWW-Authenticate"))
    return wishes


def from_head(metas: Iterable[tuple[str, str]], links: Iterable[tuple[str, str]], base: str) -> list[Wish]:
    """Return the statements in the head of a page: metas by name, and URLs by relation, relative to `base`."""
    named = dict(metas)
    wishes = _read_reservation(named, "meta", base)
    if any(_is_no_ai(named.get("robots", ""))):
        wishes.append(Wish("train", "disallowed", "meta robots"))
    return wishes + [_build_license(base, target, "link") for name, target in links if name == RSL_RELATION]


def _build_license(base: str, target: str, source: str) -> Wish:
    return Wish("license", clean_line(join_url(base, target), _MAX_VALUE), source)


def from_robots(text: str, url: str) -> list[Wish]:
    """Return the statements of a robots.txt for a URL: of the groups that name this program, else of those for all.

    The rule with the longest matching path counts, and all of equal length.
    """
    addresses, groups = _parse_robots(text)
    licenses = [_build_license(url, address, "robots.txt License") for address in addresses]
    for agents in ({USER_AGENT_NAME}, {"*"}, set[str]()):
        rules = [rule for names, rules in groups if names & agents or names == agents for rule in rules]
        if rules or any(names & agents for names, _ in groups):
            path = urlsplit(url).path or "/"
            return licenses + [wish for name in _STATEMENTS for wish in _select_rules(name, rules, path)]
    return licenses


@lru_cache(maxsize=16)
def _parse_robots(text: str) -> tuple[list[str], list[tuple[set[str], list[tuple[str, str]]]]]:
    """Return the addresses of licenses in a robots.txt, and its groups: agents, and name and value of statements."""
    groups: list[tuple[set[str], list[tuple[str, str]]]] = [(set(), [])]
    licenses, is_naming = [], False
    for line in text.removeprefix("\ufeff").splitlines()[:_MAX_LINES]:
        name, _, value = (part.strip() for part in line.partition("#")[0].partition(":"))
        name = name.lower()
        if name == "user-agent":
            if not is_naming:
                groups.append((set(), []))
            groups[-1][0].add(value.lower().partition("/")[0].rstrip())
        elif name in _STATEMENTS:
            groups[-1][1].append((name, value))
        elif name == "license" and value:
            licenses.append(value)
        is_naming = name == "user-agent" or (is_naming and not name)
    return licenses, groups


def _select_rules(name: str, rules: Iterable[tuple[str, str]], path: str) -> Iterator[Wish]:
    """Yield the preferences of the rules of one name with the longest path that matches."""
    found: list[tuple[int, str]] = []
    for own, value in rules:
        first, _, rest = value.partition(" ")
        pattern, preferences = (first, rest) if first.startswith(("/", "*")) else ("/", value)
        if own == name and len(pattern) <= _MAX_VALUE and pattern.count("*") <= 5 and matches_path(pattern, path):
            found.append((len(pattern), preferences))
    longest = max((length for length, _ in found), default=0)
    for length, preferences in found:
        if length == longest:
            yield from _read_preferences(preferences, f"robots.txt {name.title()}")


def matches_path(pattern: str, path: str) -> bool:
    """Return True if a pattern of robots.txt matches a path, both decoded.

    RFC 9309, 2.2.3: `*` is any text, and `$` the end of the path; without it, longer paths match too.
    """
    if not path.startswith(pattern.partition("*")[0].removesuffix("$")):
        return False
    glob = pattern.removesuffix("$").replace("[", "[[]").replace("?", "[?]")
    return fnmatchcase(path, glob if pattern.endswith("$") else f"{glob}*")


def _read_preferences(text: str, source: str) -> Iterator[Wish]:
    for part in text.replace(";", ",").replace("\n", ",").split(","):
        name, _, value = part.partition("=")
        use, wish = _USES.get(name.strip().lower()), _VALUES.get(value.strip().strip('"').lower())
        if use and wish:
            yield Wish(use, wish, source)


def _read_reservation(named: Mapping[str, str], place: str, base: str) -> list[Wish]:
    """Return the reservation of rights of TDMRep, and its policy."""
    reserved = named.get("tdm-reservation", "").strip()
    if reserved not in ("0", "1"):
        return []
    wishes = [Wish("mining", "disallowed" if reserved == "1" else "allowed", f"{place} tdm-reservation")]
    if policy := named.get("tdm-policy"):
        wishes.append(_build_license(base, policy, f"{place} tdm-policy"))
    return wishes


def _is_no_ai(text: str) -> Iterator[bool]:
    return (part.rpartition(":")[2].strip() in _NO_AI for part in ",".join(text.lower().split()).split(","))


def combine(wishes: Iterable[Wish]) -> tuple[Wish, ...]:
    """Return one statement for each use, the strictest, with its sources, and each license."""
    by_use: dict[tuple[str, str], list[Wish]] = {}
    for wish in wishes:
        by_use.setdefault((wish.use, wish.value), []).append(wish)
    strict = {use for use, value in by_use if value == "disallowed"}
    return tuple(
        Wish(use, value, ", ".join(dict.fromkeys(one.source for one in found)))
        for (use, value), found in by_use.items()
        if value != "allowed" or use not in strict
    )


def describe(wishes: Iterable[Wish]) -> str:
    """Return what is disallowed, with sources, such as "no training (header Content-Usage)"; empty if nothing is."""
    return ", ".join(
        f"no {_PHRASES[wish.use]} ({wish.source})"
        for wish in wishes
        if wish.value == "disallowed" and wish.use in _PHRASES
    )


def read_price(headers: Mapping[str, str], body: str) -> str | None:
    """Return the price that a response with status 402 asks for, with its source, or None: `crawler-price` or x402.

    Only an amount with a unit is a price: errors contain no other text of a site.
    """
    if _PRICE.fullmatch(price := headers.get("crawler-price", "").strip()):
        return f"{price} (crawler-price)"
    try:
        encoded = headers.get("payment-required", "").translate(_BASE64_URL).rstrip("=")
        offers = json.loads(base64.b64decode(encoded + -len(encoded) % 4 * "=", validate=True) or body)["accepts"]
        offer = offers[0]
        amount = offer["amount"] if "amount" in offer else offer["maxAmountRequired"]
        unit = (offer.get("extra") or {}).get("name") or offer.get("asset")
    except (binascii.Error, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return None
    is_unit = str(unit).isascii() and str(unit).isalnum() and len(str(unit)) <= _MAX_UNIT
    is_price = _AMOUNT.fullmatch(str(amount)) and is_unit
    return f"{amount} units of {unit} (x402)" if is_price else None
