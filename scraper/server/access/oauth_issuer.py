"""Tokens of an OAuth issuer, checked with its public keys, and the document that tells clients who it is.

The keys come from a file: this server asks nobody on the network who its callers are. The file is read again
when it changes, so that an operator's timer can renew it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scraper.server.access.rules import WELL_KNOWN, ServerStartError
from scraper.settings import Settings
from scraper.settings.files import UnreadableFileError, read_text_file

_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Public keys alone: with the others, who can check a token can make one."""
_ENDPOINTS = ("/mcp", "/openai/mcp")
_LEEWAY_S = 30
_LONGEST_TOKEN = 8_192
_LONGEST_SUBJECT = 255
"""OpenID Connect allows no more."""


class OAuthIssuer:
    """One issuer, and the address that its tokens must be made out to."""

    def __init__(self, url: str, resource: str, keys: Path) -> None:
        """
        Raises:
            CannotStart: the file holds no keys.
        """
        self._url = url
        self._resource = resource
        self._file = keys
        self._keys = _Keys.read(keys)

    def principal(self, token: str) -> str | None:
        """The subject of a valid token; None for any other text."""
        if token.count(".") != 2 or len(token) > _LONGEST_TOKEN:
            return None
        try:
            claims = jwt.decode(
                token,
                self._key(token),
                algorithms=list(_ALGORITHMS),
                issuer=[self._url, self._url + "/"],
                audience=self._audiences(),
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError):
            return None
        subject: str = claims["sub"]
        # Set apart from the names in our own file of tokens.
        return f"oauth:{subject}" if 0 < len(subject) <= _LONGEST_SUBJECT else None

    def routes(self, endpoints: Iterable[str]) -> list[Route]:
        """The documents of these endpoints; clients that know one alone ask at the root."""
        return [
            _document(WELL_KNOWN + path, self.metadata(path or _ENDPOINTS[0])) for path in ("", *endpoints)
        ]

    def metadata(self, path: str) -> dict[str, Any]:
        """What RFC 9728 wants to be told of the endpoint at `path`."""
        return {
            "resource": self._resource + path,
            "authorization_servers": [self._url],
            "bearer_methods_supported": ["header"],
            "resource_name": "search-mcp",
        }

    def challenge(self, path: str) -> str:
        """What a refusal says beyond the name of the scheme."""
        # A path is the caller's word: decoded, it could end the header and begin another.
        endpoint = path if path in _ENDPOINTS else _ENDPOINTS[0]
        return f'resource_metadata="{self._resource}{WELL_KNOWN}{endpoint}"'

    def _audiences(self) -> list[str]:
        return [self._resource + path for path in ("", "/", *_ENDPOINTS)]

    def _key(self, token: str) -> jwt.PyJWK:
        self._keys = self._keys.renewed(self._file)
        wanted = jwt.get_unverified_header(token).get("kid")
        fitting = [key for key in self._keys.keys if wanted is None or key.key_id == wanted]
        if len(fitting) != 1:
            raise jwt.InvalidKeyError("no such key")
        return fitting[0]


def _document(path: str, content: dict[str, Any]) -> Route:
    async def answer(_request: Request) -> Response:
        return JSONResponse(content, headers={"Cache-Control": "max-age=3600"})

    return Route(path, answer)


@dataclass(frozen=True, slots=True)
class _Keys:
    keys: tuple[jwt.PyJWK, ...]
    changed: float
    """When their file was written."""

    @classmethod
    def read(cls, file: Path) -> _Keys:
        try:
            # Asked first: what is written meanwhile is noticed the next time.
            changed = _written_at(file)
            held = jwt.PyJWKSet.from_dict(json.loads(read_text_file(file)))
        except UnreadableFileError as error:
            raise ServerStartError(f"SEARCH_MCP_ISSUER_KEYS={file} cannot be read: {error}") from None
        except (ValueError, AttributeError, jwt.PyJWTError) as error:
            raise ServerStartError(f"SEARCH_MCP_ISSUER_KEYS={file} is no JSON Web Key Set: {error}") from None
        return cls(tuple(key for key in held.keys if key.algorithm_name in _ALGORITHMS), changed)

    def renewed(self, file: Path) -> _Keys:
        """Those of now; the old ones where the file is gone, or half written."""
        try:
            return self if _written_at(file) == self.changed else _Keys.read(file)
        except ServerStartError:
            return self


def _written_at(file: Path) -> float:
    """When it was changed last; 0 where that cannot be told."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def issuer_for(settings: Settings) -> OAuthIssuer | None:
    """The issuer that the settings name.

    Raises:
        CannotStart: they name one, and not all that it takes.
    """
    if settings.issuer is None:
        return None
    if settings.issuer_keys is None or settings.public_url is None:
        raise ServerStartError(
            "SEARCH_MCP_ISSUER needs SEARCH_MCP_ISSUER_KEYS (a file with its public keys) "
            "and SEARCH_MCP_PUBLIC_URL (what its tokens are made out to)."
        )
    return OAuthIssuer(settings.issuer, settings.public_url, settings.issuer_keys)
