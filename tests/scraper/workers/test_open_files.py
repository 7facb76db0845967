"""A server may have more open files than the limit of `select`."""

from __future__ import annotations

import textwrap

from tests.scraper.process import output_of

BUSY = """
    import asyncio, os, resource
    from scraper.workers import WorkerPool
    from tests.scraper.workers import jobs

    async def main():
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, most))
        opened = [open(os.devnull) for _ in range(1100)]
        async with WorkerPool(1) as workers:
            print(await workers.run(jobs.echo, len(opened)))

    asyncio.run(main())
"""


async def test_a_server_with_more_than_a_thousand_files_open_has_workers() -> None:
    told = await output_of("-c", textwrap.dedent(BUSY))
    assert (told.out, told.err) == ("1100\n", "")
