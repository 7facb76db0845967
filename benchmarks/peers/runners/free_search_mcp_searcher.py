"""Search with `aggregate_search` of free-search-mcp 0.16: one JSON line in, one JSON line out per query.

Its HTTP client is patched to trust the certificate of the local engines, for which it has no setting.
"""
# mypy: ignore-errors

import asyncio
import json
import os
import sys
import time

import curl_cffi.requests


class Trusting(curl_cffi.requests.AsyncSession):
    def __init__(self, **settings):
        super().__init__(**{"verify": os.environ["ENGINES_AUTHORITY"]} | settings)


curl_cffi.requests.AsyncSession = Trusting

from search_mcp.aggregator import aggregate_search  # noqa: E402


async def main():
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        request = json.loads(line)
        started = time.perf_counter()
        try:
            answer = await aggregate_search(request["query"], engines=request["engines"], use_cache=False)
            result = {"rows": len(answer.get("results") or []), "errors": sorted(answer.get("errors") or {})}
        except Exception as error:
            result = {"rows": 0, "errors": [f"{type(error).__name__}: {error}"[:300]]}
        print(json.dumps({"seconds": time.perf_counter() - started, **result}), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
