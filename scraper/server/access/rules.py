"""Who may talk to the server: a name we answer to, an origin we know, a token we gave out.

The Host and Origin rules hold for every route: without them any web page that a user opens could reach a
server on their loopback by DNS rebinding.
"""

from __future__ import annotations

import base64
import hmac
import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from scraper.settings.files import UnreadableFileError, read_text_file

WELL_KNOWN = "/.well-known/oauth-protected-resource"
"""RFC 9728; the path of the endpoint stands behind it."""
_TOKEN = re.compile("[!-~]+")
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class ServerStartError(Exception):
    """The server would be unsafe or impossible to start; the message says what to change."""


@dataclass(frozen=True, slots=True)
class AccessKey:
    """One caller's token; `name` is the principal that cookies, cache and limits go by."""

    name: str
    token: str = field(repr=False)


class TokenVerifier(Protocol):
    """Somebody else who gives out tokens for us."""

    def principal(self, token: str) -> str | None:
        """The caller whose token this is; None when it is none of theirs."""

    def challenge(self, path: str) -> str:
        """Where a client learns how to get one for the endpoint at `path`."""


@dataclass(frozen=True, slots=True)
class AccessRules:
    """What a request must carry to be answered."""

    hosts: frozenset[str]
    """Names we answer to, `name` or `name:port`, in lower case."""
    origins: frozenset[str] = frozenset()
    """Origins beyond our own names whose pages may call us."""
    keys: tuple[AccessKey, ...] = ()
    issuer: TokenVerifier | None = None
    open_paths: frozenset[str] = frozenset()
    """Paths that never ask for a token."""

    @property
    def asks_for_token(self) -> bool:
        """Whether any token is asked for; without one, whoever gets this far may call."""
        return bool(self.keys) or self.issuer is not None

    def is_open(self, path: str) -> bool:
        """Whether a path never asks for a token."""
        return path in self.open_paths or path.startswith(WELL_KNOWN)

    def challenge(self, path: str) -> str:
        """The header of a refusal at `path`."""
        # A browser asks its user for a name and a password, which is the token; the page's own requests then
        # carry it too. What other pages make it send is stopped by its Origin.
        if path == "/":
            return 'Basic realm="search-mcp", charset="UTF-8"'
        more = "" if self.issuer is None else ", " + self.issuer.challenge(path)
        return f'Bearer realm="search-mcp"{more}'

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names us."""
        name, port = _host_and_port(header)
        return bool(name) and (name in self.hosts or f"{_bracketed(name)}:{port}" in self.hosts)

    def knows_origin(self, header: str | None) -> bool:
        """Whether an Origin header is absent, our own, or listed."""
        if header is None:
            return True
        return header.lower() in self.origins or self.knows_host(_place(header))

    def principal(self, authorization: str) -> str | None:
        """The caller whose token this header carries; None when it carries none of ours."""
        scheme, _, token = authorization.partition(" ")
        token = _password(token) if scheme.lower() == "basic" else token.strip()
        if scheme.lower() not in {"bearer", "basic"} or not token:
            return None
        given = token.encode()
        # Every key is compared, so that the time says nothing about which one was close.
        names = [key.name for key in self.keys if hmac.compare_digest(given, key.token.encode())]
        if names or self.issuer is None:
            return names[0] if names else None
        return self.issuer.principal(token)


def rules_for(
    host: str,
    *,
    hosts: Iterable[str],
    origins: Iterable[str],
    keys: tuple[AccessKey, ...],
    allow_unauthenticated: bool,
    open_paths: frozenset[str],
    issuer: TokenVerifier | None = None,
) -> AccessRules:
    """The rules of a server bound to `host`.

    Raises:
        CannotStart: the address is not loopback, and nothing says who may call.
    """
    if not is_loopback(host) and not keys and issuer is None and not allow_unauthenticated:
        raise ServerStartError(
            f"Refusing to listen on {host} without a token: whoever reaches that address could call. "
            "Set SEARCH_MCP_TOKEN (or SEARCH_MCP_TOKENS_FILE), or say --allow-unauthenticated if you mean it."
        )
    own = {entry.strip().lower().rstrip(".") for entry in hosts if entry.strip()}
    if not _is_wildcard(host):
        own.add(host.lower())
    return AccessRules(
        hosts=frozenset(own | _LOOPBACK_NAMES),
        origins=frozenset(origin.strip().lower().rstrip("/") for origin in origins),
        keys=keys,
        issuer=issuer,
        open_paths=open_paths,
    )


def read_keys(token: str | None, tokens_file: Path | None) -> tuple[AccessKey, ...]:
    """The keys that the settings name: a single token, a file of `name:token` lines, or both.

    A name may stand in several lines, so that a token can be changed without an hour in which none is right.

    Raises:
        CannotStart: the file cannot be read, a line is not `name:token`, or no caller could send a token so.
    """
    keys: list[AccessKey] = []
    if token:
        _check_token(token, "SEARCH_MCP_TOKEN")
        keys.append(AccessKey("default", token))
    if tokens_file is not None:
        keys.extend(_keys_in(tokens_file))
    for key in keys:
        names = {other.name for other in keys if other.token == key.token}
        if len(names) > 1:
            raise ServerStartError(
                f"{' and '.join(sorted(names))} have the same token: whose call it is could not be told."
            )
    return tuple(keys)


def _keys_in(path: Path) -> list[AccessKey]:
    try:
        lines = read_text_file(path).splitlines()
    except UnreadableFileError as error:
        raise ServerStartError(f"SEARCH_MCP_TOKENS_FILE={path} cannot be read: {error}") from None
    keys = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"SEARCH_MCP_TOKENS_FILE, line {number}"
        name, _, token = (part.strip() for part in line.partition(":"))
        if not name or not token:
            raise ServerStartError(f"{where}: write name:token.")
        if not name.isprintable():
            raise ServerStartError(f"{where}: the name holds characters that cannot be seen.")
        _check_token(token, where)
        keys.append(AccessKey(name, token))
    if not keys:
        raise ServerStartError(f"SEARCH_MCP_TOKENS_FILE {path} holds no name:token line.")
    return keys


def _check_token(token: str, where: str) -> None:
    if not _TOKEN.fullmatch(token):
        raise ServerStartError(
            f"{where}: a token is made of visible ASCII characters without spaces, "
            "since others cannot be sent in a header alike by all clients."
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to `host`."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _password(credentials: str) -> str:
    """The password of a name and a password, as browsers send them; empty where there is none."""
    try:
        return base64.b64decode(credentials.strip(), validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _place(origin: str) -> str:
    """Name and port of an origin; empty where it is no URL."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _is_wildcard(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def _host_and_port(header: str) -> tuple[str, str]:
    """Name in lower case without brackets or final dot, and the port; empty name when it is not a host."""
    header = header.strip().lower()
    if header.startswith("["):
        name, bracket, rest = header[1:].partition("]")
        return (name, rest.removeprefix(":")) if bracket and rest[:1] in {"", ":"} else ("", "")
    name, _, port = header.partition(":")
    if port and not port.isdigit():
        return "", ""
    return name.rstrip("."), port


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name
