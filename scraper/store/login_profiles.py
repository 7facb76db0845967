"""Encrypted login profiles of callers, in the record logs: every server that shares the store has them.

AES-256-GCM, with caller, name, hosts and time as associated data: a row that is moved to another caller, name or list
of hosts cannot be decrypted.
"""

import base64
import binascii
import contextlib
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from browsers.login_state import LoginState
from scraper.store.record_logs import RecordExistsError, RecordLogs

KEY_FILE = "profile.key"
_KEY_BYTES = 32
MAX_HOSTS = 20
PROFILE_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PREFIX = "login/"
_NONCE_BYTES = 12


class ProfileKeyError(Exception):
    """The key of profiles cannot be read. The message says why and contains no part of it."""


class ProfileNotReadableError(Exception):
    """A profile cannot be decrypted: another key, or its row was changed or moved."""


@dataclass(frozen=True, slots=True)
class ProfileInfo:
    """A stored profile without its content."""

    name: str
    hosts: tuple[str, ...]
    saved_at: float
    """Seconds of the epoch."""


@dataclass(frozen=True, slots=True)
class LoginProfile:
    """A profile that a call uses."""

    info: ProfileInfo
    state: LoginState


def _load_key(folder: Path, text: str | None) -> bytes:
    """Return the key in the setting, or that of the data folder. A missing key file is created, readable by its owner.

    Raises:
        ProfileKeyError: The key has a wrong form, or its file cannot be read or written.
    """
    if text is not None:
        return _decode_key(text, "SEARCH_MCP_PROFILE_KEY")
    file = folder / KEY_FILE
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as new:
                new.write(base64.b64encode(os.urandom(_KEY_BYTES)))
        return _decode_key(file.read_text("ascii"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileKeyError(f"{file} cannot be used: {getattr(error, 'strerror', None) or 'no text'}.") from None


def _decode_key(text: str, source: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _KEY_BYTES:
        raise ProfileKeyError(
            f"{source} is not a key: write {_KEY_BYTES} random bytes as base64 (openssl rand -base64 32)."
        )
    return key


class LoginProfiles:
    """The profiles of all callers. Methods raise DatabaseUnavailableError if the store is unavailable."""

    def __init__(self, records: RecordLogs, folder: Path, key_text: str | None) -> None:
        """Keep profiles in `records`; the key is read at first use."""
        self._records = records
        self._folder = folder
        self._key_text = key_text
        self._cipher: AESGCM | None = None

    async def save(self, principal: str, name: str, hosts: tuple[str, ...], state: LoginState) -> ProfileInfo:
        """Store a profile in place of one with the same name; raise ProfileKeyError if the key cannot be read."""
        info = ProfileInfo(name, hosts, round(time.time(), 3))
        nonce = os.urandom(_NONCE_BYTES)
        box = self._get_cipher().encrypt(nonce, state.dump().encode(), _associate(principal, info))
        texts = {name: base64.b64encode(part).decode() for name, part in (("nonce", nonce), ("box", box))}
        data = json.dumps({"hosts": hosts, "saved_at": info.saved_at, **texts}).encode()
        log = _PREFIX + name
        while True:
            records = await self._records.read(principal, log)
            number = records[-1].number + 1 if records else 1
            with contextlib.suppress(RecordExistsError):
                await self._records.append(principal, log, number, data)
                await self._records.delete(principal, log, below=number)
                return info

    async def load(self, principal: str, name: str) -> LoginProfile | None:
        """Return a profile of this caller, or None.

        Raises:
            ProfileKeyError: The key cannot be read.
            ProfileNotReadableError: It cannot be decrypted.
        """
        found = await self._read(principal, name)
        if found is None:
            return None
        info, nonce, box = found
        try:
            text = self._get_cipher().decrypt(nonce, box, _associate(principal, info)).decode()
        except InvalidTag:
            raise ProfileNotReadableError from None
        return LoginProfile(info, LoginState.parse(text, info.hosts))

    async def list_all(self, principal: str) -> list[ProfileInfo]:
        """Return the profiles of a caller by name."""
        logs = await self._records.list_logs(principal, _PREFIX)
        found = [await self._read(principal, log.removeprefix(_PREFIX)) for log in logs]
        return [entry[0] for entry in found if entry is not None]

    async def remove(self, principal: str, name: str) -> bool:
        """Delete a profile; return False if there is none."""
        if not await self._records.read(principal, _PREFIX + name):
            return False
        await self._records.delete(principal, _PREFIX + name)
        return True

    async def _read(self, principal: str, name: str) -> tuple[ProfileInfo, bytes, bytes] | None:
        records = await self._records.read(principal, _PREFIX + name)
        if not records:
            return None
        raw = json.loads(records[-1].data)
        info = ProfileInfo(name, tuple(raw["hosts"]), raw["saved_at"])
        return info, base64.b64decode(raw["nonce"]), base64.b64decode(raw["box"])

    def _get_cipher(self) -> AESGCM:
        if self._cipher is None:
            self._cipher = AESGCM(_load_key(self._folder, self._key_text))
        return self._cipher


def _associate(principal: str, info: ProfileInfo) -> bytes:
    return json.dumps([principal, info.name, info.hosts, info.saved_at]).encode()
