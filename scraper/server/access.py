"""Check the Host, Origin and Authorization headers of requests.

Host and Origin are checked on every route: otherwise any web page that a user opens could reach a server on loopback
by DNS rebinding.

Tokens are those of the settings, or JWTs of an OAuth issuer, whose library is imported only if there is one.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import ipaddress
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from browsers.request_signing import DIRECTORY_PATH
from scraper.settings import Settings
from scraper.settings.files import UnreadableFileError, read_text_file

if TYPE_CHECKING:
    import jwt

RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"
"""Path prefix of RFC 9728; the path of the endpoint follows."""
MIN_TOKEN_CHARS = 16
"""Characters. A shorter token may be guessed: 16 random hexadecimal digits have 64 bits."""
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class ServerStartError(Exception):
    """The server cannot start, or would be unsafe; the message is the next step of the operator."""


@dataclass(frozen=True, slots=True)
class AccessKey:
    """The token of one caller; `name` is the principal of its cookies, cache entries and limits."""

    name: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Requirements for the headers of a request."""

    hosts: frozenset[str]
    """Accepted host names, `name` or `name:port`, in lower case."""
    origins: frozenset[str] = frozenset()
    """Additional origins whose pages may call the server."""
    keys: tuple[AccessKey, ...] = ()
    issuer: OAuthResourceServer | None = None
    open_paths: frozenset[str] = frozenset()
    """Paths that require no token, and no Host header that names this server."""
    accepts_addresses: bool = False
    """True if the Host header may be any IP address; no other site can get such an address for its pages."""
    prefix: str = ""
    """Path below which a proxy serves this server; empty for the root of its host."""

    @property
    def requires_token(self) -> bool:
        """True if a token is required; otherwise every caller with a valid Host and Origin may call."""
        return bool(self.keys) or self.issuer is not None

    @property
    def short_tokens(self) -> tuple[str, ...]:
        """Names of the callers with a token of fewer than `MIN_TOKEN_CHARS` characters."""
        return tuple(dict.fromkeys(key.name for key in self.keys if len(key.token) < MIN_TOKEN_CHARS))

    def is_open(self, path: str) -> bool:
        """Return True if a path requires no token."""
        return path in self.open_paths or path.startswith(RESOURCE_METADATA_PATH)

    def challenge(self, path: str, *, error: str = "") -> str:
        """Return the WWW-Authenticate header of a rejected request; `error` is a code of RFC 6750, 3.1."""
        # A browser asks its user for a name and a password, which is the token, and sends both with requests of the
        # page. Requests that other pages trigger are rejected by their Origin.
        if path == "/":
            return 'Basic realm="search-mcp", charset="UTF-8"'
        more = f', error="{error}"' if error else ""
        more += "" if self.issuer is None else ", " + self.issuer.challenge(path)
        return f'Bearer realm="search-mcp"{more}'

    def knows_host(self, header: str) -> bool:
        """Return True if a Host header names this server."""
        address = _ip_address(_host_and_port(header)[0]) if self.accepts_addresses else None
        return self._lists(header) or (address is not None and not address.is_unspecified)

    def _lists(self, header: str) -> bool:
        name, port = _host_and_port(header)
        return bool(name) and (name in self.hosts or f"{_add_brackets(name)}:{port}" in self.hosts)

    def knows_origin(self, header: str | None, host: str) -> bool:
        """Return True if an Origin is absent, this server's, or listed: any program may serve pages on loopback."""
        if header is None or header.lower() in self.origins:
            return True
        name, port = _host_and_port(_origin_host(header))
        is_listed = f"{_add_brackets(name)}:{port}" in self.hosts or name not in _LOOPBACK_NAMES
        return (name, port) == _host_and_port(host) or (is_listed and self._lists(_origin_host(header)))

    def principal(self, authorization: str) -> str | None:
        """Return the caller to whom the token of an Authorization header belongs, or None."""
        scheme, _, token = authorization.partition(" ")
        token = _password(token) if scheme.lower() == "basic" else token.strip()
        if scheme.lower() not in {"bearer", "basic"} or not token:
            return None
        encoded = token.encode()
        # All keys are compared, so that the time reveals nothing about the keys.
        names = [key.name for key in self.keys if hmac.compare_digest(encoded, key.token.encode())]
        if names or self.issuer is None:
            return names[0] if names else None
        return self.issuer.principal(token)


