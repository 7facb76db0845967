"""Sign and order the headers of requests, and publish the keys.

Source: draft-ietf-webbotauth-httpsig-protocol-01, RFC 9421.
"""

import base64
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
_REQUEST_TAG, _DIRECTORY_TAG = "web-bot-auth", "http-message-signatures-directory"
_LABEL = "sig1"
_REQUEST_S, DIRECTORY_S = 60, 3_600
"""Seconds for which signatures of a request and of the directory are valid."""
KEY_BYTES = 32
_PORTS = {"https": 443, "http": 80}

_HEADER_ORDER = (
    "cache-control sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform origin content-type upgrade-insecure-requests "
    "user-agent accept-language accept"
).split()
"""Order in which Chrome passes on the headers of a document (156); others follow. Changed requests must keep it."""


def order_headers(headers: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the headers of a document for a command, in the order in which Chrome sends them."""
    ordered = sorted(headers.items(), key=lambda one: [*_HEADER_ORDER, one[0].lower()].index(one[0].lower()))
    return [{"name": name, "value": value} for name, value in ordered]


@dataclass(frozen=True)
class SigningKey:
    """One Ed25519 key."""

    seed: bytes = field(repr=False)
    """Private key, `KEY_BYTES` long."""

    @cached_property
    def _private(self) -> "Ed25519PrivateKey":
        # Imported late: it takes 35 ms, and few servers sign.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.seed)

    @cached_property
    def _public(self) -> dict[str, str]:
        return {"crv": "Ed25519", "kty": "OKP", "x": _encode_url(self._private.public_key().public_bytes_raw())}

    @cached_property
    def key_id(self) -> str:
        """Thumbprint of the public key (RFC 7638; RFC 8037, appendix A.3)."""
        return _encode_url(hashlib.sha256(json.dumps(self._public, separators=(",", ":")).encode()).digest())

    @property
    def jwk(self) -> dict[str, str]:
        """The public key as a JSON Web Key."""
        return {**self._public, "kid": self.key_id, "use": "sig"}

    def sign(self, lines: Sequence[str], params: str) -> str:
        """Return the signature of the lines of a signature base and its parameters, as a structured field."""
        text = "\n".join([*lines, f'"@signature-params": {params}'])
        return f":{base64.b64encode(self._private.sign(text.encode())).decode()}:"


@dataclass(frozen=True)
class RequestSigner:
    """Identity of the requests of an operator."""

    agent: str
    """URL of the site that publishes the keys, without a path."""
    keys: tuple[SigningKey, ...]
    """The first signs; all are published, so that a new key can be known before it signs."""
    is_dictionary: bool = True
    """False to send `Signature-Agent` as a plain string, as verifiers of older drafts expect it."""

    def headers(
        self, url: str, method: str, *, covers: Sequence[str] = ("@method", "@path"), now: int | None = None
    ) -> dict[str, str]:
        """Return the headers that sign a request; `covers` names components besides the host and the agent."""
        parts, now = urlsplit(url), int(time.time()) if now is None else now
        values = {
            "@authority": _authority(url),
            "@method": method.upper(),
            "@path": parts.path or "/",
            "@target-uri": url.partition("#")[0],
        }
        agent, name = f'"{self.agent}"', f'"signature-agent";key="{_LABEL}"'
        name = name if self.is_dictionary else '"signature-agent"'
        names = [*(f'"{one}"' for one in ("@authority", *covers)), name]
        params = (
            f'({" ".join(names)});created={now};expires={now + _REQUEST_S};keyid="{self.keys[0].key_id}"'
            f';alg="ed25519";tag="{_REQUEST_TAG}"'
        )
        lines = [*(f'"{one}": {values[one]}' for one in ("@authority", *covers)), f"{name}: {agent}"]
        return {
            "Signature-Agent": f"{_LABEL}={agent}" if self.is_dictionary else agent,
            "Signature-Input": f"{_LABEL}={params}",
            "Signature": f"{_LABEL}={self.keys[0].sign(lines, params)}",
        }

    def directory(self, host: str, *, now: int | None = None) -> tuple[bytes, dict[str, str]]:
        """Return the body and headers of the key directory on a host, with a proof of possession for each key."""
        now = int(time.time()) if now is None else now
        body = json.dumps({"keys": [key.jwk for key in self.keys]}, separators=(",", ":")).encode()
        digest = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
        lines = [f'"@authority";req: {host}', f'"content-digest": {digest}']
        inputs, signatures = [], []
        for number, key in enumerate(self.keys, 1):
            params = (
                f'("@authority";req "content-digest");created={now};expires={now + DIRECTORY_S}'
                f';keyid="{key.key_id}";tag="{_DIRECTORY_TAG}"'
            )
            inputs.append(f"binding{number}={params}")
            signatures.append(f"binding{number}={key.sign(lines, params)}")
        return body, {
            "Content-Type": DIRECTORY_TYPE,
            "Cache-Control": f"max-age={DIRECTORY_S}",
            "Content-Digest": digest,
            "Signature-Input": ", ".join(inputs),
            "Signature": ", ".join(signatures),
        }


def _authority(url: str) -> str:
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    return host if parts.port in (None, _PORTS.get(parts.scheme)) else f"{host}:{parts.port}"


def _encode_url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
