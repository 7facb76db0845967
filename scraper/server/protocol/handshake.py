"""Answer the handshake of a client over stdio before the SDK is imported, which takes a second of CPU.

`answer_first_message` reads the first message. The server later receives it again, and drops its second answer.
"""

import contextlib
import fnmatch
import json
import os
import select
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scraper.settings import Settings, SettingsError
from scraper.settings.files import find_config_file, version
from scraper.values.text import read_file

INSTRUCTIONS = read_file(__package__, "instructions.txt")
"""Fewer than 1,200 characters, because some clients cut at 2,048."""
OPENAI_INSTRUCTIONS = read_file(__package__, "openai_instructions.txt")

_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol versions with a handshake, which the SDK supports; the last one answers an unknown version."""
_MAX_BYTES = 65_536
_MAX_PARTS = 100
"""Objects and lists of a message. The SDK refuses those that are nested deeply, which also took too long here."""
_WAIT_S = 0.3
"""Seconds for the first line. A client that waits longer gets the answer of the SDK."""
_MEMBERS = {"jsonrpc", "id", "method", "params"}
_PARAMETERS = {"protocolVersion", "capabilities", "clientInfo"}
_FREE_FORM = frozenset({"experimental", "extensions"})


@dataclass(frozen=True, slots=True)
class FirstMessage:
    """What was read from a client before the server started."""

    data: bytes = b""
    """The bytes read, usually one line."""
    answered_id: str | int | None = None
    """The id of the handshake if it was answered; None if the server must answer it."""


def answer_first_message(arguments: Sequence[str]) -> FirstMessage:
    """Read the first line of standard input if the command serves a client there; answer a plain `initialize`."""
    if list(arguments) not in ([], ["stdio"]) or os.isatty(0):
        return FirstMessage()
    try:
        settings = Settings.load(os.environ, {}, find_config_file())
    except SettingsError:
        return FirstMessage()
    if settings.tools or settings.traces:
        # Whether these can be used is known only later, and the client must see it instead of an answer.
        return FirstMessage()
    data = b""
    with contextlib.suppress(OSError):  # a closed descriptor
        while b"\n" not in data and len(data) < _MAX_BYTES and select.select([0], [], [], _WAIT_S)[0]:
            if not (chunk := os.read(0, _MAX_BYTES)):
                break
            data += chunk
    answer = answer_of(data, settings)
    if answer is None:
        return FirstMessage(data)
    with contextlib.suppress(OSError):  # the client has gone, which the server notices too
        line = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[os.write(1, line) :]
    return FirstMessage(data, answer["id"])


def answer_of(data: bytes, settings: Settings) -> dict[str, Any] | None:
    """Return the answer of the SDK's server to `initialize` in the first line; None if that needs more checks."""
    line, end, _ = data.partition(b"\n")
    try:
        message: Any = json.loads(line) if end and line.count(b"{") + line.count(b"[") <= _MAX_PARTS else None
    except ValueError:
        return None
    if not _is_initialize(message):
        return None
    params = message["params"]
    resources = {"resources": {"listChanged": False, "subscribe": False}} if settings.resources else {}
    capabilities = {"prompts": {"listChanged": False}, **resources, "tools": {"listChanged": False}}
    if not names_strict_client(params["clientInfo"], settings.strict_clients):
        capabilities = {area: {**known, "search": True} for area, known in capabilities.items()}
    asked = params["protocolVersion"]
    result = {
        "capabilities": capabilities,
        "instructions": INSTRUCTIONS,
        "protocolVersion": asked if asked in _VERSIONS else _VERSIONS[-1],
        "serverInfo": {"name": "search-mcp", "title": "Search MCP", "version": version()},
    }
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _is_initialize(message: Any) -> bool:
    """Return True for a request whose every part is certainly valid."""
    if not isinstance(message, dict) or set(message) != _MEMBERS or message["jsonrpc"] != "2.0":
        return False
    params = message["params"]
    if message["method"] != "initialize" or type(message["id"]) not in (int, str) or not isinstance(params, dict):
        return False
    # Half a surrogate pair cannot be encoded; it is not printable.
    is_text = json.dumps(message, ensure_ascii=False).isprintable()
    return is_text and set(params) == _PARAMETERS and _are_valid(**params)


def _are_valid(protocolVersion: object, capabilities: object, clientInfo: object) -> bool:  # noqa: N803 - their names
    return (
        isinstance(protocolVersion, str)
        and isinstance(clientInfo, dict)
        and {"name", "version"} <= set(clientInfo)
        and all(isinstance(value, str) for value in clientInfo.values())
        and _is_capability(capabilities)
    )


def names_strict_client(client: object, patterns: Sequence[str], *others: object) -> bool:
    """Return True if a pattern matches a name that a client gives itself, or one of the other names."""
    found = [client.get("name"), client.get("title")] if isinstance(client, Mapping) else []
    names = [name.lower() for name in (*found, *others) if isinstance(name, str)]
    return any(fnmatch.filter(names, pattern.lower()) for pattern in patterns)


def _is_capability(value: object, name: str = "", parent: str = "") -> bool:
    """Return True for objects that contain only objects and `listChanged`, below `experimental` anything."""
    if name == "listChanged":
        return type(value) is bool
    is_open = parent in _FREE_FORM
    return isinstance(value, dict) and (is_open or all(_is_capability(one, key, name) for key, one in value.items()))
