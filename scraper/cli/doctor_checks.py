"""Checks of `doctor` that read no page. Each function checks one topic and returns findings."""

import asyncio
import contextlib
import dataclasses
import email.utils
import enum
import functools
import os
import platform
import shlex
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata

from browsers import system_diagnostics
from browsers.model import VisitLimits
from browsers.request_signing import DIRECTORY_PATH, DIRECTORY_TYPE
from browsers.settings import BrowserSettings
from scraper.call_context import Deadline
from scraper.cli import client_config
from scraper.coordination import open_shared_state
from scraper.errors import OutsideRootError, ScraperError
from scraper.model import ReadRequest
from scraper.reading.browsing import check_steps
from scraper.reading.documents.local_files import LocalFiles
from scraper.server import access
from scraper.services import Services
from scraper.settings import Settings, SettingsError, setting_table, unknown_variables
from scraper.settings.signing import TEST_SEED
from scraper.store.factory import find_database_problem
from scraper.workers import sandbox

_MIN_FREE_BYTES = 200_000_000
"""Bytes for a browser profile and the cache; with less, both fail with unclear errors."""
_FALLBACKS = {
    "light": "the full tier is used instead, at four times the cost",
    "full": "the light tier is used instead, which some sites block",
}
_FONTS_BY_APT = "search-mcp install-browser --fonts (as root)"
_FONTS_BY_HAND = "Install the fonts Noto CJK and Noto Color Emoji with this system's package manager"
"""Remedy without package names, because these differ between distributions."""


class CheckLevel(enum.Enum):
    """Severity of a finding."""

    GOOD = "ok"
    POOR = "!!"
    """The server works, but slowly or with less than its full quality."""
    BAD = "no"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check, a line of the report."""

    level: CheckLevel
    text: str
    remedy: str = ""
    """Next step for the user; empty if none is needed."""


good_finding = functools.partial(Finding, CheckLevel.GOOD)
poor_finding = functools.partial(Finding, CheckLevel.POOR)
bad_finding = functools.partial(Finding, CheckLevel.BAD)


def check_packages() -> Iterator[Finding]:
    """Report the versions of Python and of important packages."""
    yield good_finding(f"Python {platform.python_version()} at {sys.executable}, {platform.platform()}")
    versions, missing = [], []
    for name in ("mcp", "playwright", "apsw", "lxml", "uvicorn"):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    yield good_finding(f"Packages: {', '.join(versions)}")
    if missing:
        yield bad_finding(f"Missing packages: {', '.join(missing)}", f"{sys.executable} -m pip install search-mcp")


def check_configuration(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Report the environment variables that are set, and unknown ones."""
    for setting in setting_table():
        if value := environ.get(setting.variable):
            yield good_finding(f"{setting.variable}={'(not shown)' if setting.secret else value}")
        elif setting.secret and (file := environ.get(setting.file_variable)):
            yield good_finding(f"{setting.file_variable}={file}")
    for sentence in unknown_variables(environ):
        yield poor_finding(sentence)


def check_browsers(settings: BrowserSettings) -> Iterator[Finding]:
    """Report the installed Chromium of both tiers."""
    found = {one.tier.value: one for one in system_diagnostics.find_installed_browsers(settings)}
    wrong = {tier.value: path for tier, path in system_diagnostics.find_unusable_paths(settings, start=True).items()}
    for name in ("light", "full"):
        if path := wrong.get(name):
            yield bad_finding(
                f"SEARCH_MCP_{name.upper()}_CHROMIUM names {path}, which is not a Chromium that starts",
                "Correct the path, or remove the setting: Chromium is then found automatically",
            )
        elif one := found.get(name):
            yield good_finding(f"Chromium {one.version}, {name} tier ({one.source}): {one.executable}")
        elif found:
            yield poor_finding(f"No Chromium of the {name} tier: {_FALLBACKS[name]}", "search-mcp install-browser")
    if not found and not wrong:
        yield bad_finding("No Chromium is installed, or none starts", "search-mcp install-browser")


def check_skills() -> Iterator[Finding]:
    """Report installed skills of another version."""
    for file in client_config.find_other_stubs():
        folder = shlex.quote(str(file.parent.parent))
        yield poor_finding(f"{file} is of another version", f"Write it again: search-mcp skill --write {folder}")


