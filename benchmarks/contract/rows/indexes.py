"""Rows of the document on `search_index`, `search_add_document`, `search_create_index`."""

from __future__ import annotations

from typing import Any

from benchmarks.contract.rows.row import Check, Row, seen
from benchmarks.contract.rows.world import World

_SIX_WORDS = "Python rate limiting with token buckets"


async def _value(world: World, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the object that a tool answers; an error is an object too, and marked as one."""
    answer = await world.call(tool, **arguments)
    seen(answer.data == answer.result["structuredContent"], answer.text)
    seen(answer.is_error == ("error" in answer.data), answer.text)
    data: dict[str, Any] = answer.data
    return data


async def _filled(world: World) -> str:
    """Create an index of four documents; return its name."""
    name = world.new_words("i").replace(" ", "-")
    await _value(world, "search_create_index", index_name=name)
    for doc_id, content in (
        ("ml", "python for machine learning, and python for learning machines"),
        ("web", "python for the web"),
        ("java", "java for machine learning in the enterprise, with many other words besides"),
        ("cook", "recipes for soup"),
    ):
        await _value(
            world,
            "search_add_document",
            doc_id=doc_id,
            content=content,
            index_name=name,
            metadata={"author": "Smith", "year": 2026, "tags": ["a"]},
        )
    return name


async def _ids(world: World, name: str, query: str, **arguments: Any) -> list[str]:
    found = await _value(world, "search_index", query=query, index_name=name, **arguments)
    return [result["doc_id"] for result in found["results"]]


async def _default_index(world: World) -> str:
    await _value(world, "search_add_document", doc_id="note", content="quokka marsupial")
    found = await _value(world, "search_index", query="quokka")
    return seen(found["total_matches"] == 1, found["results"])


async def _apart(world: World) -> str:
    one, other = await _filled(world), await _filled(world)
    await _value(world, "search_add_document", doc_id="x", content="quagga", index_name=one)
    found = [await _ids(world, name, "quagga") for name in (one, other)]
    return seen(found == [["x"], []], found)


async def _ranked(world: World) -> str:
    found = await _value(world, "search_index", query="python", index_name=await _filled(world))
    scores = [result["score"] for result in found["results"]]
    good = scores == sorted(scores, reverse=True) and len(scores) == 2 and all(scores)
    return seen(good, scores)


async def _rare_counts_more(world: World) -> str:
    name = await _filled(world)
    found = await _value(world, "search_index", query="for soup", index_name=name)
    return seen(found["results"][0]["doc_id"] == "cook", [r["doc_id"] for r in found["results"]])


async def _must(world: World) -> str:
    ids = await _ids(world, await _filled(world), "+python learning")
    return seen(set(ids) == {"ml", "web"}, ids)


async def _must_not(world: World) -> str:
    ids = await _ids(world, await _filled(world), "learning -java")
    return seen(ids == ["ml"], ids)


async def _phrase(world: World) -> str:
    name = await _filled(world)
    ids = [await _ids(world, name, query) for query in ('"machine learning"', '"learning machine"')]
    return seen(set(ids[0]) == {"ml", "java"} and ids[1] == [], ids)


async def _combined(world: World) -> str:
    ids = await _ids(world, await _filled(world), '+python "machine learning"')
    return seen(ids == ["ml"], ids)


async def _k(world: World) -> str:
    name = await _filled(world)
    ids = await _ids(world, name, "for", k=1)
    default = (await world.tools())["search_index"]["inputSchema"]["properties"]["k"]["default"]
    return seen(len(ids) == 1 and default == 10, f"k=1 gives {len(ids)}, default {default}")


async def _search_shape(world: World) -> str:
    found = await _value(world, "search_index", query="python", index_name=await _filled(world))
    return seen(list(found) == ["results", "total_matches", "query_parsed"], list(found))


async def _result_shape(world: World) -> str:
    found = await _value(world, "search_index", query="python", index_name=await _filled(world))
    return seen(
        all(list(one) == ["doc_id", "score", "highlights", "metadata"] for one in found["results"]), found["results"][0]
    )


async def _total(world: World) -> str:
    found = await _value(world, "search_index", query="for", k=2, index_name=await _filled(world))
    return seen(found["total_matches"] == 4 and len(found["results"]) == 2, f"{found['total_matches']} in all")


async def _parsed(world: World) -> str:
    name = await _filled(world)
    query = '+python soup -java "machine learning"'
    parsed = (await _value(world, "search_index", query=query, index_name=name))["query_parsed"]
    good = parsed["must"] == ["python"] and parsed["terms"] == ["soup"] and parsed["must_not"] == ["java"]
    return seen(good, parsed)


async def _highlights(world: World) -> str:
    name = await _filled(world)
    content = " ".join(f"filler {number} quoll {number}" + " words" * 40 for number in range(6))
    await _value(world, "search_add_document", doc_id="q", content=content, index_name=name)
    (hit,) = (await _value(world, "search_index", query="quoll", index_name=name))["results"]
    pieces = hit["highlights"]
    return seen(0 < len(pieces) <= 3 and all("quoll" in piece for piece in pieces), pieces)


async def _metadata(world: World) -> str:
    found = await _value(world, "search_index", query="soup", index_name=await _filled(world))
    metadata = found["results"][0]["metadata"]
    return seen(metadata == {"author": "Smith", "year": 2026, "tags": ["a"]}, metadata)


async def _empty_query(world: World) -> str:
    found = await _value(world, "search_index", query="")
    return seen(found == {"results": [], "total_matches": 0}, found)


async def _no_index(world: World) -> str:
    found = await _value(world, "search_index", query="x", index_name="nowhere")
    return seen(found == {"error": "Index not found: nowhere"}, found)


async def _read_only(world: World) -> str:
    hints = (await world.tools())["search_index"]["annotations"]
    name = await _filled(world)
    same = await _ids(world, name, "python") == await _ids(world, name, "python")
    return seen(hints["readOnlyHint"] and hints["idempotentHint"] and same, hints)


async def _no_injection(world: World) -> str:
    name = await _filled(world)
    queries = ("' OR 1=1 --", "NEAR(", "*", '"', "+", "-", '+"', "\x00", "((((", "💥")
    found = [await _value(world, "search_index", query=query, index_name=name) for query in queries]
    return seen(all("results" in one for one in found), f"{len(queries)} odd queries")


async def _indexed(world: World) -> str:
    name = await _filled(world)
    add = {"doc_id": "a", "content": _SIX_WORDS, "index_name": name}
    states = [await _value(world, "search_add_document", **add) for _ in range(2)]
    return seen([state["status"] for state in states] == ["indexed", "re-indexed"], states)


async def _token_count(world: World) -> str:
    added = await _value(world, "search_add_document", doc_id="six", content=_SIX_WORDS)
    return seen(added == {"status": added["status"], "doc_id": "six", "token_count": 6}, added)


async def _replaced(world: World) -> str:
    name = await _filled(world)
    await _value(world, "search_add_document", doc_id="cook", content="stews instead", index_name=name)
    found = [await _ids(world, name, query) for query in ("soup", "stews")]
    return seen(found == [[], ["cook"]], found)


async def _blank(world: World) -> str:
    told = [
        await _value(world, "search_add_document", doc_id="a", content=""),
        await _value(world, "search_add_document", doc_id="a", content="  \n"),
        await _value(world, "search_add_document", doc_id="a"),
    ]
    return seen(told == [{"error": "Content must be a non-empty string"}] * 3, told[0])


async def _idempotent(world: World) -> str:
    name = await _filled(world)
    before = await _value(world, "search_index", query="for", index_name=name)
    content = "python for the web"
    metadata = {"author": "Smith", "year": 2026, "tags": ["a"]}
    await _value(world, "search_add_document", doc_id="web", content=content, index_name=name, metadata=metadata)
    after = await _value(world, "search_index", query="for", index_name=name)
    return seen(before == after, "the same answer, scores included")


async def _created(world: World) -> str:
    name = world.new_words("c").replace(" ", "_")
    made = await _value(world, "search_create_index", index_name=name)
    return seen(made == {"status": "created", "index_name": name, "backend": "memory"}, made)


async def _lowercase(world: World) -> str:
    name = world.new_words("l").replace(" ", "-")
    config = {"lowercase": False}
    await _value(world, "search_create_index", index_name=name, tokenizer_config=config)
    await _value(world, "search_add_document", doc_id="a", content="Wombat", index_name=name)
    found = [await _ids(world, name, query) for query in ("Wombat", "wombat")]
    usual = await _ids(world, await _filled(world), "PYTHON")
    return seen(found == [["a"], []] and usual, f"false: {found}; by default PYTHON finds {usual}")


async def _min_length(world: World) -> str:
    name = world.new_words("m").replace(" ", "-")
    config = {"lowercase": True, "min_length": 3}
    await _value(world, "search_create_index", index_name=name, tokenizer_config=config)
    add = {"doc_id": "a", "content": "an ox ran far"}
    counts = [
        (await _value(world, "search_add_document", index_name=name, **add))["token_count"],
        (await _value(world, "search_add_document", doc_id="b", content="a an ox"))["token_count"],
    ]
    return seen(counts == [2, 2], f"3: {counts[0]} of 4 words; by default 2: {counts[1]} of 3")


async def _exists(world: World) -> str:
    name = await _filled(world)
    told = await _value(world, "search_create_index", index_name=name)
    return seen(told == {"error": f"Index already exists: {name}"}, told)


async def _unknown_backend(world: World) -> str:
    told = await _value(world, "search_create_index", index_name="b-1", backend="redis")
    return seen(told == {"error": "Unknown backend: redis"}, told)


async def _safe_names(world: World) -> str:
    told = await _value(world, "search_create_index", index_name="../etc")
    return seen("error" in told, told)


async def _schemas(world: World) -> str:
    tools = await world.tools()
    expected = {
        "search_index": (["query", "k", "index_name"], ["query"]),
        "search_add_document": (["doc_id", "content", "metadata", "index_name"], ["doc_id", "content"]),
        "search_create_index": (["index_name", "backend", "tokenizer_config"], ["index_name"]),
    }
    found = {
        name: (list(tools[name]["inputSchema"]["properties"]), tools[name]["inputSchema"]["required"])
        for name in expected
    }
    return seen(found == expected, found)


async def _in_memory(world: World) -> str:
    schema = (await world.tools())["search_create_index"]["inputSchema"]["properties"]
    tokenizer = schema["tokenizer_config"]["properties"]
    defaults = (schema["backend"]["default"], tokenizer["lowercase"]["default"], tokenizer["min_length"]["default"])
    return seen(defaults == ("memory", True, 2), defaults)


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("004", paragraph, requirement, check)


ROWS = (
    _row("General", "without a name the default in-memory index is used", _default_index),
    _row("General", "named indexes are apart", _apart),
    _row("General", "TF-IDF: what is rare counts more", _rare_counts_more),
    _row("General", "+term must be there", _must),
    _row("General", "-term must not", _must_not),
    _row("General", '"phrase" matches exactly', _phrase),
    _row("General", "operators combine", _combined),
    _row("all three, 2 and 3", "names, parameters and which are required", _schemas),
    _row("search_index, 1", "results are ranked", _ranked),
    _row("search_index, 3", "k: by default 10", _k),
    _row("search_index, 4", "results, total_matches, query_parsed", _search_shape),
    _row("search_index, 4", "a result: doc_id, score, highlights, metadata", _result_shape),
    _row("search_index, 4", "total_matches counts all", _total),
    _row("search_index, 4", "query_parsed: terms, must and what else was read", _parsed),
    _row("search_index, 4", "highlights: at most 3, round the terms", _highlights),
    _row("search_index, 4", "metadata as it was given", _metadata),
    _row("search_index, 5", "an empty query: no results, as a value", _empty_query),
    _row("search_index, 5", "an unknown index: the error of the document", _no_index),
    _row("search_index, 6", "read-only", _read_only),
    _row("search_index, 8", "no query injects", _no_injection),
    _row("search_add_document, 4", "status: indexed, then re-indexed", _indexed),
    _row("search_add_document, 4", "doc_id and token_count: 6 for the six-word example", _token_count),
    _row("search_add_document, 1", "the same id is indexed with the new content", _replaced),
    _row("search_add_document, 5", "blank or missing content: the error of the document", _blank),
    _row("search_add_document, 6", "the same again changes nothing", _idempotent),
    _row("search_create_index, 3", "defaults: memory, lowercase, min_length 2", _in_memory),
    _row("search_create_index, 3", "lowercase", _lowercase),
    _row("search_create_index, 3", "min_length", _min_length),
    _row("search_create_index, 4", "status, index_name, backend", _created),
    _row("search_create_index, 5", "a taken name: the error of the document", _exists),
    _row("search_create_index, 5", "an unknown backend: the error of the document", _unknown_backend),
    _row("search_create_index, 8", "names are letters, digits, hyphens, underscores", _safe_names),
)
