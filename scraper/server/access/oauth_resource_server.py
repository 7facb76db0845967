"""Verify tokens of an OAuth issuer with its public keys, and serve the metadata that names it (RFC 9728).

The keys come from a file, so that the server needs no network to identify callers. It reads the file again when it
changes, so that a timer of the operator can renew it.
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

from scraper.server.access.header_rules import RESOURCE_METADATA_PATH
from scraper.server.errors import ServerStartError
from scraper.settings import Settings
from scraper.settings.files import UnreadableFileError, read_text_file

_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Algorithms with public keys. With symmetric keys, everyone who can verify a token could also issue one."""
_ENDPOINTS = ("/mcp", "/openai/mcp")
_LEEWAY_S = 30
"""Seconds that the clocks of issuer and server may differ."""
_MAX_TOKEN_CHARS = 8_192
_MAX_SUBJECT_CHARS = 255
"""Characters. Maximum length of a subject in OpenID Connect."""


class OAuthResourceServer:
    """An OAuth issuer, and the audience that its tokens must have."""

    def __init__(self, url: str, resource: str, keys: Path) -> None:
        """Read the keys from a JSON Web Key Set, or raise ServerStartError.

        `resource` is the public URL of this server, the audience of the tokens.
        """
        self._url = url
        self._resource = resource
        self._file = keys
        self._keys = _Keys.read(keys)

    def principal(self, token: str) -> str | None:
        """Return `oauth:` and the subject of a valid token, or None."""
        if token.count(".") != 2 or len(token) > _MAX_TOKEN_CHARS:
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
        # The prefix separates subjects from the names in the tokens file.
        return f"oauth:{subject}" if 0 < len(subject) <= _MAX_SUBJECT_CHARS else None

    def routes(self, endpoints: Iterable[str]) -> list[Route]:
        """Return the metadata routes of the endpoints, and one at the root for clients that know only one."""
        return [
            _document(RESOURCE_METADATA_PATH + path, self.metadata(path or _ENDPOINTS[0])) for path in ("", *endpoints)
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

    def _audiences(self) -> list[str]:
        return [self._resource + path for path in ("", "/", *_ENDPOINTS)]

    def _key(self, token: str) -> jwt.PyJWK:
        self._keys = self._keys.reload_if_changed(self._file)
        key_id = jwt.get_unverified_header(token).get("kid")
        matching = [key for key in self._keys.keys if key_id is None or key.key_id == key_id]
        if len(matching) != 1:
            raise jwt.InvalidKeyError("no such key")
        return matching[0]


def _document(path: str, content: dict[str, Any]) -> Route:
    async def answer(_request: Request) -> Response:
        return JSONResponse(content, headers={"Cache-Control": "max-age=3600"})

    return Route(path, answer)


@dataclass(frozen=True, slots=True)
class _Keys:
    keys: tuple[jwt.PyJWK, ...]
    changed: float
    """Modification time of the file."""

    @classmethod
    def read(cls, file: Path) -> _Keys:
        try:
            # Read first, so that a change during the read is noticed the next time.
            changed = _modified_at(file)
            key_set = jwt.PyJWKSet.from_dict(json.loads(read_text_file(file)))
        except UnreadableFileError as error:
            raise ServerStartError(f"SEARCH_MCP_ISSUER_KEYS={file} cannot be read: {error}") from None
        except (ValueError, AttributeError, jwt.PyJWTError) as error:
            raise ServerStartError(f"SEARCH_MCP_ISSUER_KEYS={file} is not a JSON Web Key Set: {error}") from None
        return cls(tuple(key for key in key_set.keys if key.algorithm_name in _ALGORITHMS), changed)

    def reload_if_changed(self, file: Path) -> _Keys:
        """Return the current keys; the old ones if the file is missing or incomplete."""
        try:
            return self if _modified_at(file) == self.changed else _Keys.read(file)
        except ServerStartError:
            return self


def _modified_at(file: Path) -> float:
    """Return the modification time of a file, or 0 if it cannot be read."""
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
    return OAuthResourceServer(settings.issuer, settings.public_url, settings.issuer_keys)