def check_fonts() -> Iterator[Finding]:
    """Report missing fonts, which matter only for screenshots, not for the text of pages."""
    found = system_diagnostics.find_fonts()
    if found is None:
        return
    missing = [script for script, there in found.items() if not there]
    if missing:
        remedy = _FONTS_BY_APT if shutil.which("apt-get") else _FONTS_BY_HAND
        yield poor_finding(f"No font for {', '.join(missing)}", remedy)
    else:
        yield good_finding(f"Fonts for {', '.join(found)}")


def check_data_folder(settings: Settings) -> Iterator[Finding]:
    """Check that the cache folder is writable; skipped if the cache is a database."""
    if settings.database_url is not None:
        return
    folder = settings.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield poor_finding(
            f"Pages cannot be cached in {folder}: {error.strerror}",
            "Make it writable, or name another folder with SEARCH_MCP_DATA",
        )
        return
    free = shutil.disk_usage(folder).free
    text = f"Pages are cached in {folder}, {free // 1_000_000:,} MB free"
    yield good_finding(text) if free > _MIN_FREE_BYTES else poor_finding(text, "Free some space")


def check_documents(settings: Settings) -> Iterator[Finding]:
    """Report the sandbox for documents, and the folder of local documents."""
    lacking = sandbox.find_missing_protections()
    if lacking:
        yield poor_finding(
            f"Documents are read in separate processes, but this system lacks {', '.join(lacking)}",
            "Linux 5.13 or newer on x86_64 or ARM64 has them all",
        )
    else:
        yield good_finding("Documents are read in processes without access to files and network")
    root = settings.document_root
    if root is None:
        return
    try:
        LocalFiles(root, settings.document_mb * 1_000_000).identify(".")
    except OutsideRootError:  # the folder itself is not a file, but exists and can be opened
        yield good_finding(f"Local documents are read from {root}")
    except ScraperError as error:
        yield poor_finding(f"Local documents cannot be read: {error}", error.next_step)


def check_callers(settings: Settings) -> Iterator[Finding]:
    """Report who may call `serve`, or why it would not start."""
    try:
        rules = access.make_access_rules(settings, access.make_resource_server(settings))
    except access.ServerStartError as error:
        yield bad_finding(f"`search-mcp serve` would not start: {error}", "Correct the setting")
        return
    if rules.requires_token:
        yield good_finding("Callers must send a token")
        for name in rules.short_tokens:
            yield poor_finding(
                f"The token of {name} has fewer than {access.MIN_TOKEN_CHARS} characters, so it may be guessed",
                "Replace it by the output of: openssl rand -hex 32",
            )
    elif access.is_loopback(settings.host):
        yield good_finding("Only programs on this machine may call, without a token")
    else:
        yield poor_finding(f"Everyone who reaches {settings.host} may call without a token", "Set SEARCH_MCP_TOKEN")


def check_signing(settings: Settings) -> Iterator[Finding]:
    """Report the key that signs requests, or why none can."""
    try:
        signer = settings.signer()
    except SettingsError as error:
        yield bad_finding(f"Requests cannot be signed: {error}", "Correct the setting")
        return
    if signer is not None and signer.keys[0].seed == TEST_SEED:
        yield bad_finding("The key that signs requests is that of public tests", "openssl rand -base64 32")
    elif signer is not None:
        text = f"Documents are requested as {signer.agent}, signed with key {signer.keys[0].key_id}"
        yield good_finding(text)
        if not signer.is_dictionary:
            yield poor_finding("Signature-Agent is a string, as in older drafts", "Use SIGNATURE_FORM=dictionary")


