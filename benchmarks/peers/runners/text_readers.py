"""Run a reader of main content by name: JSON lines with `html` (a file) and `url` in, `text` and `ms` out."""
# mypy: ignore-errors

import gc
import json
import sys
import time

COLLECT_AFTER = 200_000
"""Threshold of the garbage collector, as in our workers."""


def trafilatura():
    from trafilatura import extract

    return lambda html, url: extract(html, url=url) or ""


def trafilatura_without_comments():
    from trafilatura import extract

    return lambda html, url: extract(html, url=url, include_comments=False) or ""


def readability_lxml():
    import lxml.html
    from readability import Document

    def read(html, url):
        return "\n".join(lxml.html.fromstring(Document(html, url=url).summary()).itertext())

    return read


def resiliparse():
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html, url: extract_plain_text(html, main_content=True)


def rs_trafilatura():
    from rs_trafilatura import extract

    def read(html, url):
        found = extract(html, url=url)
        return getattr(found, "main_content", None) or getattr(found, "content_text", None) or ""

    return read


def markdownify():
    from markdownify import markdownify as convert

    return lambda html, url: convert(html, strip=["script", "style"])


def html_to_markdown():
    from html_to_markdown import convert

    def read(html, url):
        found = convert(html)
        return found if isinstance(found, str) else getattr(found, "content", "") or ""

    return read


def main():
    read = globals()[sys.argv[1]]()
    read("<html><body><p>Words to warm up with.</p></body></html>", "https://example.com/")
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    for line in sys.stdin:
        request = json.loads(line)
        with open(request["html"], encoding="utf-8", errors="replace", newline="") as file:
            html = file.read()
        started = time.process_time()
        try:
            text = read(html, request["url"])
        except Exception as error:  # a failed reader returns an empty text
            text = ""
            print(f"{sys.argv[1]} {request['html']}: {type(error).__name__}", file=sys.stderr)
        answer = {"text": text, "ms": (time.process_time() - started) * 1e3}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
