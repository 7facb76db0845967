"""Keys that sign the requests of an operator who identifies himself: read, create, rotate and choose them."""

import base64
import contextlib
import os
import time
from pathlib import Path

from browsers.request_signing import DIRECTORY_S, KEY_BYTES, RequestSigner, SigningKey
from scraper.settings.files import SettingsError

KEY_FILE = "signing.key"
_KNOWN_AFTER_S = 2 * DIRECTORY_S
"""Age from which a new key signs: by then, caches of the directory know it."""
_REMOVED_AFTER_S = 7 * 86_400.0
TEST_SEED = bytes(range(KEY_BYTES))
"""Private key of public test vectors."""


def load_signer(agent: str | None, key: str | None, folder: Path, *, is_dictionary: bool) -> RequestSigner:
    """Return the signer with the keys of a setting, else of a file in a folder, which is created if it is missing.

    Raises:
        SettingsError: A setting is missing, or a key cannot be used.
    """
    if agent is None or not agent.startswith("https://"):
        raise SettingsError("SEARCH_MCP_SIGNATURE_AGENT must be the https URL of the site that publishes your keys.")
    if key:
        keys = tuple(SigningKey(_decode(text, "SEARCH_MCP_SIGNING_KEY")) for text in key.split(","))
    else:
        keys = _choose(_read_file(folder / KEY_FILE), time.time())
    return RequestSigner(agent, keys, is_dictionary=is_dictionary)


def rotate_key(folder: Path) -> None:
    """Add a key that is published at once, signs after `_KNOWN_AFTER_S`, and replaces the others later."""
    _read_file(file := folder / KEY_FILE)
    with file.open("a", encoding="ascii") as keys:
        keys.write(_new_line())


def _read_file(file: Path) -> list[tuple[float, SigningKey]]:
    """Return the keys of a file with their times, oldest first; create the file with one key if it is missing."""
    try:
        with contextlib.suppress(FileExistsError):
            file.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
                new.write(_new_line(created=0))
        rows = [line.split() for line in file.read_text("ascii").splitlines() if line.strip()]
        return sorted(((float(row[1]), SigningKey(_decode(row[0], str(file)))) for row in rows), key=lambda row: row[0])
    except (OSError, ValueError, IndexError) as error:
        raise SettingsError(f"{file} cannot be used: {error}") from None


def _new_line(created: float | None = None) -> str:
    time_s = time.time() if created is None else created
    return f"{base64.b64encode(os.urandom(KEY_BYTES)).decode()} {time_s:.0f}\n"


def _choose(rows: list[tuple[float, SigningKey]], now: float) -> tuple[SigningKey, ...]:
    """Return the key that signs, then the others to publish: newer ones, and older ones until they are removed."""
    if not rows:
        raise SettingsError(f"{KEY_FILE} has no key: remove the file to create one.")
    known = [at for at, (created, _) in enumerate(rows) if now - created >= _KNOWN_AFTER_S]
    signing = known[-1] if known else 0
    first = signing if now - rows[signing][0] >= _REMOVED_AFTER_S else 0
    return (rows[signing][1], *(key for at, (_, key) in enumerate(rows) if at >= first and at != signing))


def _decode(text: str, source: str) -> bytes:
    with contextlib.suppress(ValueError):
        if len(seed := base64.b64decode(text.strip(), validate=True)) == KEY_BYTES:
            return seed
    raise SettingsError(f"{source} is not a key: write {KEY_BYTES} random bytes as base64 (openssl rand -base64 32).")
