"""Challenges that solve themselves in a browser: ALTCHA's widget with our own server, and one like Anubis.

The server follows ALTCHA's library (npm altcha-lib 2.8): a key is derived by PBKDF2 from a nonce and a
counter, and the widget searches for the counter whose key has the prefix of the challenge.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from pathlib import Path
from typing import Any

ALTCHA_SCRIPT = Path(__file__).with_name("vendor") / "altcha" / "altcha.min.js"
"""The widget, version 3.2.2, under the MIT license in its folder."""

_COST = 1_000
_COUNTERS = (20, 60)
"""Position of the counter: some tens of derivations, a fraction of a second in a browser."""
_PREFIX_BYTES = 16
_DIFFICULTY = 3
"""Leading hexadecimal zeros of a valid hash. Anubis requires four, which takes a second."""


def altcha_challenge(secret: bytes) -> dict[str, Any]:
    """Return a new signed challenge."""
    nonce, salt = secrets.token_bytes(16), secrets.token_bytes(16)
    counter = _COUNTERS[0] + secrets.randbelow(_COUNTERS[1] - _COUNTERS[0])
    parameters = {
        "algorithm": "PBKDF2/SHA-256",
        "cost": _COST,
        "keyLength": 32,
        "keyPrefix": _derived(nonce, salt, counter)[:_PREFIX_BYTES].hex(),
        "nonce": nonce.hex(),
        "salt": salt.hex(),
    }
    return {"parameters": parameters, "signature": _signature(parameters, secret)}


def altcha_solved(payload: str, secret: bytes) -> bool:
    """Return True if the widget's payload solves a challenge of this server."""
    try:
        data = json.loads(base64.b64decode(payload))
        parameters, solution = data["challenge"]["parameters"], data["solution"]
        signed = hmac.compare_digest(data["challenge"]["signature"], _signature(parameters, secret))
        key = _derived(bytes.fromhex(parameters["nonce"]), bytes.fromhex(parameters["salt"]), solution["counter"])
    except (binascii.Error, ValueError, KeyError, TypeError):
        return False
    return signed and key.hex() == solution["derivedKey"] and key.hex().startswith(parameters["keyPrefix"])


def altcha_page(action: str) -> str:
    """Serve the block page. Its form is submitted when the widget has found the counter."""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Captcha</title>"
        "<script src='/js/page_specific/altcha.js' type='module'></script></head><body>"
        "<div class='captcha-wrap'><h1>Captcha</h1><noscript>JavaScript is required to complete this "
        f"challenge</noscript><form method='post' action='{action}'>"
        "<altcha-widget name='altcha' auto='onload' "
        "challenge='/captcha/challenge'></altcha-widget></form></div><script>"
        "document.querySelector('altcha-widget').addEventListener('verified', () => setTimeout(() => "
        "document.querySelector('form').submit(), 0));</script></body></html>"
    )


def anubis_page(redirect: str) -> str:
    """Serve a block page like Anubis: a script searches a nonce and requests the page again with it."""
    challenge = {"challenge": secrets.token_hex(16), "redirect": redirect}
    rules = {"algorithm": "fast", "difficulty": _DIFFICULTY}
    data = json.dumps({"rules": rules, **challenge}).replace("<", "\\u003c")
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Verifying your request...</title>"
        "<script src='/.within.website/x/cmd/anubis/static/js/main.mjs' type='module'></script></head><body>"
        "<h1 id='title'>Verifying your request...</h1><p id='status'>Loading...</p>"
        f"<script id='anubis_challenge' type='application/json'>{data}</script></body></html>"
    )


def anubis_script() -> str:
    """Return the solution."""
    return """
const {rules, challenge, redirect} = JSON.parse(document.getElementById('anubis_challenge').textContent);
const hex = buffer => Array.from(new Uint8Array(buffer), b => b.toString(16).padStart(2, '0')).join('');
for (let nonce = 0; ; nonce++) {
  const hash = hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(challenge + nonce)));
  if (hash.startsWith('0'.repeat(rules.difficulty))) {
    const words = new URLSearchParams({challenge, nonce, response: hash, redir: redirect});
    location.replace('/.within.website/x/cmd/anubis/api/pass-challenge?' + words);
    break;
  }
}
"""


def anubis_solved(challenge: str, nonce: str) -> bool:
    """Return True if the nonce is valid."""
    return hashlib.sha256(f"{challenge}{nonce}".encode()).hexdigest().startswith("0" * _DIFFICULTY)


def _derived(nonce: bytes, salt: bytes, counter: int) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", nonce + counter.to_bytes(4, "big"), salt, _COST, 32)


def _signature(parameters: dict[str, Any], secret: bytes) -> str:
    plain = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    return hmac.new(secret, plain.encode(), "sha256").hexdigest()