def principal_of(scope: Mapping[str, Any]) -> str:
    """Return the caller that `AccessMiddleware` identified, or "" if the path requires no token and none was valid."""
    user = scope.get("user")
    return "" if user is None else str(user.access_token.client_id)


def make_access_rules(
    settings: Settings, issuer: OAuthResourceServer | None = None, keys: tuple[AccessKey, ...] | None = None
) -> AccessRules:
    """Return the rules of the settings and `keys`, by default theirs; raise ServerStartError if they are unsafe."""
    host, keys = settings.host, read_keys(settings.token, settings.tokens_file) if keys is None else keys
    if not is_loopback(host) and not keys and issuer is None and not settings.allow_unauthenticated:
        raise ServerStartError(
            f"Refusing to listen on {host} without a token: everyone who reaches that address could call. "
            "Set SEARCH_MCP_TOKEN (or SEARCH_MCP_TOKENS_FILE), or use --allow-unauthenticated if this is intended."
        )
    own = {entry.strip().lower().rstrip(".") for entry in settings.allowed_hosts if entry.strip()}
    address = _ip_address(host)
    if address is None or not address.is_unspecified:
        own.add(host.lower())
    public = urlsplit(base_url(settings.public_url or ""))
    if public.hostname:
        own.add(public.hostname)
    return AccessRules(
        hosts=frozenset(own | _LOOPBACK_NAMES),
        origins=frozenset(origin.strip().lower().rstrip("/") for origin in settings.allowed_origins),
        keys=keys,
        issuer=issuer,
        open_paths=frozenset({"/health", "/ready", DIRECTORY_PATH}),
        accepts_addresses=not is_loopback(host),
        prefix=public.path,
    )


def base_url(public_url: str) -> str:
    """Return the URL below which the endpoints are, for the public URL of the server or of one of its endpoints."""
    for endpoint in sorted(_ENDPOINTS, key=len, reverse=True):
        public_url = public_url.rstrip("/").removesuffix(endpoint)
    parts = urlsplit(public_url.rstrip("/"))
    return parts._replace(netloc=parts.netloc.lower()).geturl()


def read_keys(token: str | None, tokens_file: Path | None) -> tuple[AccessKey, ...]:
    """Return the keys of the settings: a single token, a file of `name:token` lines, or both.

    A name may have several lines, so that a token can be replaced without interruption. Wrong lines and tokens, and
    two callers with the same token, raise ServerStartError.
    """
    found = [("SEARCH_MCP_TOKEN", "default", token)] if token else []
    found += _read_key_file(tokens_file) if tokens_file is not None else []
    for where, _, value in found:
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise ServerStartError(
                f"{where}: a token must consist of visible ASCII characters without spaces, "
                "because not all clients send others in a header alike."
            )
        names = {name for _, name, other in found if other == value}
        if len(names) > 1:
            raise ServerStartError(
                f"{' and '.join(sorted(names))} have the same token, so that their calls cannot be told apart."
            )
    return tuple(AccessKey(name, value) for _, name, value in found)


def _read_key_file(path: Path) -> list[tuple[str, str, str]]:
    """Return the place, name and token of each line."""
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
            raise ServerStartError(f"{where}: the name contains invisible characters.")
        keys.append((where, name, token))
    if not keys:
        raise ServerStartError(f"SEARCH_MCP_TOKENS_FILE {path} has no name:token line.")
    return keys


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach a server that listens on `host`."""
    address = _ip_address(host)
    return host.lower() == "localhost" if address is None else address.is_loopback


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _password(credentials: str) -> str:
    try:
        return base64.b64decode(credentials.strip(), validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _origin_host(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _host_and_port(header: str) -> tuple[str, str]:
    """Return the lower-case name without brackets and final dot, and the port; empty texts for an invalid header."""
    header = header.strip().lower()
    if header.startswith("["):
        name, bracket, rest = header[1:].partition("]")
        return (name, rest.removeprefix(":")) if bracket and rest[:1] in {"", ":"} else ("", "")
    name, _, port = header.partition(":")
    if port and not port.isdigit():
        return "", ""
    return name.rstrip("."), port


def _add_brackets(name: str) -> str:
    return f"[{name}]" if ":" in name else name


_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Algorithms with public keys. With symmetric keys, everyone who can verify a token could also issue one."""
_ENDPOINTS = ("/mcp", "/openai/mcp")
_LEEWAY_S = 30
_MAX_SUBJECT_CHARS = 255
"""Characters. Maximum length of a subject in OpenID Connect."""


