"""Decide which third parties a page may load, by a table of hosts and by the operator's filter lists.

The hosts are in `third_parties.txt`. They never include challenges, captchas, CDNs, payment, maps, players and
comments.

The engine of the filter lists is Brave's (`adblock`, an optional package).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from browsers.egress.ip_rules import normalize_host
from browsers.errors import FilterListError
from browsers.model import ThirdParties, registrable_domain
from browsers.settings import BrowserSettings

if TYPE_CHECKING:
    import adblock

MAX_BYTES = 20_000_000
"""Bytes of all lists together. EasyList has 2 MB, the largest public collections 8; they take a second to read."""
MAX_RULES = 400_000
"""Maximum of rules of all lists together. The engine takes 1 kB for each: six million rules of two letters, which fit
into `MAX_BYTES`, took 6 GB. A list of 2 MB, like EasyList, has at most 100,000 rules of 20 letters."""
MAX_WILDCARD_RULES = 30_000
"""Maximum of rules with wildcards, which are tried one by one for each host: 300,000 took 86 ms."""
_MAX_LINE_CHARS = 20_000
_MAX_WILDCARDS = 20
"""Most wildcards in a pattern. The engine converts patterns to regular expressions, and wildcards make them slow."""
_MAX_UNKNOWN = 0.1
"""Maximum share of lines that are not rules. A file with more is not a filter list."""
_CACHED_HOSTS = 20_000
_COSMETIC_MARKS = frozenset("#?$%")
_COSMETIC = re.compile(r"#@?[?$%]*@?#")
_NOWHERE = frozenset({"0.0.0.0", "127.0.0.1", "::", "::1"})  # noqa: S104
"""Addresses in hosts files of hosts that are refused. Other lines name the machine's own network."""
_FOREIGN = ("address=/", "server=/", "local=/")
"""Starts of rules of dnsmasq."""
_WORD_MARKS = frozenset("_,;:=+\"'()[]")
"""Characters beside letters and digits of a pattern that separates no parts of a URL. Few rules of a filter list are
like this, but all lines of a word list."""
_PROBES = ("en.wikipedia.org", "www.iana.org", "example.com", "www.example.net", "cdn.jsdelivr.net", "www.gov.uk")
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
        """Read the lists. Raises FilterListError, with the next step, without the engine or if a file is no list."""
        found: dict[Path, list[str]] = {}
        left = MAX_BYTES
        for path in paths:
            data = _read_list(path, left)
            left -= len(data)
            found[path] = _select_rules(path, data)
            _raise_if_too_many(path, [rule for rules in found.values() for rule in rules])
        self._engine = _build_engine(found.values())
        if refused := _refused_probes(self._engine):
            # Each list alone, to name the one that does.
            alone = (path for path in paths if _refused_probes(_build_engine([found[path]])))
            raise FilterListError(
                f"{next(alone, paths[-1])} refuses nearly every host, for example {refused[0]}: no page could load "
                "anything. Remove the rule that matches every URL."
            )
        self.refuses = functools.lru_cache(_CACHED_HOSTS)(self._refuses)

    def _refuses(self, host: str, page_host: str) -> bool:
        return CHALLENGES.isdisjoint(_list_domains(host)) and _matches(self._engine, host, page_host)


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


def _select_rules(path: Path, data: bytes) -> list[str]:
    """Return the rules for requests, without regular expressions and patterns of many wildcards."""
    rules, unknown, lines = [], 0, 0
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FilterListError(f"{path} is not a filter list: it is not text in UTF-8.") from None
    for line in text.splitlines():
        rule = line.strip()
        if _is_comment(rule):
            continue
        lines += 1
        words = rule[:_MAX_LINE_CHARS].partition("#")[0].split()
        if len(words) > 1 and _is_address(words[0]):
            if words[0] in _NOWHERE:
                rules += [f"||{host}^" for host in words[1:] if "." in host and host not in _NOWHERE]
        elif _COSMETIC.search(rule[:_MAX_LINE_CHARS]):
            continue
        elif len(rule) > _MAX_LINE_CHARS or rule[0] in "<{" or " " in rule or rule.startswith(_FOREIGN):
            unknown += 1
        elif not _is_regular_expression(rule) and rule.partition("$")[0].count("*") <= _MAX_WILDCARDS:
            unknown += _is_word(rule)
            rules.append(rule)
    if unknown > _MAX_UNKNOWN * lines:
        raise FilterListError(
            f"{path} is not a filter list: {unknown:,} of its {lines:,} lines are not rules. "
            "It must have the syntax of EasyList, such as ||ads.example.com^, or of a hosts file."
        )
    if not rules:
        raise FilterListError(f"{path} has no rules for requests, such as ||ads.example.com^.")
    return rules


def _is_comment(rule: str) -> bool:
    is_cosmetic = rule[1:].removeprefix("@")[:1] in _COSMETIC_MARKS
    return not rule or rule[0] in "![" or (rule[0] == "#" and not is_cosmetic)


