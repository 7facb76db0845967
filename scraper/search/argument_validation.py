"""Request of a search, and checks of its arguments; invalid ones raise `InvalidArgumentError`."""

import contextlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scraper.engines.model import Engine
from scraper.errors import InvalidArgumentError
from scraper.model import CachePolicy
from scraper.text.sanitize import clean, clean_line
from scraper.values.text import suggest

_MAX_QUERY_CHARS = 2_000
"""Characters. Engines read a quarter of it; a longer text is a document rather than a query."""
MAX_RESULTS = 50
MAX_DOMAINS = 50
_ECHO_CHARS = 80

_DOMAIN = re.compile(r"(?:[^\s./:@?#]+\.)+[^\s./:@?#]{2,}\Z")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Request to query search engines."""

    query: str
    engines: Sequence[str] | None = None
    """Names; None for the default engines."""
    max_results: int = 10
    freshness: str | None = None
    """Oldest acceptable results: `day`, `week`, `month` or `year`."""
    include_domains: Sequence[str] = ()
    exclude_domains: Sequence[str] = ()
    category: str | None = None
    include_text: str | None = None
    exclude_text: str | None = None
    cache: CachePolicy = field(default_factory=CachePolicy)
    principal: str = "local"
    deadline_s: float = 55.0
    """Seconds. The deadline of each engine may be shorter."""


def parse_query(query: str) -> str:
    """Return the query on one line, without invisible characters; reject an empty one, a long one and a URL."""
    text = " ".join(clean(query.encode("utf-8", "replace").decode())[0].split())
    if not text:
        message, next_step = "query is empty.", "Describe in words what to look for."
    elif len(text) > _MAX_QUERY_CHARS:
        message = f"query has {len(text):,} characters; at most {_MAX_QUERY_CHARS:,} are taken."
        next_step = "Use only the few words that matter."
    elif text.lower().startswith(("http://", "https://")) and " " not in text:
        message = f'query is a URL: "{clean_line(text, _ECHO_CHARS)}".'
        next_step = "Read it with `fetch`, or ask in words."
    else:
        return text
    raise InvalidArgumentError(message, target="query", next_step=next_step)


def parse_engines(
    names: Sequence[str] | None, engines: Mapping[str, Engine], defaults: Sequence[str]
) -> tuple[Engine, ...]:
    """Return the engines with these names, in any case, each once; the default ones for None."""
    if names is None:
        return tuple(engines[name] for name in defaults)
    next_step = f"Known: {', '.join(engines)}."
    if not names:
        raise InvalidArgumentError("engines is an empty list.", target="engines", next_step=next_step)
    requested = dict.fromkeys(name.strip().lower() for name in names)
    for name in requested:
        if name not in engines:
            message = f'"{clean_line(name, _ECHO_CHARS)}" is not a search engine{suggest(name, engines)}.'
            raise InvalidArgumentError(message, target="engines", next_step=next_step)
    return tuple(engines[name] for name in requested)


def parse_domains(name: str, items: Iterable[str]) -> tuple[str, ...]:
    """Return the host names of domains, which may be written as URLs, with `www.` or with `*.`."""
    # Imported late: the list of tools is built before any parser of pages is loaded.
    from scraper.engines import request_builder

    domains = list(items)
    if len(domains) > MAX_DOMAINS:
        raise InvalidArgumentError(f"{name} has {len(domains)} entries; at most {MAX_DOMAINS} are taken.", target=name)
    hosts: dict[str, None] = {}
    for item in domains:
        host = request_builder.host_of_domain(item)
        with contextlib.suppress(UnicodeError):
            host = host.encode("idna").decode()
        if not host.isascii() or not _DOMAIN.match(host):
            raise InvalidArgumentError(
                f'{name} contains "{clean_line(item, _ECHO_CHARS)}", which is not a domain.',
                target=name,
                next_step='Write domains as "python.org".',
            )
        hosts[host] = None
    return tuple(hosts)


def check_choice(name: str, value: str | None, choices: Collection[str]) -> str | None:
    """Return `value` if it is None or one of the choices."""
    if value is None or value in choices:
        return value
    message = f'{name} must be one of {", ".join(choices)}, not "{clean_line(value, _ECHO_CHARS)}".'
    raise InvalidArgumentError(message, target=name)


def check_range(name: str, value: int, low: int, high: int) -> int:
    """Return `value` if it lies between the bounds."""
    if low <= value <= high:
        return value
    raise InvalidArgumentError(f"{name} must be from {low} to {high}, not {value}.", target=name)