async def check_key_directory(settings: Settings) -> list[Finding]:
    """Check that the site of the operator publishes the key that signs, and that the clocks agree."""
    signer = settings.signer()
    if signer is None:
        return []
    url, remedy = (
        f"{signer.agent}{DIRECTORY_PATH}",
        "Let it lead to `serve`, or publish what `search-mcp identity` prints",
    )
    fresh = dataclasses.replace(settings, cache_mb=0, shared_url=None, database_url=None, robots="warn")
    async with Services.open(fresh) as services:
        try:
            load = services.fetcher.visitor.load_file
            found = await load(url, "doctor", Deadline.within(20.0), VisitLimits())
        except ScraperError as error:
            return [poor_finding(f"{url} cannot be read: {error}", remedy)]
    text = found.body.decode("utf-8", "replace") or found.html
    if found.status != 200 or found.hops or found.media_type != DIRECTORY_TYPE:
        return [poor_finding(f"{url} answers {found.status} {found.media_type}, not the key directory", remedy)]
    if signer.keys[0].key_id not in text or "signature-input" not in found.headers:
        return [poor_finding(f"{url} has no proof of the key that signs", remedy)]
    sent = email.utils.parsedate_to_datetime(found.headers["date"]) if "date" in found.headers else None
    if sent is not None and abs(sent.timestamp() - time.time()) > _CLOCK_S:
        return [poor_finding("The clocks of this machine and of the key directory differ", "Set the time by NTP")]
    return [good_finding(f"{url} publishes the key")]


def check_port(settings: Settings) -> Iterator[Finding]:
    """Check that `serve` can listen on its port."""
    where = f"{settings.host} port {settings.port}"
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        with contextlib.closing(socket.create_server((settings.host, settings.port), family=family)):
            yield good_finding(f"{where} is free for `search-mcp serve`")
    except OSError as error:
        yield poor_finding(
            f"`search-mcp serve` could not listen on {where}: {_reason(error)}",
            "If that is not search-mcp, choose another port with SEARCH_MCP_PORT",
        )


async def check_names(settings: Settings) -> list[Finding]:
    """Check that DNS does not return invented addresses, which the proxy would reject as private."""
    if settings.proxy and settings.proxy_dns == "remote":
        return [good_finding("Names are resolved by the proxy")]
    if not await system_diagnostics.is_fake_dns_suspected():
        return []
    network = system_diagnostics.FAKE_DNS_NETWORK
    if network in settings.allow_nets:
        return [good_finding(f"DNS resolves every name to {network}, as tunnels do; SEARCH_MCP_ALLOW_NETS allows it")]
    return [
        bad_finding(
            f"DNS resolves every name to {network}: a VPN or tunnel on this machine invents addresses, and "
            "every site would be rejected as private",
            f"If you trust this tunnel, set SEARCH_MCP_ALLOW_NETS={network}",
        )
    ]


