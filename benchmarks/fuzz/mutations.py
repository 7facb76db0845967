"""Messages of the protocol, bent in every way that a broken or hostile client might bend them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
}
_CLIENT = {"name": "fuzz", "version": "1"}


def _request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


SEEDS: tuple[Mapping[str, Any], ...] = (
    _request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=_CLIENT),
    _request("ping"),
    _request("tools/list"),
    _request("tools/list", _meta=_META),
    _request("server/discover", _meta=_META),
    _request("tools/call", name="engines", arguments={}),
    _request("tools/call", name="engines", arguments={}, _meta=_META),
    _request("tools/call", name="find_tools", arguments={"query": "read a page", "limit": 3}),
    _request("tools/call", name="cache_search", arguments={"query": "lemons", "limit": 3}),
    _request("tools/call", name="fetch", arguments={"url": "ftp://x.example/", "render": "http", "start": 0}),
    _request("tools/call", name="search_index", arguments={"index_name": "n", "query": "+a -b", "k": 5}),
    _request("tools/call", name="search_add_document", arguments={"doc_id": "1", "content": "x"}),
    _request("tools/search", query="read"),
    _request("tools/search", query="read", _meta=_META),
    _request("resources/list"),
    _request("resources/templates/list"),
    _request("resources/read", uri="page://http://site.example/"),
    _request("resources/search", query="lemons", cursor="WyJhIiwxMF0="),
    _request("prompts/list"),
    _request("prompts/get", name="research_question", arguments={"question": "why"}),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99, "reason": "x"}},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "x"}},
)

_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**400, -(2**63) - 1, float("1e308")),
    *("", " ", "\0", "\x1b[2J", "é" * 300, "\ud800", "\u202e", "x" * 20_000),
    *("../../etc/passwd", "file:///etc/passwd", "http://127.0.0.1/", "http://[::1", "{{7*7}}"),
    *("<script>", "' OR 1=1 --", "%00%0d%0a", [], [[]], {}, {"": {}}, [None] * 50, {"$ref": "#"}),
    *("NaN", "1e999", "tools/call", "initialize", "__proto__", "constructor", {"__class__": 1}),
)


def mutated(chance: random.Random) -> bytes:
    """One message: a seed, bent once or a few times, as the bytes of one line."""
    message = copy.deepcopy(dict(chance.choice(SEEDS)))
    if "id" in message:
        # Each its own: an id that is in use already may not be used again, and tells nothing.
        number = 1_000 + chance.getrandbits(40)
        message["id"] = chance.choice((number, f"of-{number}"))
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        chance.choice(_TREE)(message, chance)
    line = json.dumps(message, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    if chance.random() < 0.3:
        line = chance.choice(_BYTES)(line, chance)
    return line.replace(b"\n", b" ").replace(b"\r", b" ")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a tree."""
    found: list[tuple[Any, Any]] = []
    keys: Sequence[Any] = (
        list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        found.append((value, key))
        found.extend(_places(value[key]))
    return found


def _replace(message: dict[str, Any], chance: random.Random) -> None:
    if places := _places(message):
        container, key = chance.choice(places)
        container[key] = copy.deepcopy(chance.choice(_ODD))


def _drop(message: dict[str, Any], chance: random.Random) -> None:
    places = [(container, key) for container, key in _places(message) if isinstance(container, dict)]
    if places:
        container, key = chance.choice(places)
        del container[key]


def _add(message: dict[str, Any], chance: random.Random) -> None:
    containers = [message, *(place[0][place[1]] for place in _places(message))]
    target = chance.choice([one for one in containers if isinstance(one, dict)])
    target[chance.choice(("extra", "", "_meta", "cursor", "progressToken", "id", "params"))] = copy.deepcopy(
        chance.choice(_ODD)
    )


def _rename(message: dict[str, Any], chance: random.Random) -> None:
    places = [(container, key) for container, key in _places(message) if isinstance(container, dict)]
    if places:
        container, key = chance.choice(places)
        container[str(key) + chance.choice(("s", "_", "\0", "é"))] = container.pop(key)


def _nest(message: dict[str, Any], chance: random.Random) -> None:
    deep: Any = 1
    for _ in range(chance.choice((5, 60, 300))):
        deep = chance.choice(([deep], {"a": deep}))
    message.setdefault("params", {})
    if isinstance(message["params"], dict):
        message["params"]["arguments"] = deep


_TREE: tuple[Callable[[dict[str, Any], random.Random], None], ...] = (
    *(_replace, _replace, _replace, _drop, _add, _rename, _nest),
)


def _flip(line: bytes, chance: random.Random) -> bytes:
    changed = bytearray(line)
    for _ in range(chance.choice((1, 3, 20))):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(line: bytes, chance: random.Random) -> bytes:
    return line[: chance.randrange(len(line))] or b"{"


def _double(line: bytes, chance: random.Random) -> bytes:
    return line + line


def _batch(line: bytes, chance: random.Random) -> bytes:
    return b"[" + b",".join([line] * chance.choice((0, 1, 3))) + b"]"


def _brackets(line: bytes, chance: random.Random) -> bytes:
    return chance.choice((b"[", b'{"a":')) * chance.choice((50, 5_000, 100_000))


_BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (_flip, _flip, _cut, _double, _batch, _brackets)
