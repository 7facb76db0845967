"""The rules of one robots.txt for us."""

from __future__ import annotations

import re
from itertools import islice
from urllib.parse import unquote

import ada_url
from protego import Protego

PRODUCT = "search-mcp"
"""The product token by which a robots.txt may speak of us; where it does not, `*` is meant."""
GAP_LIMIT_S = 120.0
"""A crawl-delay beyond this was written for crawlers: pages are read here because somebody waits for them."""
RULES_TRIED = 200
"""Of those that fit as far as they hold no wildcard: each is parsed by itself."""

_DISALLOW = re.compile(r"^[^\S\n]*dis+al+ow[^\S\n]*:([^#\n]*)", re.IGNORECASE | re.MULTILINE)
"""Blanks are none that end lines: 20,000 empty lines took a second so, and a file may hold half a million."""
_AGENT_FIELDS = frozenset({"user-agent", "useragent", "user agent"})
_OTHERS = "others"


class RobotsRules:
    """What may be read, and how fast."""

    def __init__(self, text: str) -> None:
        values = {value.strip() for value in _DISALLOW.findall("\n".join(text.splitlines()))}
        # Made ready here, where nobody waits: of 25,000 rules it takes a tenth of a second.
        self._values = sorted(values, key=len, reverse=True)
        self._literals = [_literal(value) for value in self._values]
        self._parser = Protego.parse(_for_us(text))
        delay_s = self._parser.crawl_delay(PRODUCT)
        self.gap_s = None if delay_s is None else min(delay_s, GAP_LIMIT_S)

    def forbidding(self, url: str) -> str | None:
        """The rule that forbids a URL; None where it may be read."""
        if self._parser.can_fetch(url, PRODUCT):
            return None
        # The parser does not say by which rule: the longest that would do it by itself is the one.
        path = unquote(ada_url.URL(url).pathname + ada_url.URL(url).search)
        rules = zip(self._values, self._literals, strict=True)
        likely = (value for value, literal in rules if path.startswith(literal))
        return next((value for value in islice(likely, RULES_TRIED) if _forbids(value, url)), "/")


def _for_us(text: str) -> str:
    """The text with one name for all whom it does not mean us by.

    The parser keeps each rule once for every name above it: in half a megabyte that may be 18,000 names above
    25,000 rules.
    """
    lines = text.splitlines()
    named = [_agent(line) for line in lines]
    # Of several that fit, the longest counts, and of two as long the first.
    ours = max((name for name in named if name and _is_us(name)), key=len, default="*")
    return "\n".join(
        line if not name else f"User-agent: {name if name == ours else _OTHERS}"
        for line, name in zip(lines, named, strict=True)
    )


def _agent(line: str) -> str | None:
    """The name on a line that names an agent, as the parser reads it; None: it names none."""
    line = line.partition("#")[0].strip()
    field, colon, value = line.partition(":")
    if field.strip().lower() not in _AGENT_FIELDS:
        words = line.split()
        count = next((n for n in (1, 2) if " ".join(words[:n]).lower() in _AGENT_FIELDS), 0)
        # "User-agent a: b" is a field that nobody knows.
        if not count or (colon and not value[:1].strip()):
            return None
        value = " ".join(words[count:])
    name = value.strip().lower()
    if name == "*" or not name:
        return name
    return name.replace("*", "") or _OTHERS


def _is_us(name: str) -> bool:
    return name == "*" or PRODUCT.startswith(name)


def rules_of(text: str) -> RobotsRules:
    """The rules in the text of a robots.txt."""
    return RobotsRules(text)


def _literal(value: str) -> str:
    """What a rule begins with before anything that stands for something else."""
    return unquote(re.split(r"[*$]", value, maxsplit=1)[0])


def _forbids(value: str, url: str) -> bool:
    alone = Protego.parse(f"User-agent: *\nDisallow: {value}")
    return not alone.can_fetch(url, PRODUCT)
