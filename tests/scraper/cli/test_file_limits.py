"""The bound on open files is raised as far as the user may."""

from __future__ import annotations

import pytest

from tests.scraper.process import output_of

PROGRAM = """
import resource, sys
soft, hard = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
from scraper.cli.file_limits import allow_many
allow_many()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [((256, 9_000), (8_192, 9_000)), ((256, 512), (512, 512)), ((9_000, 9_000), (9_000, 9_000))],
)
async def test_as_many_are_allowed_as_are_of_use(before: tuple[int, int], after: tuple[int, int]) -> None:
    told = await output_of("-c", PROGRAM, *map(str, before))
    assert (told.out.split(), told.err) == ([str(number) for number in after], "")


async def test_the_command_line_raises_it() -> None:
    program = (
        "import os, resource\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
        "from scraper.cli import main\n"
        "main.run = lambda _: resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 200\n"
        "main.main()\n"
    )
    assert (await output_of("-c", program)).code == 1
