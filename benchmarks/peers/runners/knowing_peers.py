"""Select passages with BM25 libraries and crawl4ai, and find fields again with Scrapling, for `benchmarks.knowing`.

Input: lines of JSON. `{"text", "question"}` is answered with `{name: [passages, ms of CPU]}`: best passage first, or,
from crawl4ai, in the order of the text. `{"before", "example", "pages"}` is answered with a list of `{field: text}`.
"""
# mypy: ignore-errors

import functools
import html
import json
import logging
import re
import sys
import tempfile
import time
from pathlib import Path

CHUNK = 400
"""Characters. With chunks of 1,000, the BM25 libraries find fewer answers at small budgets."""
_WORD = re.compile(r"\w+")


def chunks_of(text):
    """Return parts that end with a line, sentence or word."""
    chunks, start = [], 0
    while start < len(text):
        end = min(len(text), start + CHUNK)
        stops = (text.rfind(mark, start + CHUNK // 2, end) + len(mark) for mark in ("\n", ". ", " "))
        stop = next((stop for stop in stops if stop > start + CHUNK // 2), end) if end < len(text) else end
        chunks.append(text[start:stop])
        start = stop
    return chunks


def _ranked(chunks, scores):
    return [chunks[at] for at in sorted(range(len(chunks)), key=lambda at: -scores[at])]


def bm25s(text, question):
    import bm25s as library

    chunks = chunks_of(text)
    retriever = library.BM25()
    retriever.index(library.tokenize(chunks, stopwords="en", show_progress=False), show_progress=False)
    words = [word for word in _WORD.findall(question.lower()) if word in retriever.vocab_dict]
    return _ranked(chunks, retriever.get_scores(words) if words else [0.0] * len(chunks))


def rank_bm25(text, question):
    from rank_bm25 import BM25Okapi

    chunks = chunks_of(text)
    scores = BM25Okapi([_WORD.findall(one.lower()) for one in chunks]).get_scores(_WORD.findall(question.lower()))
    return _ranked(chunks, scores)


def crawl4ai(text, question):
    from crawl4ai.content_filter_strategy import BM25ContentFilter

    paragraphs = "".join(f"<p>{html.escape(line)}</p>" for line in text.split("\n") if line.strip())
    found = BM25ContentFilter(user_query=question, bm25_threshold=1.0).filter_content(
        f"<html><body>{paragraphs}</body></html>"
    )
    return [html.unescape(re.sub(r"<[^>]+>", "", one)) + "\n" for one in found]


PEERS = (bm25s, rank_bm25, crawl4ai)


@functools.cache
def load_peers():
    """Import the libraries, so that no question pays for it."""
    for peer in PEERS:
        peer("Tides come and go.\nThe moon moves them.\nShips wait.", "tides moon")


def select(text, question):
    answers = {}
    load_peers()
    for peer in PEERS:
        began = time.process_time()
        answers[peer.__name__] = [peer(text, question), 1_000 * (time.process_time() - began)]
    return answers


def _key(text):
    return re.sub(r"[\W_]+", "", text.lower())


def _path_of(source, value):
    """Return the XPath of the smallest element that contains a value, or None."""
    from lxml import html as lxml_html

    root = lxml_html.document_fromstring(source.encode("utf-8", "replace"), lxml_html.HTMLParser(encoding="utf-8"))
    elements = [one for one in root.iter() if isinstance(one.tag, str) and one.tag not in ("script", "style")]
    texts = [(one, _key(" ".join(one.itertext()))) for one in elements]
    wanted = _key(value)
    equal = [one for one, text in texts if text == wanted]
    inside = [one for one, text in texts if wanted in text and len(text) < 6 * len(wanted) + 60]
    return root.getroottree().getpath((equal or inside)[-1]) if wanted and (equal or inside) else None


def find_again(before, example, pages):
    """Save the elements of an example adaptively, and return the text that is found for each on other pages."""
    from scrapling.core.storage import SQLiteStorageSystem
    from scrapling.parser import Selector

    url = "http://page.example/"
    paths = {name: path for name, value in example.items() if (path := _path_of(before, value))}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        storage = {"storage_file": str(Path(folder) / "elements.db"), "url": url}

        def open_page(source):
            return Selector(source, adaptive=True, url=url, storage=SQLiteStorageSystem, storage_args=storage)

        saved = open_page(before)
        for name, path in paths.items():
            saved.xpath(path, identifier=name, auto_save=True)
        answers = []
        for source in pages:
            page, found = open_page(source), {}
            for name, path in paths.items():
                elements = page.xpath(path, identifier=name, adaptive=True)
                if elements:
                    found[name] = str(elements[0].get_all_text(separator=" ", strip=True))
            answers.append(found)
    return answers


def main():
    logging.disable(logging.CRITICAL)
    output = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        task = json.loads(line)
        print(json.dumps((select if "question" in task else find_again)(**task)), file=output, flush=True)


if __name__ == "__main__":
    main()
