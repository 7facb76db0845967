"""Entry script of all worker processes: set the import path, then run the fork server or a single-use job.

Worker processes do not import the server. So this script replaces packages whose `__init__` would import it.
"""

import importlib
import importlib.machinery
import json
import sys
import types

_STUBBED_PACKAGES = ("browsers", "scraper.workers")
"""Packages whose modules are needed here, but not their `__init__`: that of `browsers` would import Playwright and
asyncio, which takes .12 s more than .18 s."""


def main(arguments: list[str]) -> None:
    """Prepare the import system and hand over to `scraper.workers.child`."""
    setup = json.loads(arguments[0])
    sys.path[:] = setup["path"]
    for package in _STUBBED_PACKAGES:
        parent, _, _ = package.rpartition(".")
        search_path = importlib.import_module(parent).__path__ if parent else None
        spec = importlib.machinery.PathFinder.find_spec(package, search_path)
        if spec is not None:
            module = types.ModuleType(package)
            module.__path__ = list(spec.submodule_search_locations or ())
            sys.modules[package] = module
    importlib.import_module("scraper.workers.child").run(setup)


if __name__ == "__main__":
    main(sys.argv[1:])
