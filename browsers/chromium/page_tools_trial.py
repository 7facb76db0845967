"""Turn WebMCP on for single documents by an origin trial of our own, so that no other page of the browser has a trace.

The browser trusts our key beside Chromium's, and a document gets a token that this key signed for its origin.
Token format: https://github.com/GoogleChrome/OriginTrials, version 3.
"""

import base64
import functools
import json
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_CHROMIUM_KEY = "fMS4mpO6buLQ/QMd+zJmxzty/VQ6B1EUZqoCU04zoRU="
"""Public key of Chromium's own trials (chrome_origin_trial_policy.cc), which pages with their own tokens need."""
_VERSION = b"\x03"
_DAY_S = 86_400


@functools.cache
def _key() -> "Ed25519PrivateKey":
    # Imported late: it takes 35 ms, and a server may use no browser.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate()


def trial_switch() -> str:
    """Return the switch of Chromium that makes it trust tokens of this process."""
    return (
        f"--origin-trial-public-key={_CHROMIUM_KEY},{base64.b64encode(_key().public_key().public_bytes_raw()).decode()}"
    )


def token_for(origin: str) -> str:
    """Return the token that enables WebMCP in documents of an origin, written with its port, for one to two days."""
    return _sign(origin, int(time.time()) // _DAY_S)


@functools.lru_cache(256)
def _sign(origin: str, day: int) -> str:
    payload = json.dumps({"origin": origin, "feature": "WebMCP", "expiry": (day + 2) * _DAY_S}).encode()
    signed = struct.pack(">I", len(payload)) + payload
    return base64.b64encode(_VERSION + _key().sign(_VERSION + signed) + signed).decode()
