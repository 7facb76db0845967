"""Parse and check the arguments of a search."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from scraper.engines.common.query_operators import host_of_domain
from scraper.errors import InvalidArgumentError
from scraper.extract.text.sanitize import clean, clean_line
from scraper.search.filters import FRESHNESS
from scraper.values.types import closest_match

if TYPE_CHECKING:
    # The list of tools is built before anything heavy is imported.
    from scraper.engines.model import Engine

MAX_QUERY_CHARS = 2_000
"""Engines read a quarter of it; a longer text is a document rather than a query."""
MAX_RESULTS = 50
MAX_DOMAINS = 50
_ECHO_CHARS = 80

_URL = re.compile(r"https?://\S+\Z", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_DOMAIN = re.compile(r"(?:[^\s./:@?#]+\.)+[^\s./:@?#]{2,}\Z")


def parse_query(query: str) -> str:
    """Return the query on one line, without invisible characters.

    Raises:
        InvalidArgumentError: It is empty, too long, or a URL.
    """
    visible = clean(query.encode("utf-8", "replace").decode())[0]
    found = _SPACE.sub(" ", visible).strip()
    if not found:
        raise InvalidArgumentError("query is empty.", target="query", next_step="Say in words what to look for.")
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


def parse_engines(
    names: Sequence[str] | None, known: Mapping[str, Engine], defaults: Sequence[str]
) -> tuple[Engine, ...]:
    """Return the engines with these names, each once; the default ones for None.

    Raises:
        InvalidArgumentError: The list is empty, or a name is unknown.
    """
    if names is None:
        return tuple(known[name] for name in defaults)
    if not names:
        raise InvalidArgumentError("engines is an empty list.", target="engines", next_step=_known_hint(known))
    requested = dict.fromkeys(name.strip().lower() for name in names)
    for name in requested:
        if name not in known:
            closest = closest_match(name, list(known))
            meant = f' Did you mean "{closest}"?' if closest else ""
            shown = clean_line(name, _ECHO_CHARS)
            raise InvalidArgumentError(
                f'engines names "{shown}", which is none.{meant}', target="engines", next_step=_known_hint(known)
            )
    return tuple(known[name] for name in requested)


def parse_domains(name: str, items: Iterable[str]) -> tuple[str, ...]:
    """Return the host names of domains, which may be written as URLs, with `www.` or with `*.`.

    Raises:
        InvalidArgumentError: There are too many, or one is not a domain.
    """
    listed = list(items)
    if len(listed) > MAX_DOMAINS:
        raise InvalidArgumentError(f"{name} has {len(listed)} entries; at most {MAX_DOMAINS} are taken.", target=name)
    found: dict[str, None] = {}
    for item in listed:
        host = _to_ascii(host_of_domain(item))
        if not _DOMAIN.match(host):
            raise InvalidArgumentError(
                f'{name} holds "{clean_line(item, _ECHO_CHARS)}", which is no domain.',
                target=name,
                next_step='Write domains as "python.org".',
            )
        found[host] = None
    return tuple(found)


def parse_freshness(value: str | None) -> str | None:
    """Check the name of the largest age of results.

    Raises:
        InvalidArgumentError: The name is unknown.
    """
    return check_choice("freshness", value, tuple(FRESHNESS))


def check_choice(name: str, value: str | None, choices: Collection[str]) -> str | None:
    """Return `value` if it is None or one of the choices.

    Raises:
        InvalidArgumentError: It is another value.
    """
    if value is None or value in choices:
        return value
    shown = clean_line(value, _ECHO_CHARS)
    raise InvalidArgumentError(f'{name} must be one of {", ".join(choices)}, not "{shown}".', target=name)


def check_range(name: str, value: int, low: int, high: int) -> int:
    """Return `value` if it lies between the bounds.

    Raises:
        InvalidArgumentError: It does not.
    """
    if low <= value <= high:
        return value
    raise InvalidArgumentError(f"{name} must be from {low} to {high}, not {value}.", target=name)


def _to_ascii(host: str) -> str:
    """Return the host in IDNA form; empty if it has none."""
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        return ""


def _known_hint(known: Mapping[str, Engine]) -> str:
    return f"Known: {', '.join(known)}."
