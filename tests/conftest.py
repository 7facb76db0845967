"""Shared fixtures: one test site, one `Browsers`, and no settings of the developer."""

from __future__ import annotations

import functools
import gc
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import pytest_asyncio

from scraper.cli.warm_client import AGENT_VARIABLES
from tests.site.running import Site, running_site

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from browsers import Browsers, BrowserSettings
    from tests.warm_processes import WarmProcesses

OUR_VARIABLES = "SEARCH_MCP_"
STARTERS = frozenset(
    "output_of running serving replicas pair proxied subprocess Popen create_subprocess_exec "
    "site server product guarded postgres mortal running_postgres redis redis_server "
    "WorkerPool workers SingleUseProcesses processes shots running_site".split()
)
"""Fixtures, functions and modules through which tests start programs."""

TOOLING = frozenset({"benchmarks", "clients", "conformance", "deploy", "devtools"})
"""Folders of tests of what surrounds the product. `make test` leaves them out; `make test-all` and CI run them."""

_DEPTH = len(Path(__file__).parent.parts)
"""Parts of the path of the folder of tests, before the names of those in it."""

_MODULE_WITH_BROWSER = re.compile(r"^pytestmark = \[?pytest\.mark\.browser\b", re.MULTILINE)

EXAMPLES, EXAMPLES_AT_FULL_SIZE = 25, 200
"""Examples of a property-based test in `make test` and in `make test-all`."""

_BEGUN_S = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seconds", type=float, help="skip the tests that have not begun after so many seconds")