def check_proxy(settings: Settings) -> Iterator[Finding]:
    """Check that the configured proxy accepts connections."""
    if settings.proxy is None:
        ignored = [name for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy") if os.environ.get(name)]
        if ignored:
            yield poor_finding(
                f"{ignored[0]} is set but not used", "Set SEARCH_MCP_PROXY if pages must be read through it"
            )
        return
    try:
        where = system_diagnostics.parse_proxy_address(settings.proxy)
    except ValueError as error:
        yield bad_finding(f"SEARCH_MCP_PROXY cannot be used: {error}", "Correct it")
        return
    proxy = f"The proxy at {where[0]}:{where[1]}"
    try:
        with contextlib.closing(socket.create_connection(where, timeout=2.0)):
            yield good_finding(f"{proxy} listens")
    except OSError as error:
        yield bad_finding(f"{proxy} does not answer: {_reason(error)}", "Check SEARCH_MCP_PROXY")


def _reason(error: OSError) -> str:
    """Return the operating system's text for an error, without additions by libraries."""
    if error.errno is None or isinstance(error, socket.gaierror):  # name errors have other numbers
        return error.strerror or str(error)
    return os.strerror(error.errno)


async def check_database(settings: Settings) -> list[Finding]:
    """Check that PostgreSQL responds and contains the tables; skipped if none is configured."""
    if settings.database_url is None:
        return []
    try:
        problem = await find_database_problem(settings)
    except SettingsError as error:
        return [bad_finding("The shared database cannot be used without its library", str(error))]
    if problem is not None:
        alone = "The server runs, but caches no pages until this is fixed"
        return [poor_finding(f"Pages are not cached: {problem}", alone)]
    return [good_finding("Pages are cached in PostgreSQL")]


async def check_shared_state(settings: Settings) -> list[Finding]:
    """Check that Valkey or Redis responds and accepts writes; skipped if none is configured."""
    if settings.shared_url is None:
        return []
    try:
        shared = await open_shared_state(settings)
    except SettingsError as error:
        return [bad_finding("The shared state cannot be used without its library", str(error))]
    try:
        status = shared.status()
    finally:
        await shared.close()
    if status.problem is not None:
        alone = "The server runs with its share of the limits until this is fixed"
        return [poor_finding(f"The shared state is unavailable. {status.problem}", alone)]
    if status.note is not None:
        return [poor_finding(status.note)]
    return [good_finding(f"Shared state answers in {status.command_s * 1_000:.1f} ms")]


_HOST = "doctor.search-mcp.example"
_PAGE = b"""<!doctype html><title>Trial</title><main id=m></main><form toolname=trial tooldescription=Trial></form>
<script>document.getElementById("m").innerHTML = "<p>Six times seven is " + 6 * 7 + ".</p>"</script>
"""
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
_LOCAL_LIMIT_S = 40.0
"""Seconds. A browser on a cold disk takes 20 s to start."""
_CLOCK_S = 5.0
"""Seconds. Signatures of a request are valid for 60."""
_WEB_PAGE = "https://example.com/"


async def read_local_page(settings: Settings) -> list[Finding]:
    """Render a local page; report the duration and the state of Chromium's sandbox."""

    async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            async with asyncio.timeout(_LOCAL_LIMIT_S):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(_HEAD % len(_PAGE) + _PAGE)
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(_answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        here = ((_HOST, "127.0.0.1", port),)
        alone = dataclasses.replace(
            settings,
            test_hosts=here,
            allow_nets=("127.0.0.1/32",),
            proxy=None,
            cache_mb=0,
            shared_url=None,
            database_url=None,
            robots="off",
        )
        started_at = time.monotonic()
        async with Services.open(alone) as services:
            try:
                reading = await services.fetcher.fetch(
                    ReadRequest(f"http://{_HOST}/", render="browser", deadline_s=_LOCAL_LIMIT_S)
                )
            except ScraperError as error:
                return [
                    bad_finding(f"The local test page could not be read: {error.sentence()}", "See the lines above")
                ]
            took = time.monotonic() - started_at
            if "Six times seven is 42" not in reading.document.markdown:
                return [bad_finding("A page was read, but its script did not run", "See the lines above")]
            found = [good_finding(f"A page that needs JavaScript was read in {took:.1f} s, browser start included")]
            browsers = services.browsers.status().browsers
            if browsers and all(browser.sandboxed for browser in browsers):
                found.append(good_finding("Chromium runs in its sandbox"))
            elif browsers:
                text = "Chromium runs without its sandbox: it does not support root, or this host forbids it"
                remedy = "Run as an ordinary user, where unprivileged user namespaces are allowed"
                found.append(poor_finding(text, remedy))
            return [*found, *await _check_page_tools(services, port)]


async def _check_page_tools(services: Services, port: int) -> list[Finding]:
    """Report if a page can offer tools in `browse`: a later Chromium may end or change the trial of them."""
    if services.settings.page_tools == "off":
        return []
    # Pages of this machine are a secure context without a certificate, which tools need.
    steps = check_steps([f"open http://127.0.0.1:{port}/", "close"], has_session=False)
    try:
        opened = (await services.browsing.run(steps, None, principal="doctor", deadline_s=_LOCAL_LIMIT_S)).steps[0]
    except ScraperError as error:
        return [poor_finding(f"browse could not open a page: {error.sentence()}")]
    if "tool trial()" in opened.outcome.content:
        return [good_finding("Tools of pages work in browse")]
    return [poor_finding("Tools of pages do not work in browse with this Chromium", "search-mcp install-browser")]


async def read_web_page(settings: Settings) -> list[Finding]:
    """Read a web page; a failure is only a warning."""
    fresh = dataclasses.replace(settings, cache_mb=0, shared_url=None, database_url=None, robots="off")
    async with Services.open(fresh) as services:
        try:
            await services.fetcher.fetch(ReadRequest(_WEB_PAGE, render="http", deadline_s=20.0))
        except ScraperError as error:
            return [
                poor_finding(
                    f"The web could not be reached: {error}",
                    "Check the network and DNS of this machine, or set SEARCH_MCP_PROXY if there is a proxy",
                )
            ]
        return [good_finding(f"{_WEB_PAGE} was read")]
