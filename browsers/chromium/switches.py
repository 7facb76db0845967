"""How each tier's Chromium is started: every switch with its reason, and the environment it runs in.

Playwright puts its own defaults before ours, and of a switch given twice Chromium keeps the last: so
the two lists of features and `--blink-settings` repeat what is wanted of Playwright's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from browsers.identity.fingerprint import (
    LIGHT_HEIGHT,
    LIGHT_WIDTH,
    SCREEN_HEIGHT,
    SCREEN_WIDTH,
    TASKBAR_HEIGHT,
    BrowserHost,
    BrowserIdentity,
)
from browsers.identity.locales import format_posix_locale
from browsers.model import Tier
from browsers.settings import BrowserSettings

DEAD_PROXY = "socks5://127.0.0.1:9"
"""Nobody listens on the discard port: what does not go through a context's own gate goes nowhere."""

EGRESS = (
    f"--proxy-server={DEAD_PROXY}",
    # Chromium goes past every proxy for loopback, unless this takes it back.
    "--proxy-bypass-list=<-loopback>",
    # The browser resolves nothing itself; the exclusion is the address of the proxies.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # No UDP past the proxy. The light tier obeys only the first form, the full tier only the second: with
    # either one missing, three ways out were open on one of the tiers.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # No HTTP/3 and no WebTransport, which are UDP.
    "--disable-quic",
    # Nothing is asked of the network that the page itself did not ask.
    "--no-pings",
    "--dns-prefetch-disable",
    "--disable-domain-reliability",
)

QUIET = (
    # Every message of every page's console goes to stderr, and from there through Playwright's driver: a page
    # that writes 100,000 of them took 1.1 s of the browser's CPU and 0.4 s of the driver's. Errors remain.
    "--log-level=2",
)

PERSON = (
    # Without it navigator.webdriver is true, because a debugging pipe is open.
    "--disable-blink-features=AutomationControlled",
)

DESK = (f"--screen-info={{{SCREEN_WIDTH}x{SCREEN_HEIGHT} workAreaBottom={TASKBAR_HEIGHT}}}",)
# Windows that a desktop could have: inner <= outer <= available <= screen. Headless Chromium's own 800 x 600
# is a sign of it, and so is any emulated viewport.
FULL_WINDOW = f"--window-size={SCREEN_WIDTH},{SCREEN_HEIGHT - TASKBAR_HEIGHT}"
LIGHT_WINDOW = f"--window-size={LIGHT_WIDTH},{LIGHT_HEIGHT}"

LIGHT = (
    # Fonts change no text. With images off: 250 -> 185 ms CPU for a JavaScript page. The full tier loads
    # both, as people do.
    "--disable-remote-fonts",
    # A page that hoards memory dies at 361 MB after 2.4 s, instead of taking the machine with it.
    "--js-flags=--max-old-space-size=256",
    # The tabs of a context share a process, which none does with another context (browsers/series.py).
    "--renderer-process-limit=1",
    # The headless shell has no popup blocker: eight window.open were eight windows and 350 ms instead of 55.
    "--block-new-web-contents",
)

MOUSE = {
    # Playwright's own: a mouse is there. Headless Chromium has none, and pages would serve their touch form.
    "primaryHoverType": "2",
    "availableHoverTypes": "2",
    "primaryPointerType": "4",
    "availablePointerTypes": "4",
}
NO_IMAGES = {"loadsImagesAutomatically": "false"}
"""Images stay in the DOM with their address; the bytes are not fetched, and neither load nor error fires.

`imagesEnabled=false` costs the same, but withholds data: images too, and pages wait for those to learn which
formats the browser reads. A page whose text waits for a real image comes out thin: one for the full tier.
"""

DISABLED_FEATURES = (
    # --- Playwright's, for reasons that are ours too.
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    # http:// stays http://: the address asked for is the one visited.
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    # Looks for screens in the local network by multicast.
    "MediaRouter",
    # Holds back the first frame of a new page.
    "PaintHolding",
    # Aborts redirected requests of pages that are intercepted, as ours are.
    "AvoidCorsURLLoaderRestartOnRedirect",
    # Each asks servers of Google's for something at the start.
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    # --- Playwright's ThirdPartyStoragePartitioning is left out: people's browsers do partition.
    # --- Ours. Every window of the full tier loads two hidden pages for suggestions under the address bar, in
    # a renderer of their own: without them a page in a fresh context costs 400 ms CPU instead of 700.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    # A renderer kept in reserve, by profile: thrown away unused with each context; another 50 ms.
    "SpareRendererForSitePerProcess",
    # Keeps a list of sites that only pass visitors on, to delete their data after an hour: a tab of ours is
    # gone by then. A tenth of the browser's CPU for a peek.
    "DIPS",
    # Patterns of scripts that half the web uses, of which contexts share a cached copy. Each context compiles
    # them for its first request: 3.5-6 ms of the 200 of a JavaScript page, before the request goes out.
    "CacheSharingForPervasiveResources",
)

