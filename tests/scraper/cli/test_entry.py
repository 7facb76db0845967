"""What becomes of Ctrl-C before the command line is there to hear it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.scraper.process import output_of

ENTRY = """
import os, signal, sys, types

{before}

class Loading:
    def find_spec(self, name, path=None, target=None):
        if name == "scraper.cli.main":
            {loading}
        return None

sys.meta_path.insert(0, Loading())
from scraper.cli import entry
{after}
entry.main()
"""
INTERRUPT = "os.kill(os.getpid(), signal.SIGINT)"
STAND_IN = """
loaded = types.ModuleType("scraper.cli.main")
loaded.main = lambda first: print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
sys.modules["scraper.cli.main"] = loaded
"""


async def test_ctrl_c_while_it_is_loaded_ends_it_without_a_word() -> None:
    output = await output_of("-c", ENTRY.format(before="", loading=INTERRUPT, after=""))
    assert (output.code, output.out, output.err) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize(
    ("before", "received"), [("", "True\n"), ("signal.signal(signal.SIGINT, signal.SIG_IGN)", "False\n")]
)
async def test_once_it_is_loaded_interrupts_are_as_they_were(before: str, received: str) -> None:
    output = await output_of("-c", ENTRY.format(before=before, loading="pass", after=STAND_IN))
    assert (output.code, output.out, output.err) == (0, received, "")


@pytest.mark.parametrize(("name", "file"), [("scraper", "__init__.py"), ("browsers", "__init__.py"), ("browsers", "")])
async def test_a_package_of_another_program_is_named(tmp_path: Path, name: str, file: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / (file or "other.txt")).write_text("", "utf-8")
    # As after an installation that wrote over ours, and as with a folder that is found first.
    code = f"""
import importlib.machinery, importlib.util, sys
import scraper.cli.entry
find = importlib.util.find_spec
def find_there(name):
    return importlib.machinery.PathFinder.find_spec(name, [{str(tmp_path)!r}]) or find(name)
importlib.util.find_spec = find_there
scraper.cli.entry.main()
"""
    output = await output_of("-c", code)
    place = str(tmp_path / name / file) if file else f"a folder {name}"
    assert output.code == 1 and output.out == ""
    assert output.err.startswith(f"Error: {place} belongs to another program that has a package named {name}")
    assert output.err.count("\n") == 1
