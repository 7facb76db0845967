"""free-search-mcp 0.16 in its own process: its `aggregate_search`, a line of JSON in, a line of JSON out.

Its HTTP client is told which authority signed the local engines' certificate; it has no setting for that.
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
        asked = json.loads(line)
        begun = time.perf_counter()
        try:
            answer = await aggregate_search(asked["query"], engines=asked["engines"], use_cache=False)
            told = {"rows": len(answer.get("results") or []), "errors": sorted(answer.get("errors") or {})}
        except Exception as error:
            told = {"rows": 0, "errors": [f"{type(error).__name__}: {error}"[:300]]}
        print(json.dumps({"seconds": time.perf_counter() - begun, **told}), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