ENABLED_FEATURES = (
    # --- Playwright's, so that no account server of Google's is asked.
    "SkipListAccountsWithoutGaiaCookies",
    # --- Ours. The network service on a thread instead of a process, which on Linux has no sandbox of its own
    # anyway: 8 % of the CPU of a peek, and 12 MB.
    "NetworkServiceInProcess2",
    # A frame for the page is made when its response goes on, not ahead of it. A peek ends there, and the
    # frame, with a view, a compositor and a surface of the GPU process, was thrown away: 60 % of the
    # browser's CPU for a peek (decision 006). A tab that holds no page yet needs no such frame; others do.
    "DeferSpeculativeRFHCreation:create_speculative_rfh_delay_ms/60000",
)

UNWANTED_DEFAULTS = (
    # Not among the defaults of every version of Playwright: an infobar, and navigator.webdriver.
    "--enable-automation",
    # A desktop has scrollbars.
    "--hide-scrollbars",
    # A page that opens windows without being asked shall not get them.
    "--disable-popup-blocking",
    # Chromium's own brake on pages that flood it: 20,000 pushState cost 230 ms instead of 290.
    "--disable-ipc-flooding-protection",
)

SMALL_SHARED_MEMORY = "--disable-dev-shm-usage"
ENOUGH_SHARED_MEMORY_BYTES = 512 * 1024 * 1024
"""Containers have 64 MB by default, and Chromium crashes when it is full: below this, files serve instead."""

INHERITED = frozenset(
    {"CHROME_DEVEL_SANDBOX", "HOME", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "USER"}
)
INHERITED_PREFIXES = ("DYLD_", "FONTCONFIG_", "LD_", "NIX_", "XDG_")


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What `chromium.launch` is given: `args`, `ignore_default_args` and `env`."""

    args: tuple[str, ...]
    ignore_default_args: tuple[str, ...]
    env: Mapping[str, str]
    """The whole environment of the process, not an addition to ours."""


def plan_launch(tier: Tier, identity: BrowserIdentity, settings: BrowserSettings) -> LaunchPlan:
    """How to start a browser of this tier as this person.

    The dead proxy is among `args`: Playwright's own `proxy` option would add a second set of resolver
    rules, in literal quotes. Whether the sandbox is on is the caller's choice (`chromium_sandbox`).
    """
    light = tier is Tier.LIGHT
    args = (
        *EGRESS,
        *QUIET,
        *PERSON,
        *_speech(identity),
        *DESK,
        LIGHT_WINDOW if light else FULL_WINDOW,
        *(LIGHT if light else ()),
        _blink_settings(MOUSE | NO_IMAGES if light else MOUSE),
        f"--disable-features={','.join(DISABLED_FEATURES)}",
        f"--enable-features={','.join(ENABLED_FEATURES)}",
        *_certificates(settings),
        *settings.extra_switches,
    )
    return LaunchPlan(args, _unwanted(identity.host), _environment(identity))


def _speech(identity: BrowserIdentity) -> tuple[str, ...]:
    """Name and language as switches, which reach shared and service workers as well as pages."""
    return (
        f"--user-agent={identity.user_agent}",
        f"--lang={identity.language}",
        f"--accept-lang={identity.accept_language()}",
    )


def _blink_settings(settings: Mapping[str, str]) -> str:
    return "--blink-settings=" + ",".join(f"{name}={value}" for name, value in settings.items())


def _certificates(settings: BrowserSettings) -> tuple[str, ...]:
    if settings.ignore_certificate_errors:
        return ("--ignore-certificate-errors",)
    # For this one key alone: whoever does not hold it is refused as ever.
    pin = settings.test_key_pin
    return (f"--ignore-certificate-errors-spki-list={pin}",) if pin else ()


def _unwanted(host: BrowserHost) -> tuple[str, ...]:
    roomy = host.shared_memory_bytes >= ENOUGH_SHARED_MEMORY_BYTES
    return (*UNWANTED_DEFAULTS, SMALL_SHARED_MEMORY) if roomy else UNWANTED_DEFAULTS


def _environment(identity: BrowserIdentity) -> dict[str, str]:
    """Zone and language for every process of the browser, and none of the secrets that ours may hold."""
    kept = {
        name: value
        for name, value in identity.host.environment.items()
        if name in INHERITED or name.startswith(INHERITED_PREFIXES)
    }
    locale = format_posix_locale(identity.language)
    return kept | {"TZ": identity.timezone, "LANG": locale, "LANGUAGE": locale.partition(".")[0]}
