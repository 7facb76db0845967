"""Command-line switches and environment of each tier's Chromium, with the reason for each switch.

Playwright puts its own defaults before ours, and Chromium uses the last of repeated switches. The two lists of
features and `--blink-settings` therefore repeat the required values of Playwright.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from browsers.chromium.page_tools_trial import trial_switch
from browsers.identity.fingerprint import (
    LIGHT_HEIGHT,
    LIGHT_WIDTH,
    SCREEN_HEIGHT,
    SCREEN_WIDTH,
    TASKBAR_HEIGHT,
    BrowserIdentity,
    format_posix_locale,
)
from browsers.model import Tier
from browsers.settings import BrowserSettings

DEAD_PROXY = "socks5://127.0.0.1:9"
"""Proxy URL on which no server listens (the discard port): it blocks traffic outside a context's proxy listener."""

_EGRESS = (
    f"--proxy-server={DEAD_PROXY}",
    # Chromium bypasses every proxy for loopback unless this removes the rule.
    "--proxy-bypass-list=<-loopback>",
    # The browser resolves nothing itself. The exclusion is the address of the proxies.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # No UDP outside the proxy. The light tier obeys only the first form, the full tier only the second: without either
    # one, three attacks worked on one of the tiers.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # No HTTP/3 and no WebTransport, which are UDP.
    "--disable-quic",
    # No requests that the page did not make.
    "--no-pings",
    "--dns-prefetch-disable",
    "--disable-domain-reliability",
)

_QUIET = (
    # Every console message goes to stderr and through Playwright's driver: a page that writes 100,000 of them took 1.1
    # s of the browser's CPU and 0.4 s of the driver's. Errors remain.
    "--log-level=2",
)

_PERSON = (
    # Without it navigator.webdriver is true, because a debugging pipe is open.
    "--disable-blink-features=AutomationControlled",
)

_DESK = (f"--screen-info={{{SCREEN_WIDTH}x{SCREEN_HEIGHT} workAreaBottom={TASKBAR_HEIGHT}}}",)
# Window sizes of a real desktop: inner <= outer <= available <= screen. Headless Chromium's default of 800 x 600
# reveals it, and so does any emulated viewport.
_FULL_WINDOW = f"--window-size={SCREEN_WIDTH},{SCREEN_HEIGHT - TASKBAR_HEIGHT}"
_LIGHT_WINDOW = f"--window-size={LIGHT_WIDTH},{LIGHT_HEIGHT}"

LIGHT = (
    # Fonts do not change the text. With images off: 250 -> 185 ms CPU for a JavaScript page. The full tier loads both,
    # like normal users.
    "--disable-remote-fonts",
    # A page that uses too much memory crashes at 361 MB after 2.4 s, instead of exhausting the machine.
    "--js-flags=--max-old-space-size=256",
    # The tabs of a context share a process, which no other context uses (browsers/pool/browser_handle.py).
    "--renderer-process-limit=1",
    # The headless shell has no popup blocker: eight window.open opened eight windows and took 350 ms instead of 55.
    "--block-new-web-contents",
)

_MOUSE = {
    # Playwright's value: a mouse exists. Headless Chromium has none, and pages would show their touch layout.
    "primaryHoverType": "2",
    "availableHoverTypes": "2",
    "primaryPointerType": "4",
    "availablePointerTypes": "4",
}
_NO_IMAGES = {"loadsImagesAutomatically": "false"}
"""Blink settings that keep images in the DOM with their URL, but do not load them or fire their events.

`imagesEnabled=false` costs the same but also blocks data: images, which pages use to detect supported formats. A page
whose text waits for a real image stays thin and goes to the full tier.
"""

DISABLED_FEATURES = (
    # --- Playwright's, for the same reasons.
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    # http:// stays http://: the requested URL is the one visited.
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    # Searches the local network for displays by multicast.
    "MediaRouter",
    # Delays the first frame of a new page.
    "PaintHolding",
    # Aborts redirected requests of intercepted pages.
    "AvoidCorsURLLoaderRestartOnRedirect",
    # Each sends requests to Google's servers at the start.
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    # --- Playwright's ThirdPartyStoragePartitioning is left out: normal browsers do partition. --- Ours. Every window
    # of the full tier loads two hidden pages for suggestions under the address bar, in a renderer of their own:
    # without them a page in a new context costs 400 ms CPU instead of 700.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    # A spare renderer for each profile, discarded unused with each context: another 50 ms.
    "SpareRendererForSitePerProcess",
    # Records sites that only redirect, to delete their data after an hour: our tabs are closed by then. A tenth of the
    # browser's CPU for a peek.
    "DIPS",
    # URL patterns of popular scripts, of which contexts share a cached copy. Each context compiles them for its first
    # request: 3.5-6 ms of the 200 of a JavaScript page, before the request is sent.
    "CacheSharingForPervasiveResources",
)

