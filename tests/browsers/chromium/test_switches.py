"""Chromium's switches: required ones, forbidden ones, and reviewed defaults of Playwright."""

from __future__ import annotations

import contextlib

import psutil
import pytest
from playwright.async_api import async_playwright

from browsers import BrowserSettings, Tier
from browsers.chromium.locate import find_chromium
from browsers.chromium.switches import DISABLED_FEATURES, ENABLED_FEATURES, UNWANTED_DEFAULTS, LaunchPlan, plan_launch
from browsers.identity.fingerprint import BrowserHost, BrowserIdentity

HOST = BrowserHost(timezone="Europe/Paris", environment={"PATH": "/usr/bin", "HOME": "/home/reader"})
BOTH_TIERS = pytest.mark.parametrize("tier", list(Tier))

NEVER = frozenset(
    {
        "--allow-file-access-from-files",
        "--disable-hang-watcher",
        "--disable-threaded-compositing",
        "--disable-web-security",
        "--enable-automation",
        "--ignore-certificate-errors",
        "--no-sandbox",
        "--no-zygote",
        "--remote-allow-origins",
        "--remote-debugging-port",
        "--single-process",
    }
)

KNOWN_DEFAULTS = frozenset(
    {
        "--allow-pre-commit-input",
        "--blink-settings",
        "--disable-back-forward-cache",
        "--disable-background-networking",
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-breakpad",
        "--disable-component-extensions-with-background-pages",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-edgeupdater",
        "--disable-extensions",
        "--disable-features",
        "--disable-field-trial-config",
        "--disable-hang-monitor",
        "--disable-infobars",
        "--disable-prompt-on-repost",
        "--disable-renderer-backgrounding",
        "--disable-search-engine-choice-screen",
        "--disable-stack-profiler",
        "--disable-sync",
        "--disable-updater-scheduler",
        "--do-not-de-elevate",
        "--edge-skip-compat-layer-relaunch",
        "--enable-features",
        "--enable-unsafe-swiftshader",
        "--force-color-profile",
        "--headless",
        "--metrics-recording-only",
        "--mute-audio",
        "--no-default-browser-check",
        "--no-first-run",
        "--no-sandbox",
        "--no-service-autorun",
        "--no-startup-window",
        "--password-store",
        "--remote-debugging-pipe",
        "--unsafely-disable-devtools-self-xss-warnings",
        "--use-mock-keychain",
        "--user-data-dir",
    }
)
"""Reviewed defaults of Playwright."""

LEFT_OUT_FEATURES = frozenset(
    {
        "CDPScreenshotNewSurface",  # we take no pictures
        "TcpPortRandomizationWin",  # Windows
        "ThirdPartyStoragePartitioning",  # people's browsers partition
        "msEdgeUpdateLaunchServicesPreferredVersion",  # Edge
        "msForceBrowserSignIn",
    }
)


def planned(tier: Tier, settings: BrowserSettings | None = None, host: BrowserHost = HOST) -> LaunchPlan:
    settings = settings or BrowserSettings()
    return plan_launch(tier, BrowserIdentity.of("Chromium 156.0.8078.79", tier, settings, host), settings)


def name(switch: str) -> str:
    return switch.partition("=")[0]


def value(launch: LaunchPlan, switch: str) -> str:
    return next(arg.partition("=")[2] for arg in launch.args if name(arg) == switch)


@BOTH_TIERS
def test_no_switch_bypasses_the_egress_rules(tier: Tier) -> None:
    assert {name(arg) for arg in planned(tier).args} & NEVER == set()


@BOTH_TIERS
def test_no_switch_is_repeated(tier: Tier) -> None:
    names = [name(arg) for arg in planned(tier).args]
    assert len(names) == len(set(names))


@BOTH_TIERS
def test_all_traffic_is_proxied(tier: Tier) -> None:
    launch = planned(tier)
    assert value(launch, "--proxy-server") == "socks5://127.0.0.1:9"
    assert value(launch, "--proxy-bypass-list") == "<-loopback>"
    assert value(launch, "--host-resolver-rules") == "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
    assert value(launch, "--webrtc-ip-handling-policy") == "disable_non_proxied_udp"
    assert value(launch, "--force-webrtc-ip-handling-policy") == "disable_non_proxied_udp"
    assert "--disable-quic" in launch.args


