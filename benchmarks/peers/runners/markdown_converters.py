"""Run Markdown converters page by page.

Input: lines of JSON with `html` (a file) and `url`. Output: `{name: [markdown, ms of CPU]}`.
"""
# mypy: ignore-errors

import io
import json
import sys
import time


def markdownify():
    from markdownify import markdownify as convert

    return lambda html, url: convert(html, heading_style="ATX")


def html_to_markdown():
    from html_to_markdown import convert

    def read(html, url):
        found = convert(html)
        return found if isinstance(found, str) else getattr(found, "content", "") or ""

    return read


def html2text():
    import html2text

    def read(html, url):
        converter = html2text.HTML2Text(baseurl=url)
        converter.body_width = 0
        return converter.handle(html)

    return read


def trafilatura():
    from trafilatura import extract

    return lambda html, url: (
        extract(
            html,
            url=url,
            output_format="markdown",
            include_links=True,
            include_tables=True,
            include_images=True,
            include_formatting=True,
        )
        or ""
    )


def markitdown():
    from markitdown import MarkItDown, StreamInfo

    converter = MarkItDown()

    def read(html, url):
        kind = StreamInfo(extension=".html", charset="utf-8", url=url)
        return converter.convert_stream(io.BytesIO(html.encode("utf-8", "replace")), stream_info=kind).text_content

    return read


def timed(read, html, url):
    started = time.process_time()
    try:
        text = read(html, url)
    except Exception:  # a failed conversion counts as empty
        text = ""
    return [text, (time.process_time() - started) * 1e3]


def main():
    converters = {name: globals()[name]() for name in sys.argv[1:]}
    for read in converters.values():
        timed(read, "<html><body><p>Words to warm up with.</p></body></html>", "https://example.com/")
    for line in sys.stdin:
        request = json.loads(line)
        with open(request["html"], encoding="utf-8", errors="replace", newline="") as file:
            html = file.read()
        print(json.dumps({name: timed(read, html, request["url"]) for name, read in converters.items()}), flush=True)


if __name__ == "__main__":
    main()
