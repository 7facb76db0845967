"""Why Valkey or Redis cannot be used, in one sentence for the operator; never a word of the URL's secrets."""

from __future__ import annotations

import re

from redis import exceptions as redis_errors

LEAST_VERSION = (7, 0)
"""The oldest that our tests run on."""

_SENTENCES: tuple[tuple[type[Exception], str], ...] = (
    (redis_errors.AuthenticationError, "refuses the user or the password of SEARCH_MCP_SHARED_URL"),
    (redis_errors.NoPermissionError, "does not allow this user the commands that are needed"),
    (redis_errors.OutOfMemoryError, "is full: maxmemory is reached and its policy evicts nothing"),
    (redis_errors.ReadOnlyError, "is a replica, which takes no writes"),
    (redis_errors.BusyLoadingError, "is still loading its data"),
    (redis_errors.InvalidResponse, "answers, but not as Valkey or Redis do"),
    (redis_errors.MaxConnectionsError, "is asked too much at once"),
    (TimeoutError, "does not answer in time"),
    (redis_errors.TimeoutError, "does not answer in time"),
    (redis_errors.ConnectionError, "cannot be reached, or broke the connection off"),
    (OSError, "cannot be reached, or broke the connection off"),
)
_WORDS = (
    (re.compile(r"^(NOAUTH|WRONGPASS)|without any password configured"), _SENTENCES[0][1]),
    (re.compile(r"^(MOVED|CLUSTERDOWN|CROSSSLOT)"), "is part of a cluster, which is not supported"),
    (re.compile(r"^MISCONF"), "takes no writes: it cannot save to its disk"),
    (re.compile(r"unknown command", re.IGNORECASE), "does not know the commands that are needed"),
    (re.compile(r"CERTIFICATE_VERIFY_FAILED"), "has a certificate that cannot be trusted"),
    (re.compile(r"DB index"), "has no database of the number in SEARCH_MCP_SHARED_URL"),
    (re.compile(r"OOM command"), _SENTENCES[2][1]),
)
_EVICTING = re.compile(r"allkeys|volatile")


class IncompatibleServiceError(Exception):
    """It answers, and cannot be used; the message says why."""


def problem_of(error: Exception, where: str) -> str:
    """One sentence; `where` names the service without its secrets."""
    if isinstance(error, IncompatibleServiceError):
        return f"{where} {error}."
    said = str(error)
    for pattern, sentence in _WORDS:
        if pattern.search(said):
            return f"{where} {sentence}."
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return f"{where} {sentence}."
    return f"{where} answers with an error ({type(error).__name__})."


def refuse_unfit(info: dict[str, object]) -> None:
    """Look at what the service says of itself.

    Raises:
        Unfit: it is too old, or a replica.
    """
    version = str(info.get("redis_version", ""))
    numbers = tuple(int(part) for part in re.findall(r"[0-9]+", version)[:2])
    if numbers < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise IncompatibleServiceError(f"is version {version[:20] or 'unknown'}; {least} or newer is needed")
    if info.get("role") not in (None, "master"):
        raise IncompatibleServiceError("is a replica, which takes no writes")


def note_of(info: dict[str, object]) -> str | None:
    """What the operator should change although it works."""
    if _EVICTING.match(str(info.get("maxmemory_policy", ""))) and info.get("maxmemory") not in (0, "0", None):
        return "It may evict what servers agreed on: set its maxmemory-policy to noeviction."
    return None
