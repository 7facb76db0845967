"""Parse saved result pages with ddgs; it returns an empty list for a block page."""
# mypy: ignore-errors

import importlib
import inspect
import json
import sys
from pathlib import Path

from ddgs.base import BaseSearchEngine


def read(engine, file):
    body = Path(file).read_text(encoding="utf-8", errors="replace")
    parser = parser_of(engine)
    try:
        found = parser.post_extract_results(parser.extract_results(body))
    except Exception:
        return {"status": "error", "rows": []}
    rows = [{"title": row.title, "url": row.href, "snippet": row.body} for row in found]
    return {"status": "ok" if rows else "none", "rows": rows}


def parser_of(engine):
    module = importlib.import_module(f"ddgs.engines.{engine}")
    for _, one in inspect.getmembers(module, inspect.isclass):
        if issubclass(one, BaseSearchEngine) and getattr(one, "name", "") == engine:
            return one()
    raise LookupError(engine)


if __name__ == "__main__":
    print(json.dumps([read(job["engine"], job["file"]) for job in json.load(sys.stdin)]))
