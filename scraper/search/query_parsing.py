"""What a caller may ask: words of any kind, engines that exist, domains as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from scraper.engines.common.query_operators import host_of_domain
from scraper.errors import InvalidArgumentError
from scraper.extract.text.sanitize import clean, clean_line
from scraper.search.filters import FRESHNESS
from scraper.values import closest_match

if TYPE_CHECKING:
    # The list of tools is made before anything heavy is loaded.
    from scraper.engines.model import Engine

MAX_QUERY_CHARS = 2_000
"""Engines read a quarter of it; a longer text is not a query but a document."""
MAX_RESULTS = 50
MAX_DOMAINS = 50
_ECHO_CHARS = 80

_URL = re.compile(r"https?://\S+\Z", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_DOMAIN = re.compile(r"(?:[^\s./:@?#]+\.)+[^\s./:@?#]{2,}\Z")


def text(query: str) -> str:
    """The query on one line, without what nobody sees.

    Raises:
        BadArgument: nothing is left of it, it is too long, or it is a URL.
    """
    visible = clean(query.encode("utf-8", "replace").decode())[0]
    found = _SPACE.sub(" ", visible).strip()
    if not found:
        raise InvalidArgumentError(
            "query is empty.", target="query", next_step="Say in words what to look for."
        )
    if len(found) > MAX_QUERY_CHARS:
        raise InvalidArgumentError(
            f"query has {len(found):,} characters; at most {MAX_QUERY_CHARS:,} are taken.",
            target="query",
            next_step="Ask with the few words that matter.",
        )
    if _URL.match(found):
        raise InvalidArgumentError(
            f'query is a URL: "{clean_line(found, _ECHO_CHARS)}".',
            target="query",
            next_step="Read it with `fetch`, or ask in words.",
        )
    return found


def engines(
    names: Sequence[str] | None, known: Mapping[str, Engine], usual: Sequence[str]
) -> tuple[Engine, ...]:
    """The engines of these names, each once; the usual ones when none are given.

    Raises:
        BadArgument: no name at all, or one that no engine has.
    """
    if names is None:
        return tuple(known[name] for name in usual)
    if not names:
        raise InvalidArgumentError("engines is an empty list.", target="engines", next_step=_known(known))
    wanted = dict.fromkeys(name.strip().lower() for name in names)
    for name in wanted:
        if name not in known:
            closest = closest_match(name, list(known))
            hint = f' Did you mean "{closest}"?' if closest else ""
            shown = clean_line(name, _ECHO_CHARS)
            raise InvalidArgumentError(
                f'engines names "{shown}", which is none.{hint}', target="engines", next_step=_known(known)
            )
    return tuple(known[name] for name in wanted)


def domains(name: str, given: Iterable[str]) -> tuple[str, ...]:
    """Host names of what was given as domains: URLs, `www.` and `*.` are understood.

    Raises:
        BadArgument: one is no domain.
    """
    listed = list(given)
    if len(listed) > MAX_DOMAINS:
        raise InvalidArgumentError(
            f"{name} has {len(listed)} entries; at most {MAX_DOMAINS} are taken.", target=name
        )
    found: dict[str, None] = {}
    for item in listed:
        host = _ascii(host_of_domain(item))
        if not _DOMAIN.match(host):
            raise InvalidArgumentError(
                f'{name} holds "{clean_line(item, _ECHO_CHARS)}", which is no domain.',
                target=name,
                next_step='Write domains as "python.org".',
            )
        found[host] = None
    return tuple(found)


def freshness_of(value: str | None) -> str | None:
    """The word for how recent rows must be.

    Raises:
        BadArgument: it is another word.
    """
    return one_of("freshness", value, tuple(FRESHNESS))


def one_of(name: str, value: str | None, words: Sequence[str]) -> str | None:
    """`value`, one of a few words or nothing.

    Raises:
        BadArgument: it is another word.
    """
    if value is None or value in words:
        return value
    shown = clean_line(value, _ECHO_CHARS)
    raise InvalidArgumentError(f'{name} must be one of {", ".join(words)}, not "{shown}".', target=name)


def whole(name: str, value: int, low: int, high: int) -> int:
    """`value` within its bounds.

    Raises:
        BadArgument: it is not.
    """
    if low <= value <= high:
        return value
    raise InvalidArgumentError(f"{name} must be from {low} to {high}, not {value}.", target=name)


def _ascii(host: str) -> str:
    """The host as it stands in addresses; empty where it cannot."""
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        return ""


def _known(known: Mapping[str, Engine]) -> str:
    return f"Known: {', '.join(known)}."
