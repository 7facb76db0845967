"""Send a thousand concurrent calls from fifty clients; count calls that hang or get another call's response.

Each client requests its own pages, in one of the two protocol versions. A response counts if it contains the
URL of the page. Over the limit it must be `busy` with a time to retry. `hung` and `wrong` must be 0.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.common.wire_client import ERAS, CallOutcome, WireClient, wire_client
from tests.scraper.process import browsers_say, serving
from tests.site.running import Site, running_site

_CLIENTS = 50
_CALLS = 1000
_LIMIT_S = 110.0
"""Seconds per call. Twice the server's own deadline."""
_START_S = 60.0
_BUSY = re.compile(r"Try again in [0-9]+ s\.")
_GOALS = (Goal("hung", at_most=0), Goal("wrong", at_most=0), Goal("failed", at_most=0), Goal("answered", at_least=1))


async def measure(options: Options) -> Figures:
    """Send all calls and count their outcomes."""
    with running_site() as site, tempfile.TemporaryDirectory(prefix="benchmark-data-") as folder:
        env = {"SEARCH_MCP_TEST_HOSTS": site.test_hosts_variable, "SEARCH_MCP_DATA": folder}
        async with (
            serving("-m", "scraper.cli.main", "serve", "--port", "0", env=env) as program,
            AsyncExitStack() as stack,
        ):
            await browsers_say(program.base, "ready", True, limit_s=_START_S)
            clients = [
                await stack.enter_async_context(wire_client(program.url, ERAS[number % 2], limit_s=_LIMIT_S))
                for number in range(_CLIENTS)
            ]
            started = time.monotonic()
            calls = (_outcome(clients[number % _CLIENTS], site, number) for number in range(_CALLS))
            outcomes = Counter(await asyncio.gather(*calls))
            seconds = time.monotonic() - started
            # After the burst, the server must answer again.
            after = [await _outcome(client, site, number) for number, client in enumerate(clients[:4])]
    print_table("Outcomes", ("", "calls"), sorted(outcomes.items()))
    figures: Figures = {
        **{name: outcomes[name] for name in ("answered", "busy", "hung", "wrong", "failed")},
        "answered_after": sum(outcome == "answered" for outcome in after),
        "seconds": seconds,
    }
    print_goals(figures, (*_GOALS, Goal("answered_after", at_least=len(after))))
    return figures


async def _outcome(client: WireClient, site: Site, number: int) -> str:
    try:
        response = await client.call("fetch", {"url": site.url(f"/static/{number}"), "render": "http"})
    except TimeoutError:
        return "hung"
    return _classify(response, site, number)


def _classify(response: CallOutcome, site: Site, number: int) -> str:
    if response.is_error:
        return "busy" if _BUSY.search(response.text) else "failed"
    return "answered" if f"{site.url(f'/static/{number}')}\n" in response.text + "\n" else "wrong"


if __name__ == "__main__":
    run(__doc__ or "", measure)
