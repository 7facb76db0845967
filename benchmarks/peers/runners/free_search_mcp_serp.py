"""Parse saved result pages with free-search-mcp, and detect block pages with its own test."""
# mypy: ignore-errors

import importlib
import inspect
import json
import sys
from pathlib import Path

from search_mcp.engines.base import Engine, detect_gate


def read(engine, file):
    body = Path(file).read_text(encoding="utf-8", errors="replace")
    try:
        found = parser_of(engine).parse(body)
    except Exception:
        return {"status": "error", "rows": []}
    rows = [{"title": row.title, "url": row.url, "snippet": row.snippet} for row in found]
    # Like its server: test for a block page only if there are no rows.
    status = "ok" if rows else "wall" if detect_gate(body) else "none"
    return {"status": status, "rows": rows}


def parser_of(engine):
    module = importlib.import_module(f"search_mcp.engines.{engine}")
    for _, one in inspect.getmembers(module, inspect.isclass):
        if issubclass(one, Engine) and getattr(one, "name", "") == engine:
            return one()
    raise LookupError(engine)


if __name__ == "__main__":
    print(json.dumps([read(job["engine"], job["file"]) for job in json.load(sys.stdin)]))
