"""Mutate protocol messages as broken or hostile clients might."""

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

_UNUSUAL_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**400, -(2**63) - 1, float("1e308")),
    *("", " ", "\0", "\x1b[2J", "é" * 300, "\ud800", "\u202e", "x" * 20_000),
    *("../../etc/passwd", "file:///etc/passwd", "http://127.0.0.1/", "http://[::1", "{{7*7}}"),
    *("<script>", "' OR 1=1 --", "%00%0d%0a", [], [[]], {}, {"": {}}, [None] * 50, {"$ref": "#"}),
    *("NaN", "1e999", "tools/call", "initialize", "__proto__", "constructor", {"__class__": 1}),
)


def mutate(rng: random.Random) -> bytes:
    """Return one line: a seed message with one or several mutations."""
    message = copy.deepcopy(dict(rng.choice(SEEDS)))
    if "id" in message:
        # Ids are unique: a repeated id is rejected and tests nothing.
        number = 1_000 + rng.getrandbits(40)
        message["id"] = rng.choice((number, f"of-{number}"))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        rng.choice(_TREE_MUTATIONS)(message, rng)
    line = json.dumps(message, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        line = rng.choice(_BYTE_MUTATIONS)(line, rng)
    return line.replace(b"\n", b" ").replace(b"\r", b" ")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) in a tree."""
    found: list[tuple[Any, Any]] = []
    keys: Sequence[Any] = (
        list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        found.append((value, key))
        found.extend(_places(value[key]))
    return found


def _replace(message: dict[str, Any], rng: random.Random) -> None:
    if places := _places(message):
        container, key = rng.choice(places)
        container[key] = copy.deepcopy(rng.choice(_UNUSUAL_VALUES))


def _drop(message: dict[str, Any], rng: random.Random) -> None:
    places = [(container, key) for container, key in _places(message) if isinstance(container, dict)]
    if places:
        container, key = rng.choice(places)
        del container[key]


def _add(message: dict[str, Any], rng: random.Random) -> None:
    containers = [message, *(place[0][place[1]] for place in _places(message))]
    target = rng.choice([one for one in containers if isinstance(one, dict)])
    target[rng.choice(("extra", "", "_meta", "cursor", "progressToken", "id", "params"))] = copy.deepcopy(
        rng.choice(_UNUSUAL_VALUES)
    )


def _rename(message: dict[str, Any], rng: random.Random) -> None:
    places = [(container, key) for container, key in _places(message) if isinstance(container, dict)]
    if places:
        container, key = rng.choice(places)
        container[str(key) + rng.choice(("s", "_", "\0", "é"))] = container.pop(key)


def _nest(message: dict[str, Any], rng: random.Random) -> None:
    deep: Any = 1
    for _ in range(rng.choice((5, 60, 300))):
        deep = rng.choice(([deep], {"a": deep}))
    message.setdefault("params", {})
    if isinstance(message["params"], dict):
        message["params"]["arguments"] = deep


_TREE_MUTATIONS: tuple[Callable[[dict[str, Any], random.Random], None], ...] = (
    *(_replace, _replace, _replace, _drop, _add, _rename, _nest),
)


def _flip(line: bytes, rng: random.Random) -> bytes:
    changed = bytearray(line)
    for _ in range(rng.choice((1, 3, 20))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(line: bytes, rng: random.Random) -> bytes:
    return line[: rng.randrange(len(line))] or b"{"


def _double(line: bytes, rng: random.Random) -> bytes:
    return line + line


def _batch(line: bytes, rng: random.Random) -> bytes:
    return b"[" + b",".join([line] * rng.choice((0, 1, 3))) + b"]"


def _brackets(line: bytes, rng: random.Random) -> bytes:
    return rng.choice((b"[", b'{"a":')) * rng.choice((50, 5_000, 100_000))


_BYTE_MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (_flip, _flip, _cut, _double, _batch, _brackets)