ENABLED_FEATURES = (
    # --- Playwright's: sends no request to Google's account server.
    "SkipListAccountsWithoutGaiaCookies",
    # --- Ours. Runs the network service on a thread instead of a process, which on Linux has no sandbox of its own
    # anyway: 8 % of the CPU of a peek, and 12 MB.
    "NetworkServiceInProcess2",
    # Creates the frame of a page when its response continues, not before. A peek ends there, and the frame, with a
    # view, a compositor and a surface of the GPU process, was discarded: 60 % of the browser's CPU for a peek
    # (decision 006). A tab without a page needs no such frame; other tabs do.
    "DeferSpeculativeRFHCreation:create_speculative_rfh_delay_ms/60000",
)

UNWANTED_DEFAULTS = (
    # Not a default of every version of Playwright: shows an infobar and sets navigator.webdriver.
    "--enable-automation",
    # A desktop has scrollbars.
    "--hide-scrollbars",
    # Pages must not open windows without user input.
    "--disable-popup-blocking",
    # Chromium's own limit for pages that flood it: 20,000 pushState took 230 ms instead of 290.
    "--disable-ipc-flooding-protection",
)

_SMALL_SHARED_MEMORY = "--disable-dev-shm-usage"
_ENOUGH_SHARED_MEMORY_BYTES = 512 * 1024 * 1024
"""Free bytes of /dev/shm. With fewer, as in containers (64 MB), files are used: Chromium would crash when full."""

_INHERITED_VARIABLES = frozenset(
    {"CHROME_DEVEL_SANDBOX", "HOME", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "USER"}
)
DISPLAY = frozenset({"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"})
"""Environment variables that a visible window needs."""
_INHERITED_PREFIXES = ("DYLD_", "FONTCONFIG_", "LD_", "NIX_", "XDG_")
"""Prefixes of environment variables that a browser inherits, in addition to `_INHERITED_VARIABLES`."""


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """Arguments of Playwright's `chromium.launch`: `args`, `ignore_default_args`, `env` and `headless`."""

    args: tuple[str, ...]
    ignore_default_args: tuple[str, ...]
    env: Mapping[str, str]
    """The complete environment of the process."""
    headless: bool = True


def plan_launch(tier: Tier, identity: BrowserIdentity, settings: BrowserSettings) -> LaunchPlan:
    """Return the switches and environment of a browser with this tier and identity.

    The unreachable proxy is in `args`, because Playwright's `proxy` option would add a second set of resolver rules in
    literal quotes. The caller decides about the sandbox (`chromium_sandbox`).
    """
    light = tier is Tier.LIGHT
    blink_settings = _MOUSE | _NO_IMAGES if light else _MOUSE
    args = [
        *_EGRESS,
        *_QUIET,
        *_PERSON,
        # As switches, these also reach shared and service workers.
        f"--user-agent={identity.user_agent}",
        f"--lang={identity.language}",
        f"--accept-lang={identity.accept_language()}",
        *_DESK,
        _LIGHT_WINDOW if light else _FULL_WINDOW,
        *(LIGHT if light else ()),
        "--blink-settings=" + ",".join(f"{name}={value}" for name, value in blink_settings.items()),
        f"--disable-features={','.join(DISABLED_FEATURES)}",
        f"--enable-features={','.join(ENABLED_FEATURES)}",
        *((trial_switch(),) if settings.page_tools != "off" else ()),
    ]
    if settings.ignore_certificate_errors:
        args.append("--ignore-certificate-errors")
    elif settings.test_key_pin:
        # Only for this one key. All other certificates are verified.
        args.append(f"--ignore-certificate-errors-spki-list={settings.test_key_pin}")
    has_shared_memory = identity.host.shared_memory_bytes >= _ENOUGH_SHARED_MEMORY_BYTES
    unwanted = (*UNWANTED_DEFAULTS, _SMALL_SHARED_MEMORY) if has_shared_memory else UNWANTED_DEFAULTS
    # Time zone, language and the inherited variables. Secrets of this process are left out.
    names = _INHERITED_VARIABLES | DISPLAY if settings.visible else _INHERITED_VARIABLES
    variables = identity.host.environment.items()
    inherited = {k: v for k, v in variables if k in names or k.startswith(_INHERITED_PREFIXES)}
    locale = format_posix_locale(identity.language)
    # Names of downloads need an encoding, and few machines have every locale.
    texts = {"LANG": locale, "LANGUAGE": locale.partition(".")[0], "LC_ALL": "C.UTF-8"}
    environment = inherited | {"TZ": identity.timezone, **texts}
    return LaunchPlan((*args, *settings.extra_switches), unwanted, environment, headless=not settings.visible)