def pytest_configure(config: pytest.Config) -> None:
    """Use the same examples on every machine, without a time limit for busy ones."""
    is_full = "full_size" in config.getoption("markexpr")
    hypothesis.settings.register_profile(
        "same-everywhere",
        deadline=None,
        derandomize=True,
        max_examples=EXAMPLES_AT_FULL_SIZE if is_full else EXAMPLES,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    hypothesis.settings.load_profile("same-everywhere")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return the scheduler of `--dist loadgroup` that does not go through finished tests again."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from tests.scheduling import GroupScheduling

    return GroupScheduling(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore modules whose tests all have full size or need a browser, if this run has none: imports take seconds."""
    if collection_path.suffix != ".py":
        return True if collection_path.name in TOOLING and not _includes_tooling(config) else None
    if "not (browser" in config.getoption("markexpr") and _MODULE_WITH_BROWSER.search(collection_path.read_text()):
        return True
    is_full = collection_path.name.endswith("_full_size.py")
    return True if is_full and "full_size" not in config.getoption("markexpr") else None


def _left_out(config: pytest.Config) -> tuple[str, ...]:
    """Return the marks of tests that do not run unless the mark expression of the command line asks for them."""
    marks = config.getoption("markexpr")
    if "full_size" in marks:
        return ()
    return ("full_size",) if "thorough" in marks else ("full_size", "thorough")


def _includes_tooling(config: pytest.Config) -> bool:
    """Return True if the marks or paths of the command line ask for tests of TOOLING."""
    marks = config.getoption("markexpr")
    named = (part for path in config.args for part in Path(path.partition("::")[0]).parts)
    return "full_size" in marks or "tooling" in marks or not TOOLING.isdisjoint(named)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage while tests are imported, and never visit what they create at import again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Send few messages from a process of pytest-xdist."""
    if not hasattr(item.config, "workerinput"):
        return None
    from tests.scheduling import run_with_few_messages

    run_with_few_messages(item, nextitem)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the test if the time for the whole run is over."""
    limit_s = item.config.getoption("seconds")
    if limit_s is not None and time.monotonic() - _BEGUN_S > limit_s:
        pytest.skip("the time for this run is over")
    if (warm := sys.modules.get("tests.warm_processes")) and warm.WarmProcesses.current:
        warm.WarmProcesses.current.is_paused = item.get_closest_marker("own_processes") is not None


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_the_developer() -> Iterator[None]:
    """Remove the settings of this machine's user from the environment, and let Node keep compiled scripts."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(OUR_VARIABLES)]:
            patch.delenv(name)
        # A coding agent may run the tests.
        for name in AGENT_VARIABLES:
            patch.delenv(name, raising=False)
        patch.setenv(f"{OUR_VARIABLES}CONFIG", os.devnull)
        # A fifth of the CPU time for a start of Playwright's driver is the compilation of its scripts.
        patch.setenv("NODE_COMPILE_CACHE", str(Path(tempfile.gettempdir(), "search-mcp-node-cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _interrupts_as_at_a_terminal() -> None:
    """Restore the handler of SIGINT: background jobs of a script ignore it, and so do their children."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def warm_processes() -> AsyncIterator[WarmProcesses]:
    """Keep browsers and fork servers running between tests without the mark `own_processes`."""
    from tests.warm_processes import WarmProcesses

    warm = WarmProcesses()
    with warm.lent():
        yield warm
        await warm.close()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """Start the local test site in its own process."""
    with running_site() as running:
        yield running


@pytest.fixture(scope="session")
def browser_settings(site: Site) -> BrowserSettings:
    """Return settings that map the hosts of the site; change them with `dataclasses.replace`."""
    from browsers import BrowserSettings

    # The certificate of the site's TLS hosts is not signed by a trusted authority.
    return BrowserSettings(test_hosts=site.test_hosts, ignore_certificate_errors=True)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browsers(browser_settings: BrowserSettings) -> AsyncIterator[Browsers]:
    """Start one `Browsers` for all tests that do not break it."""
    from browsers import Browsers

    async with Browsers(browser_settings) as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def plain_browser(site: Site) -> AsyncIterator[Browser]:
    """Start a plain Chromium without `Browsers`, for comparisons."""
    from playwright.async_api import async_playwright

    from browsers import Tier
    from browsers.chromium.locate import find_chromium

    found = find_chromium(Tier.LIGHT, None) or find_chromium(Tier.FULL, None)
    assert found is not None, "no Chromium on this machine: run `make setup`"
    mapped = ",".join(f"MAP {name} {address}:{port}" for name, address, port in site.test_hosts)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found.executable, args=[f"--host-resolver-rules={mapped}", "--ignore-certificate-errors"]
        )
        try:
            yield browser
        finally:
            await browser.close()


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests, leave out those of `make test-all`, and skip browser tests where no Chromium is installed."""
    left_out = {item for item in items if any(map(item.get_closest_marker, _left_out(config)))}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        if getattr(config.option, "loadgroup", False) and _shares_module_fixture(item):
            _keep_in_one_process(item, item.nodeid.partition("::")[0])
        if item.path.parts[_DEPTH] in TOOLING:
            item.add_marker(pytest.mark.tooling)
        if _starts_programs(item):
            item.add_marker(pytest.mark.programs)
        if isinstance(item, pytest.Function) and _may_use_warm_processes(item):
            # Before the fixtures that open browsers or workers.
            item.fixturenames.insert(0, "warm_processes")
    _skip_without_chromium(items)


def _may_use_warm_processes(item: pytest.Function) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    return "own_processes" not in marks and not marks.isdisjoint({"browser", "programs"})


def _shares_module_fixture(item: pytest.Item) -> bool:
    """Return True if the test uses a fixture that a second process would have to create again."""
    fixtures = getattr(item, "_fixtureinfo", None)
    used = fixtures.name2fixturedefs.values() if fixtures else ()
    return any(definitions[-1].scope == "module" for definitions in used)


def _keep_in_one_process(item: pytest.Item, group: str) -> None:
    """Append the group to the test's ID, where the scheduler of pytest-xdist looks for it.

    The mark `xdist_group` does the same, but pytest 9.2 has a new ID that pytest-xdist 3.8 does not set.
    """
    identifier = f"{item.nodeid}@{group}"
    item._nodeid = identifier  # type: ignore[attr-defined]
    if hasattr(item, "_id"):
        item._id = type(item._id).parse(identifier)


def _starts_programs(item: pytest.Item) -> bool:
    """Return True if the test or one of its fixtures names one of STARTERS, or a parameter of the test does."""
    fixtures = getattr(item, "_fixtureinfo", None)
    definitions = fixtures.name2fixturedefs.values() if fixtures else ()
    functions = (getattr(item, "function", None), *(one[-1].func for one in definitions))
    call = getattr(item, "callspec", None)
    parameters = [value for value in call.params.values() if isinstance(value, str)] if call else ()
    names = {*getattr(item, "fixturenames", ()), *parameters}
    codes = [code for function in functions if (code := getattr(function, "__code__", None))]
    return not names.isdisjoint(STARTERS) or not all(_names(code).isdisjoint(STARTERS) for code in codes)


@functools.cache
def _names(code: CodeType) -> set[str]:
    """Return the names that the code uses, also in the functions and comprehensions inside it."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _skip_without_chromium(items: list[pytest.Item]) -> None:
    """Skip tests that need Chromium if none is installed; in CI let them fail."""
    if "CI" in os.environ or _chromium_is_here():
        return
    skip = pytest.mark.skip(reason="no Chromium on this machine: run `make setup`")
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(skip)


def _chromium_is_here() -> bool:
    from browsers import Tier
    from browsers.chromium.locate import find_chromium

    return any(find_chromium(tier, None) for tier in Tier)