def _is_word(rule: str) -> bool:
    return all(one.isalnum() or one in _WORD_MARKS for one in rule)


def _is_address(word: str) -> bool:
    """Return True for the first word of a line of a hosts file. Many lists have this format."""
    try:
        ip_address(word)
    except ValueError:
        return False
    return True


def _is_regular_expression(rule: str) -> bool:
    pattern = rule.removeprefix("@@")
    return pattern[:1] == "/" and (pattern[1:].endswith("/") or "/$" in pattern[1:])


def _raise_if_too_many(path: Path, rules: Sequence[str]) -> None:
    with_wildcards = sum("*" in rule.partition("$")[0].strip("*") for rule in rules)
    counts = ((len(rules), MAX_RULES, "rules"), (with_wildcards, MAX_WILDCARD_RULES, "wildcard rules"))
    for count, limit, what in counts:
        if count > limit:
            raise FilterListError(
                f"{path} has too many {what}: all lists together may have {limit:,}. Use fewer or smaller lists."
            )


def _build_engine(lists: Iterable[list[str]]) -> adblock.Engine:
    try:
        import adblock
    except ImportError:
        raise FilterListError("Filter lists need an engine: pip install 'search-mcp[filters]'.") from None
    filters = adblock.FilterSet()
    for rules in lists:
        filters.add_filters(rules)
    return adblock.Engine(filters)


def _refused_probes(engine: adblock.Engine) -> list[str]:
    """Return the probes that the engine refuses, or an empty list if it refuses fewer than half."""
    refused = [host for host in _PROBES if _matches(engine, host, "news.example")]
    return refused if 2 * len(refused) >= len(_PROBES) else []


def _matches(engine: adblock.Engine, host: str, page_host: str) -> bool:
    return bool(engine.check_network_urls(f"https://{host}/", f"https://{page_host}/", "script").matched)


def _list_domains(host: str) -> Iterator[str]:
    while host:
        yield host
        host = host.partition(".")[2]


_TRACKERS = frozenset({"ad", "analytics", "tag-manager"})
_WIDGETS = frozenset({"social", "marketing", "chat", "consent"})
_REFUSED_CATEGORIES: Mapping[ThirdParties, frozenset[str]] = {
    ThirdParties.ALL: frozenset(),
    ThirdParties.NO_TRACKERS: _TRACKERS,
    ThirdParties.CONTENT_ONLY: _TRACKERS | _WIDGETS,
}


@functools.cache
def _load_entities() -> Mapping[str, tuple[int, str]]:
    text = resources.files("browsers.egress").joinpath("third_parties.txt").read_text(encoding="utf-8")
    entities = {}
    for number, line in enumerate(text.splitlines()):
        if line and not line.startswith("#"):
            category, *hosts = line.split()
            entities.update(dict.fromkeys(hosts, (number, category)))
    return entities


def _find_entity(host: str) -> tuple[int, str] | None:
    """Return number and category, such as `ad`, of the entity that owns a host, or None if it is not in the file."""
    entities = _load_entities()
    return next((entities[name] for name in _list_domains(normalize_host(host)) if name in entities), None)


class ThirdPartyFilter:
    """Decide which third-party hosts one page may load."""

    def __init__(
        self, allowed: ThirdParties, page_hosts: tuple[str, ...], filter_lists: FilterLists | None = None
    ) -> None:
        """Refuse the third parties that `allowed` excludes.

        `page_hosts` are never refused: the hosts of redirects or earlier pages, and last that of the page. The hosts of
        `filter_lists` are refused too, unless `allowed` is `ThirdParties.ALL`.
        """
        self._filter_lists = filter_lists
        self._page_host = normalize_host(page_hosts[-1])
        self._categories = _REFUSED_CATEGORIES[allowed]
        self._own_domains = {_domain(host) for host in page_hosts}
        self._own_entities = {entity[0] for host in page_hosts if (entity := _find_entity(host))}

    def refuses(self, host: str) -> bool:
        """Return True if the page must not load anything from the host."""
        if not self._categories or _domain(host) in self._own_domains:
            return False
        if self._filter_lists is not None and self._filter_lists.refuses(normalize_host(host), self._page_host):
            return True
        entity = _find_entity(host)
        return entity is not None and entity[1] in self._categories and entity[0] not in self._own_entities


class ThirdPartyPolicy:
    """The operator's policy for the third parties of all pages."""

    def __init__(self, settings: BrowserSettings) -> None:
        """Read the filter lists. Raises FilterListError if one is unusable."""
        self._allows_all = settings.third_parties == ThirdParties.ALL
        self._filter_lists = FilterLists(settings.filter_lists) if settings.filter_lists else None

    def make_filter(self, allowed: ThirdParties, page_hosts: tuple[str, ...]) -> ThirdPartyFilter:
        """Return the filter of a page that asks for `allowed`; it refuses nothing if the operator allows all."""
        return ThirdPartyFilter(ThirdParties.ALL if self._allows_all else allowed, page_hosts, self._filter_lists)


def _domain(host: str) -> str:
    return registrable_domain(normalize_host(host))
