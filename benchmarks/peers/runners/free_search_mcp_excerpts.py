"""Excerpts of pages for questions with free-search-mcp, which truncates the text of its reader."""
# mypy: ignore-errors

import json
import sys
from pathlib import Path

from search_mcp.compare import _PER_URL_CHAR_BUDGET
from search_mcp.fetcher import _extract, _truncate
from search_mcp.formatting import render_research, smart_truncate


def read(page):
    html = Path(page["file"]).read_text(encoding="utf-8", errors="replace")
    title, markdown, *_ = _extract(html, page["url"])
    content, _ = _truncate(markdown)
    return {"url": page["url"], "title": title, "content": content}


def brief(question, pages):
    sources = [
        {"rank": rank, "title": page["title"], "url": page["url"], "snippet": ""} for rank, page in enumerate(pages, 1)
    ]
    return render_research({"question": question, "sources": sources, "documents": pages, "engines": []})


if __name__ == "__main__":
    job = json.load(sys.stdin)
    pages = {page["name"]: read(page) for page in job["pages"]}
    answer = {
        "excerpts": {name: smart_truncate(page["content"], _PER_URL_CHAR_BUDGET)[0] for name, page in pages.items()},
        "briefs": [brief(asked["question"], [pages[name] for name in asked["pages"]]) for asked in job["asked"]],
    }
    sys.stdout.write(json.dumps(answer))
