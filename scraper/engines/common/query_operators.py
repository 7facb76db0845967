"""A person's query made fit to be sent: nothing in it that an engine would obey instead of search for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

MAX_QUERY_CHARS = 499
"""DuckDuckGo refuses 500 and more; nobody else searches better for longer ones."""

MAX_SITES = 5
"""Longer lists of `site:` are answered badly or not at all: they are filtered afterwards alone."""

_QUOTED = re.compile(r'("[^"]*")')
_BANG = re.compile(r"(?<!\S)!+[\w.:+-]+")
_LAST_BANG = re.compile(r"(?<=[\w.])!+(?!\S)")
_LONE = re.compile(r"(?<!\S)[!\\]+(?=\s|$)|^\s*\\+")
_FILTER_HOST = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?(?://)?(?:[^/@\s]*@)?([^/:?#\s]+)", re.IGNORECASE)


def with_words(text: str, *parts: str) -> str:
    """The query on one line without control characters, with an engine's own words behind it.

    Where both together are longer than engines take, the query is cut: behind a word, if it has several.
    """
    tail = " ".join(part for part in parts if part)
    room = MAX_QUERY_CHARS - (len(tail) + 1 if tail else 0)
    return f"{_cut(_plain(text), max(room, 0))} {tail}".strip()


def quoted_bangs(text: str) -> str:
    """The query with `!w`, which would send us to another site, in quotes; `\\` and a lone `!` left out."""
    pieces = _QUOTED.split(text)
    return " ".join("".join(piece if piece.startswith('"') else _tamed(piece) for piece in pieces).split())


def sites(domains: Sequence[str], either: str = " OR ") -> str:
    """`site:` of one of the domains; nothing when there are none or more than engines take."""
    hosts = _hosts(domains)
    if not hosts or len(hosts) > MAX_SITES:
        return ""
    listed = either.join(f"site:{host}" for host in hosts)
    return listed if len(hosts) == 1 else f"({listed})"


def excluded_sites(domains: Sequence[str]) -> str:
    """`-site:` of the first few domains; the rest is filtered afterwards."""
    return " ".join(f"-site:{host}" for host in _hosts(domains)[:MAX_SITES])


def host_of_filter(domain: str) -> str:
    """The host in what was given as a domain: a URL, `www.` and a leading `*.` are understood."""
    match = _FILTER_HOST.match(domain.strip().removeprefix("*.").removeprefix("."))
    host = match.group(1).lower().strip(".") if match else ""
    return host.removeprefix("www.")


def _hosts(domains: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(host for host in map(host_of_filter, domains) if host))


def _tamed(piece: str) -> str:
    piece = _LONE.sub(" ", piece)
    piece = _BANG.sub(lambda match: f'"{match.group()}"', piece)
    return _LAST_BANG.sub("", piece)


def _plain(text: str) -> str:
    kept = "".join(" " if _is_control(character) else character for character in text)
    return " ".join(kept.split())


def _is_control(character: str) -> bool:
    return (
        unicodedata.category(character) in {"Cc", "Cs", "Co", "Cn"} or character in "\u2028\u2029\ufeff\u200b"
    )


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    head, _, rest = text[: room + 1].rpartition(" ")
    # A text without spaces (Chinese, Japanese) is cut where it must be.
    return head if head and len(rest) < room // 2 else text[:room].strip()
