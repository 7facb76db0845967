"""Run a peer: lines of JSON with `html` (a file) and `url` in; `markdown`, `title`, `author` and `date` out.

Each peer reads with its settings for main content as Markdown. resiliparse has only plain text with marks of lists.
"""
# mypy: ignore-errors

import json
import sys


def trafilatura():
    from trafilatura import bare_extraction, extract

    def read(html, url):
        text = extract(
            html,
            url=url,
            output_format="markdown",
            include_comments=True,
            include_links=True,
            include_tables=True,
            include_images=True,
            include_formatting=True,
        )
        found = bare_extraction(html, url=url, with_metadata=True)
        facts = found.as_dict() if found is not None else {}
        return {"markdown": text or "", **{key: facts.get(key) or "" for key in ("title", "author", "date")}}

    return read


def readability():
    from markdownify import markdownify
    from readability import Document

    def read(html, url):
        found = Document(html, url=url)
        return {"markdown": markdownify(found.summary(html_partial=True), heading_style="ATX"), "title": found.title()}

    return read


def resiliparse():
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    def read(html, url):
        tree = HTMLTree.parse(html)
        text = extract_plain_text(tree, main_content=True, list_bullets=True, comments=True)
        return {"markdown": text, "title": tree.title or ""}

    return read


def html_to_markdown():
    from html_to_markdown import convert

    def read(html, url):
        found = convert(html)
        return {"markdown": found if isinstance(found, str) else getattr(found, "content", "") or ""}

    return read


def crawl4ai():
    from crawl4ai import CrawlerRunConfig
    from crawl4ai.content_filter_strategy import PruningContentFilter
    from crawl4ai.content_scraping_strategy import LXMLWebScrapingStrategy
    from crawl4ai.markdown_generation_strategy import DefaultMarkdownGenerator

    generator = DefaultMarkdownGenerator(content_filter=PruningContentFilter())
    scraper = LXMLWebScrapingStrategy()
    settings = {key: value for key, value in CrawlerRunConfig().to_dict().items() if key != "url"}

    def read(html, url):
        page = scraper.scrap(url, html, **settings)
        found = generator.generate_markdown(input_html=page.cleaned_html, base_url=url, citations=False)
        facts = page.metadata or {}
        return {
            "markdown": found.fit_markdown or "",
            "title": facts.get("title") or "",
            "author": facts.get("author") or "",
            "date": facts.get("article:published_time") or "",
        }

    return read


def main():
    read = globals()[sys.argv[1]]()
    for line in sys.stdin:
        request = json.loads(line)
        with open(request["html"], encoding="utf-8", errors="replace", newline="") as file:
            html = file.read()
        try:
            answer = read(html, request["url"])
        except Exception as error:  # a reader that breaks has read nothing
            answer = {"markdown": ""}
            print(f"{sys.argv[1]} {request['html']}: {type(error).__name__}: {error}", file=sys.stderr)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
