"""Requirements of the document on `search_index`, `search_add_document`, `search_create_index`."""

from __future__ import annotations

from typing import Any

from benchmarks.contract.rows.row import Check, Row, require
from benchmarks.contract.rows.testbed import Testbed

_SIX_WORDS = "Python rate limiting with token buckets"


async def _value(testbed: Testbed, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the object in the text of an answer; fail on a tool error."""
    answer = await testbed.call(tool, **arguments)
    require(answer.is_error == ("error" in answer.data), answer.text)
    data: dict[str, Any] = answer.data
    return data


async def _filled(testbed: Testbed) -> str:
    """Create an index of four documents; return its name."""
    name = testbed.new_words("i").replace(" ", "-")
    await _value(testbed, "search_create_index", index_name=name)
    for doc_id, content in (
        ("ml", "python for machine learning, and python for learning machines"),
        ("web", "python for the web"),
        ("java", "java for machine learning in the enterprise, with many other words besides"),
        ("cook", "recipes for soup"),
    ):
        await _value(
            testbed,
            "search_add_document",
            doc_id=doc_id,
            content=content,
            index_name=name,
            metadata={"author": "Smith", "year": 2026, "tags": ["a"]},
        )
    return name


async def _ids(testbed: Testbed, name: str, query: str, **arguments: Any) -> list[str]:
    found = await _value(testbed, "search_index", query=query, index_name=name, **arguments)
    return [result["doc_id"] for result in found["results"]]


async def _default_index(testbed: Testbed) -> str:
    await _value(testbed, "search_add_document", doc_id="note", content="quokka marsupial")
    found = await _value(testbed, "search_index", query="quokka")
    return require(found["total_matches"] == 1, found["results"])


async def _separate(testbed: Testbed) -> str:
    one, other = await _filled(testbed), await _filled(testbed)
    await _value(testbed, "search_add_document", doc_id="x", content="quagga", index_name=one)
    found = [await _ids(testbed, name, "quagga") for name in (one, other)]
    return require(found == [["x"], []], found)


async def _ranked(testbed: Testbed) -> str:
    found = await _value(testbed, "search_index", query="python", index_name=await _filled(testbed))
    scores = [result["score"] for result in found["results"]]
    good = scores == sorted(scores, reverse=True) and len(scores) == 2 and all(scores)
    return require(good, scores)


async def _rare_counts_more(testbed: Testbed) -> str:
    name = await _filled(testbed)
    found = await _value(testbed, "search_index", query="for soup", index_name=name)
    return require(found["results"][0]["doc_id"] == "cook", [r["doc_id"] for r in found["results"]])


async def _required(testbed: Testbed) -> str:
    ids = await _ids(testbed, await _filled(testbed), "+python learning")
    return require(set(ids) == {"ml", "web"}, ids)


async def _excluded(testbed: Testbed) -> str:
    ids = await _ids(testbed, await _filled(testbed), "learning -java")
    return require(ids == ["ml"], ids)


async def _phrase(testbed: Testbed) -> str:
    name = await _filled(testbed)
    ids = [await _ids(testbed, name, query) for query in ('"machine learning"', '"learning machine"')]
    return require(set(ids[0]) == {"ml", "java"} and ids[1] == [], ids)


async def _combined(testbed: Testbed) -> str:
    ids = await _ids(testbed, await _filled(testbed), '+python "machine learning"')
    return require(ids == ["ml"], ids)


async def _k(testbed: Testbed) -> str:
    name = await _filled(testbed)
    ids = await _ids(testbed, name, "for", k=1)
    default = (await testbed.tools())["search_index"]["inputSchema"]["properties"]["k"]["default"]
    return require(len(ids) == 1 and default == 10, f"k=1 gives {len(ids)}, default {default}")


async def _search_shape(testbed: Testbed) -> str:
    found = await _value(testbed, "search_index", query="python", index_name=await _filled(testbed))
    return require(list(found) == ["results", "total_matches", "query_parsed", "notice"], list(found))


async def _result_shape(testbed: Testbed) -> str:
    found = await _value(testbed, "search_index", query="python", index_name=await _filled(testbed))
    return require(
        all(list(one) == ["doc_id", "score", "highlights", "metadata"] for one in found["results"]), found["results"][0]
    )


async def _total(testbed: Testbed) -> str:
    found = await _value(testbed, "search_index", query="for", k=2, index_name=await _filled(testbed))
    return require(found["total_matches"] == 4 and len(found["results"]) == 2, f"{found['total_matches']} in all")


async def _parsed(testbed: Testbed) -> str:
    name = await _filled(testbed)
    query = '+python soup -java "machine learning"'
    parsed = (await _value(testbed, "search_index", query=query, index_name=name))["query_parsed"]
    good = parsed["must"] == ["python"] and parsed["terms"] == ["soup"] and parsed["must_not"] == ["java"]
    return require(good, parsed)


async def _highlights(testbed: Testbed) -> str:
    name = await _filled(testbed)
    content = " ".join(f"filler {number} quoll {number}" + " words" * 40 for number in range(6))
    await _value(testbed, "search_add_document", doc_id="q", content=content, index_name=name)
    (hit,) = (await _value(testbed, "search_index", query="quoll", index_name=name))["results"]
    pieces = hit["highlights"]
    return require(0 < len(pieces) <= 3 and all("quoll" in piece for piece in pieces), pieces)


async def _metadata(testbed: Testbed) -> str:
    found = await _value(testbed, "search_index", query="soup", index_name=await _filled(testbed))
    metadata = found["results"][0]["metadata"]
    return require(metadata == {"author": "Smith", "year": 2026, "tags": ["a"]}, metadata)


async def _empty_query(testbed: Testbed) -> str:
    found = await _value(testbed, "search_index", query="")
    return require(found == {"results": [], "total_matches": 0}, found)


async def _no_index(testbed: Testbed) -> str:
    found = await _value(testbed, "search_index", query="x", index_name="nowhere")
    return require(found == {"error": "Index not found: nowhere"}, found)


async def _read_only(testbed: Testbed) -> str:
    hints = (await testbed.tools())["search_index"]["annotations"]
    name = await _filled(testbed)
    same = await _ids(testbed, name, "python") == await _ids(testbed, name, "python")
    return require(hints["readOnlyHint"] and hints["idempotentHint"] and same, hints)


async def _no_injection(testbed: Testbed) -> str:
    name = await _filled(testbed)
    queries = ("' OR 1=1 --", "NEAR(", "*", '"', "+", "-", '+"', "\x00", "((((", "💥")
    found = [await _value(testbed, "search_index", query=query, index_name=name) for query in queries]
    return require(all("results" in one for one in found), f"{len(queries)} unusual queries")


async def _status(testbed: Testbed) -> str:
    name = await _filled(testbed)
    add = {"doc_id": "a", "content": _SIX_WORDS, "index_name": name}
    states = [await _value(testbed, "search_add_document", **add) for _ in range(2)]
    return require([state["status"] for state in states] == ["indexed", "re-indexed"], states)


async def _token_count(testbed: Testbed) -> str:
    added = await _value(testbed, "search_add_document", doc_id="six", content=_SIX_WORDS)
    return require(added == {"status": added["status"], "doc_id": "six", "token_count": 6}, added)


async def _replaced(testbed: Testbed) -> str:
    name = await _filled(testbed)
    await _value(testbed, "search_add_document", doc_id="cook", content="stews instead", index_name=name)
    found = [await _ids(testbed, name, query) for query in ("soup", "stews")]
    return require(found == [[], ["cook"]], found)


async def _blank_content(testbed: Testbed) -> str:
    answer = [
        await _value(testbed, "search_add_document", doc_id="a", content=""),
        await _value(testbed, "search_add_document", doc_id="a", content="  \n"),
        await _value(testbed, "search_add_document", doc_id="a"),
    ]
    return require(answer == [{"error": "Content must be a non-empty string"}] * 3, answer[0])


async def _idempotent(testbed: Testbed) -> str:
    name = await _filled(testbed)
    before = await _value(testbed, "search_index", query="for", index_name=name)
    content = "python for the web"
    metadata = {"author": "Smith", "year": 2026, "tags": ["a"]}
    await _value(testbed, "search_add_document", doc_id="web", content=content, index_name=name, metadata=metadata)
    after = await _value(testbed, "search_index", query="for", index_name=name)
    return require(before == after, "the same response, scores included")


async def _created(testbed: Testbed) -> str:
    name = testbed.new_words("c").replace(" ", "_")
    made = await _value(testbed, "search_create_index", index_name=name)
    return require(made == {"status": "created", "index_name": name, "backend": "memory"}, made)


async def _lowercase(testbed: Testbed) -> str:
    name = testbed.new_words("l").replace(" ", "-")
    config = {"lowercase": False}
    await _value(testbed, "search_create_index", index_name=name, tokenizer_config=config)
    await _value(testbed, "search_add_document", doc_id="a", content="Wombat", index_name=name)
    found = [await _ids(testbed, name, query) for query in ("Wombat", "wombat")]
    usual = await _ids(testbed, await _filled(testbed), "PYTHON")
    return require(found == [["a"], []] and usual, f"false: {found}; by default PYTHON finds {usual}")


async def _min_length(testbed: Testbed) -> str:
    name = testbed.new_words("m").replace(" ", "-")
    config = {"lowercase": True, "min_length": 3}
    await _value(testbed, "search_create_index", index_name=name, tokenizer_config=config)
    add = {"doc_id": "a", "content": "an ox ran far"}
    counts = [
        (await _value(testbed, "search_add_document", index_name=name, **add))["token_count"],
        (await _value(testbed, "search_add_document", doc_id="b", content="a an ox"))["token_count"],
    ]
    return require(counts == [2, 2], f"3: {counts[0]} of 4 words; by default 2: {counts[1]} of 3")


async def _exists(testbed: Testbed) -> str:
    name = await _filled(testbed)
    answer = await _value(testbed, "search_create_index", index_name=name)
    return require(answer == {"error": f"Index already exists: {name}"}, answer)


async def _unknown_backend(testbed: Testbed) -> str:
    answer = await _value(testbed, "search_create_index", index_name="b-1", backend="redis")
    return require(answer == {"error": "Unknown backend: redis"}, answer)


async def _safe_names(testbed: Testbed) -> str:
    answer = await _value(testbed, "search_create_index", index_name="../etc")
    return require("error" in answer, answer)


async def _schemas(testbed: Testbed) -> str:
    tools = await testbed.tools()
    expected = {
        # `start`, which pages the results, is an optional addition behind the parameters of the document.
        "search_index": (["query", "k", "index_name", "start"], ["query"]),
        "search_add_document": (["doc_id", "content", "metadata", "index_name"], ["doc_id", "content"]),
        "search_create_index": (["index_name", "backend", "tokenizer_config"], ["index_name"]),
    }
    found = {
        name: (list(tools[name]["inputSchema"]["properties"]), tools[name]["inputSchema"]["required"])
        for name in expected
    }
    return require(found == expected, found)


async def _in_memory(testbed: Testbed) -> str:
    schema = (await testbed.tools())["search_create_index"]["inputSchema"]["properties"]
    tokenizer = schema["tokenizer_config"]["properties"]
    defaults = (schema["backend"]["default"], tokenizer["lowercase"]["default"], tokenizer["min_length"]["default"])
    return require(defaults == ("memory", True, 2), defaults)


def _row(paragraph: str, requirement: str, check: Check) -> Row:
    return Row("004", paragraph, requirement, check)


ROWS = (
    _row("General", "without a name, the default in-memory index is used", _default_index),
    _row("General", "named indexes are separate", _separate),
    _row("General", "TF-IDF: rare terms count more", _rare_counts_more),
    _row("General", "+term is required", _required),
    _row("General", "-term is excluded", _excluded),
    _row("General", '"phrase" matches exactly', _phrase),
    _row("General", "operators combine", _combined),
    _row("all three, 2 and 3", "names, parameters and required parameters", _schemas),
    _row("search_index, 1", "results are ranked", _ranked),
    _row("search_index, 3", "k: default 10", _k),
    _row("search_index, 4", "results, total_matches, query_parsed", _search_shape),
    _row("search_index, 4", "a result: doc_id, score, highlights, metadata", _result_shape),
    _row("search_index, 4", "total_matches counts all", _total),
    _row("search_index, 4", "query_parsed: terms, must and the other operators", _parsed),
    _row("search_index, 4", "highlights: at most 3, around the terms", _highlights),
    _row("search_index, 4", "metadata as it was added", _metadata),
    _row("search_index, 5", "an empty query: an empty result, no error", _empty_query),
    _row("search_index, 5", "an unknown index: the error of the document", _no_index),
    _row("search_index, 6", "read-only", _read_only),
    _row("search_index, 8", "queries cannot inject SQL or FTS syntax", _no_injection),
    _row("search_add_document, 4", "status: indexed, then re-indexed", _status),
    _row("search_add_document, 4", "doc_id and token_count: 6 for the six-word example", _token_count),
    _row("search_add_document, 1", "the same id is indexed with the new content", _replaced),
    _row("search_add_document, 5", "blank or missing content: the error of the document", _blank_content),
    _row("search_add_document, 6", "adding the same document again changes nothing", _idempotent),
    _row("search_create_index, 3", "defaults: memory, lowercase, min_length 2", _in_memory),
    _row("search_create_index, 3", "lowercase", _lowercase),
    _row("search_create_index, 3", "min_length", _min_length),
    _row("search_create_index, 4", "status, index_name, backend", _created),
    _row("search_create_index, 5", "an existing name: the error of the document", _exists),
    _row("search_create_index, 5", "an unknown backend: the error of the document", _unknown_backend),
    _row("search_create_index, 8", "names are letters, digits, hyphens, underscores", _safe_names),
)
