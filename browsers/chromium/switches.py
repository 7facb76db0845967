"""Command-line switches and environment of each tier's Chromium; `switches.toml` has the reason for each switch.

Playwright puts its own defaults before ours, and Chromium uses the last of repeated switches. The two lists of
features and `--blink-settings` therefore repeat the required values of Playwright.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

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

_TABLE = tomllib.loads(files(__package__).joinpath("switches.toml").read_text(encoding="utf-8"))
DISABLED_FEATURES, ENABLED_FEATURES = _TABLE["disabled_features"], _TABLE["enabled_features"]
UNWANTED_DEFAULTS = _TABLE["unwanted_defaults"]
_DESK = (f"--screen-info={{{SCREEN_WIDTH}x{SCREEN_HEIGHT} workAreaBottom={TASKBAR_HEIGHT}}}",)
# Window sizes of a real desktop: inner <= outer <= available <= screen. Headless Chromium's default of 800 x 600
# reveals it, and so does any emulated viewport.
_FULL_WINDOW = f"--window-size={SCREEN_WIDTH},{SCREEN_HEIGHT - TASKBAR_HEIGHT}"
_LIGHT_WINDOW = f"--window-size={LIGHT_WIDTH},{LIGHT_HEIGHT}"
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
    blink_settings = _TABLE["mouse"] | (_TABLE["no_images"] if light else {})
    args = [
        f"--proxy-server={DEAD_PROXY}",
        *_TABLE["every_browser"],
        # As switches, these also reach shared and service workers.
        f"--user-agent={identity.user_agent}",
        f"--lang={identity.language}",
        f"--accept-lang={identity.accept_language()}",
        *_DESK,
        _LIGHT_WINDOW if light else _FULL_WINDOW,
        *(_TABLE["light"] if light else ()),
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
    unwanted = (*UNWANTED_DEFAULTS, *((_SMALL_SHARED_MEMORY,) if has_shared_memory else ()))
    # Time zone, language and the inherited variables. Secrets of this process are left out.
    names = _INHERITED_VARIABLES | DISPLAY if settings.visible else _INHERITED_VARIABLES
    variables = identity.host.environment.items()
    inherited = {k: v for k, v in variables if k in names or k.startswith(_INHERITED_PREFIXES)}
    locale = format_posix_locale(identity.language)
    # Names of downloads need an encoding, and few machines have every locale.
    texts = {"LANG": locale, "LANGUAGE": locale.partition(".")[0], "LC_ALL": "C.UTF-8"}
    environment = inherited | {"TZ": identity.timezone, **texts}
    return LaunchPlan((*args, *settings.extra_switches), unwanted, environment, headless=not settings.visible)