def test_only_the_light_tier_skips_images_fonts_memory_and_popups() -> None:
    light, full = planned(Tier.LIGHT), planned(Tier.FULL)
    spared = {"--disable-remote-fonts", "--js-flags", "--block-new-web-contents"}
    assert spared <= {name(arg) for arg in light.args}
    assert spared & {name(arg) for arg in full.args} == set()
    assert "loadsImagesAutomatically=false" in value(light, "--blink-settings")
    assert "loadsImagesAutomatically" not in value(full, "--blink-settings")


@BOTH_TIERS
def test_a_mouse_is_emulated(tier: Tier) -> None:
    assert "primaryHoverType=2" in value(planned(tier), "--blink-settings")


@BOTH_TIERS
def test_window_switch_fits_the_screen_switch(tier: Tier) -> None:
    launch = planned(tier)
    width, height = map(int, value(launch, "--window-size").split(","))
    assert (width, height) == ((1280, 900) if tier is Tier.LIGHT else (1920, 1040))
    assert value(launch, "--screen-info") == "{1920x1080 workAreaBottom=40}"


@BOTH_TIERS
def test_switches_and_environment_have_the_same_language(tier: Tier) -> None:
    launch = planned(tier, BrowserSettings(language="de-DE"))
    assert value(launch, "--lang") == "de-DE"
    assert value(launch, "--accept-lang") == "de-DE,de,en-US,en"
    assert launch.env["LANG"] == "de_DE.UTF-8"
    assert launch.env["LANGUAGE"] == "de_DE"
    assert launch.env["TZ"] == "Europe/Paris"


def test_browser_does_not_inherit_secrets() -> None:
    secrets = {"SEARCH_MCP_PROXY": "socks5://user:password@proxy", "AWS_SECRET_ACCESS_KEY": "x", "http_proxy": "x"}
    noise = {"LC_ALL": "C", "LANGUAGE": "fr", "TZ": "UTC"}
    host = BrowserHost(timezone="Europe/Paris", environment={**HOST.environment, **secrets, **noise})
    assert planned(Tier.FULL, host=host).env == {
        "PATH": "/usr/bin",
        "HOME": "/home/reader",
        "TZ": "Europe/Paris",
        "LANG": "en_US.UTF-8",
        "LANGUAGE": "en_US",
        "LC_ALL": "C.UTF-8",
    }


def test_shared_memory_is_used_where_there_is_enough() -> None:
    roomy = BrowserHost(shared_memory_bytes=2**30)
    container = BrowserHost(shared_memory_bytes=64 * 2**20)
    assert "--disable-dev-shm-usage" in planned(Tier.LIGHT, host=roomy).ignore_default_args
    assert "--disable-dev-shm-usage" not in planned(Tier.LIGHT, host=container).ignore_default_args


def test_configured_switches_come_last() -> None:
    launch = planned(Tier.LIGHT, BrowserSettings(extra_switches=("--js-flags=--max-old-space-size=512",)))
    assert launch.args[-1] == "--js-flags=--max-old-space-size=512"


def test_certificate_errors_are_ignored_only_if_configured() -> None:
    launch = planned(Tier.LIGHT, BrowserSettings(ignore_certificate_errors=True))
    assert "--ignore-certificate-errors" in launch.args


@pytest.mark.browser
async def test_playwright_adds_only_reviewed_switches() -> None:
    found = find_chromium(Tier.LIGHT, None) or find_chromium(Tier.FULL, None)
    assert found is not None
    async with async_playwright() as playwright:
        before = _chromiums(found.executable)
        browser = await playwright.chromium.launch(
            executable_path=found.executable, ignore_default_args=list(UNWANTED_DEFAULTS)
        )
        started = [line for pid, line in _chromiums(found.executable).items() if pid not in before]
        # A child has the command line of its parent until it executes another program.
        command = started[0]
        assert all(line == command for line in started)
        await browser.close()
    assert {name(arg) for arg in command} - KNOWN_DEFAULTS - {"--disable-dev-shm-usage"} == set()
    features = {
        feature
        for arg in command
        if name(arg) in {"--disable-features", "--enable-features"}
        for feature in arg.partition("=")[2].split(",")
    }
    assert features - {*DISABLED_FEATURES, *ENABLED_FEATURES} - LEFT_OUT_FEATURES == set()


def _chromiums(executable: str) -> dict[int, list[str]]:
    """Return the switches of each descendant process with this executable, by process id."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            program, *switches = process.cmdline() or [""]
            if program == executable and not any(arg.startswith("--type=") for arg in switches):
                found[process.pid] = [arg for arg in switches if arg]
    return found
