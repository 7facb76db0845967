"""Open the hostile pages through `Browsers`, and through a plain browser without the egress proxy."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Error, async_playwright

from browsers import Browsers, BrowserSettings, Mode, Request, Tier, VisitLimits
from browsers.chromium.locate import find_chromium
from browsers.egress.dns_resolver import DnsResolver
from browsers.egress.target_policy import SYNTHETIC
from browsers.egress.tcp_dialer import ConnectFunction, OpenConnection
from browsers.egress.traffic_log import ConnectionDeniedError
from browsers.errors import BrowsersError
from tests.hostile.attack_run import host_of
from tests.hostile.site import HostileSite
from tests.hostile.spellings import PRIVATE_NAMES

NEVER = "#never-there"
"""Selector that never matches, so that a page stays open until its time is up."""
GRACE_S = 60.0
GOTO_LIMIT_S = 6.0
IMAGES = "--blink-settings=imagesEnabled=true"
"""Switch that loads images, which the light tier does not."""
PUBLIC = str(SYNTHETIC[1])
"""Made-up address of the first test host: public to the policy."""


class HostileNames(DnsResolver):
    """A resolver that answers with local addresses: at once, among others, or at the second query."""

    def __init__(self) -> None:
        self._rebound = False

    def resolve(self, host: str) -> Sequence[str]:
        if host == PRIVATE_NAMES["name-private"]:
            return ["127.0.0.1"]
        if host == PRIVATE_NAMES["name-mixed"]:
            return [PUBLIC, "127.0.0.1"]
        if host == PRIVATE_NAMES["name-mapped6"]:
            return ["::ffff:127.0.0.1"]
        if host == PRIVATE_NAMES["rebind"]:
            first, self._rebound = not self._rebound, True
            return [PUBLIC] if first else ["127.0.0.1"]
        raise OSError("no such name")


def recording(connect: ConnectFunction, refused: set[int]) -> ConnectFunction:
    """Record refused ports: proof that the pages tried."""

    async def connect_and_record(host: str, port: int) -> OpenConnection:
        try:
            return await connect(host, port)
        except ConnectionDeniedError:
            refused.add(port)
            raise

    return connect_and_record


class ProxiedBrowser:
    """The product's browsers. A refused page is the expected result."""

    def __init__(self, browsers: Browsers, refused: set[int], tier: Tier, mode: Mode) -> None:
        self.refused = refused
        """Ports to which the proxy refused connections."""
        self._browsers = browsers
        self._tier = tier
        self._mode = mode

    async def open(self, url: str, hold_s: float) -> str:
        limits = VisitLimits(readiness_s=hold_s)
        request = Request(url, tier=self._tier, mode=self._mode, wait=NEVER, limits=limits, deadline_s=hold_s + GRACE_S)
        try:
            await self._browsers.visit(request)
        except BrowsersError as error:
            return f"{type(error).__name__}: {error}"
        return ""


class DirectBrowser:
    """A plain browser that resolves the hostile names by itself."""

    def __init__(self, browser: Browser) -> None:
        self.refused: set[int] = set()
        self._browser = browser

    async def open(self, url: str, hold_s: float) -> str:
        context = await self._browser.new_context(accept_downloads=False, ignore_https_errors=True)
        try:
            page = await context.new_page()
            with contextlib.suppress(Error):
                await page.goto(url, wait_until="load", timeout=GOTO_LIMIT_S * 1000)
            await asyncio.sleep(hold_s)
        except Error as error:
            return str(error).splitlines()[0]
        finally:
            await context.close()
        return ""


@asynccontextmanager
async def proxied_browser(
    site: HostileSite, cases: int, tier: Tier, mode: Mode = Mode.RENDER
) -> AsyncIterator[ProxiedBrowser]:
    """Open `Browsers` with the site's hosts mapped and a hostile resolver."""
    settings = BrowserSettings(
        test_hosts=tuple((host_of(number), "127.0.0.1", site.port) for number in range(cases)),
        ignore_certificate_errors=True,
        extra_switches=(IMAGES, _secure_origins(site, cases)),
        render_slots=8,
    )
    browsers = Browsers(settings)
    # Replace what settings cannot: the resolver, the lifetime of its answers, and the connector.
    refused: set[int] = set()
    egress = browsers._egress
    egress._resolver._names, egress._resolver._ttl_s = HostileNames(), 0.0
    egress._connect = recording(egress._connect, refused)
    async with browsers:
        yield ProxiedBrowser(browsers, refused, tier, mode)


@asynccontextmanager
async def direct_browser(site: HostileSite, cases: int, tier: Tier) -> AsyncIterator[DirectBrowser]:
    """Start a Chromium of the same tier, without proxy."""
    found = find_chromium(tier, None)
    assert found is not None, f"no Chromium for the {tier} tier"
    mapped = [f"MAP {host_of(number)} 127.0.0.1:{site.port}" for number in range(cases)]
    near = [f"MAP {name} 127.0.0.1" for name in PRIVATE_NAMES.values()]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=found.executable,
            args=[
                "--no-sandbox",
                "--host-resolver-rules=" + ",".join(mapped + near),
                _secure_origins(site, cases),
                *(["--headless=new"] if tier is Tier.FULL else []),
            ],
        )
        try:
            yield DirectBrowser(browser)
        finally:
            await browser.close()


def _secure_origins(site: HostileSite, cases: int) -> str:
    """Return a switch that treats the sites as secure origins, which service workers need."""
    origins = ",".join(f"{site.scheme}://{host_of(number)}" for number in range(cases))
    return f"--unsafely-treat-insecure-origin-as-secure={origins}"
