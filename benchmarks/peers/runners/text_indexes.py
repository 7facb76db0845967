"""Index texts from stdin in memory with tantivy or whoosh, then run queries, and measure the times."""

from __future__ import annotations

import json
import sys
import time


def tantivy_times(texts: list[str], queries: list[str]) -> tuple[float, list[float]]:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body", stored=True)
    index = tantivy.Index(builder.build())
    started = time.perf_counter()
    writer = index.writer(heap_size=100_000_000, num_threads=1)
    for number, text in enumerate(texts):
        writer.add_document(tantivy.Document(id=str(number), body=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    filled_s = time.perf_counter() - started
    searcher = index.searcher()
    times = []
    for query in queries:
        started = time.perf_counter()
        parsed = index.parse_query(query, ["body"])
        for _, address in searcher.search(parsed, 10).hits:
            searcher.doc(address)
        times.append(time.perf_counter() - started)
    return filled_s, times


def whoosh_times(texts: list[str], queries: list[str]) -> tuple[float, list[float]]:
    from whoosh.fields import ID, TEXT, Schema
    from whoosh.filedb.filestore import RamStorage
    from whoosh.qparser import OrGroup, QueryParser

    schema = Schema(id=ID(stored=True), body=TEXT(stored=True))
    index = RamStorage().create_index(schema)
    started = time.perf_counter()
    writer = index.writer()
    for number, text in enumerate(texts):
        writer.add_document(id=str(number), body=text)
    writer.commit()
    filled_s = time.perf_counter() - started
    parser = QueryParser("body", schema, group=OrGroup)
    times = []
    with index.searcher() as searcher:
        for query in queries:
            started = time.perf_counter()
            for hit in searcher.search(parser.parse(query), limit=10):
                hit.fields()
            times.append(time.perf_counter() - started)
    return filled_s, times


def main() -> None:
    job = json.load(sys.stdin)
    run = {"tantivy": tantivy_times, "whoosh": whoosh_times}[sys.argv[1]]
    filled_s, times = run(job["texts"], job["queries"])
    json.dump({"filled_s": filled_s, "times_s": times}, sys.stdout)


main()