class OAuthResourceServer:
    """An OAuth issuer, and the audience that its tokens must have."""

    def __init__(self, url: str, resource: str, keys: Path) -> None:
        """Read a JSON Web Key Set, or raise ServerStartError; `resource` is our public URL, the audience."""
        self._url, self._resource, self._file = url, resource, keys
        self._read_keys()

    def _read_keys(self) -> None:
        import jwt

        file = self._file
        try:
            # Read first, so that a change during the read is noticed the next time.
            changed_at = _modified_at(file)
            key_set = jwt.PyJWKSet.from_dict(json.loads(read_text_file(file)))
        except UnreadableFileError as error:
            raise ServerStartError(f"SEARCH_MCP_ISSUER_KEYS={file} cannot be read: {error}") from None
        except (ValueError, AttributeError, jwt.PyJWTError) as error:
            raise ServerStartError(f"SEARCH_MCP_ISSUER_KEYS={file} is not a JSON Web Key Set: {error}") from None
        self._keys = [key for key in key_set.keys if key.algorithm_name in _ALGORITHMS]
        self._changed_at = changed_at

    def principal(self, token: str) -> str | None:
        """Return `oauth:` and the subject of a valid token, or None."""
        if token.count(".") != 2 or len(token) > 8_192:
            return None
        if _modified_at(self._file) != self._changed_at:
            # The old keys stay while the file is missing or incomplete.
            with contextlib.suppress(ServerStartError):
                self._read_keys()
        subjects = (self._subject(token, key) for key in self._keys)
        subject = next(filter(None, subjects), "")
        # The prefix separates subjects from the names in the tokens file.
        return f"oauth:{subject}" if 0 < len(subject) <= _MAX_SUBJECT_CHARS else None

    def _subject(self, token: str, key: jwt.PyJWK) -> str:
        import jwt

        try:
            # A key or a token without an id may belong to any other.
            if len({jwt.get_unverified_header(token).get("kid"), key.key_id} - {None}) > 1:
                return ""
            claims = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                issuer=[self._url, self._url + "/"],
                audience=[self._resource + path + end for path in ("", *_ENDPOINTS) for end in ("", "/")],
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError):
            return ""
        return str(claims["sub"])

    def routes(self, endpoints: Iterable[str]) -> list[Route]:
        """Return the metadata routes of the endpoints (RFC 9728, 3.1), with and without prefix, and one at the root."""
        prefixes = dict.fromkeys(("", urlsplit(self._resource).path))
        return [
            _document(RESOURCE_METADATA_PATH + prefix + path, self.metadata(path or _ENDPOINTS[0]))
            for prefix in prefixes
            for path in ("", *endpoints)
        ]

    def metadata(self, path: str) -> dict[str, Any]:
        """Return the metadata of the endpoint at `path` (RFC 9728)."""
        return {
            "resource": self._resource + path,
            "authorization_servers": [self._url],
            "bearer_methods_supported": ["header"],
            "resource_name": "search-mcp",
        }

    def challenge(self, path: str) -> str:
        """Return the parameter of the WWW-Authenticate header with the URL of the metadata."""
        # The path comes from the caller; decoded, it could end the header and begin another.
        endpoint = path if path in _ENDPOINTS else _ENDPOINTS[0]
        return f'resource_metadata="{self._resource}{RESOURCE_METADATA_PATH}{endpoint}"'


def _document(path: str, content: dict[str, Any]) -> Route:
    async def answer(_request: Request) -> Response:
        return JSONResponse(content, headers={"Cache-Control": "max-age=3600"})

    return Route(path, answer)


def _modified_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def make_resource_server(settings: Settings) -> OAuthResourceServer | None:
    """Return the issuer of the settings or None; raise ServerStartError if its settings are incomplete."""
    if settings.issuer is None:
        return None
    if settings.issuer_keys is None or settings.public_url is None:
        raise ServerStartError(
            "SEARCH_MCP_ISSUER needs SEARCH_MCP_ISSUER_KEYS (a file with its public keys) "
            "and SEARCH_MCP_PUBLIC_URL (the audience of its tokens)."
        )
    return OAuthResourceServer(settings.issuer, base_url(settings.public_url), settings.issuer_keys)
