"""Settings of the browsers: those that an operator can change, internal limits, and switches for tests."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from browsers.model import ThirdParties
from browsers.request_signing import RequestSigner

_CORES = os.cpu_count() or 2


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """Settings of one `Browsers` object."""

    light_executable: str | None = None
    """Path of chromium-headless-shell. None searches for it."""
    full_executable: str | None = None
    """Path of chromium. None searches for it."""
    allow_nets: tuple[str, ...] = ()
    """Networks in CIDR form that may be visited although they are not public."""
    test_hosts: tuple[tuple[str, str, int], ...] = ()
    """Triples (host name, address, port): the address and port serve the host. Only for tests and demonstrations."""
    proxy: str | None = None
    """URL of an upstream proxy with scheme http:// or socks5://, including credentials."""
    proxy_dns: str = "remote"
    """`remote`: the upstream proxy resolves names. `local`: this server does and sends the proxy a checked address."""
    third_parties: str = ThirdParties.CONTENT_ONLY
    """Value of `ThirdParties` for all pages. A request may exclude more third parties."""
    filter_lists: tuple[Path, ...] = ()
    """Files in the syntax of EasyList. Their hosts are refused too."""
    language: str = "en-US"
    timezone: str | None = None
    """IANA time zone that pages see. None means the time zone of the host, unless it is UTC."""
    peek_slots: int = min(4 * _CORES, 16)
    """Maximum of simultaneous peeks. CPU was flat up to 32, so more would only add latency."""
    render_slots: int = min(2 * _CORES, 8)
    """Maximum of simultaneous renders: twice the cores, because renders mostly wait."""
    max_slots: int = 0
    """Most simultaneous peeks, and renders, while CPU and memory are free. It never reduces the two numbers above."""
    queue_limit: int = 64
    """Maximum of visits that wait for a slot. Further visits fail with `BusyError`."""
    warm_tabs: int = 2
    """Number of prepared tabs per browser (15 MB each)."""
    renders_per_browser: int = 500
    peeks_per_browser: int = 5000
    """Maximum of renders, and of peeks, after which a browser is replaced."""
    peeks_per_tab: int = 1_000
    """A peek leaves nothing in its tab. It costs 0.12 MB where Chromium creates a frame for each (decision 006)."""
    browser_age_s: float = 1800.0
    """Seconds after which a browser is replaced."""
    browser_memory_bytes: int = 1_200_000_000
    """Maximum proportional set size of the process tree, in bytes. A larger browser is replaced."""
    page_memory_bytes: int = 600_000_000
    """Maximum bytes of resident memory of a renderer. A page that needs more is ended and returned unrendered."""
    housekeeping_s: float = 5.0
    """Seconds between checks of age, use and memory of the browsers."""
    full_idle_s: float = 120.0
    """Seconds without visits after which the browser of the full tier is stopped."""
    session_idle_s: float = 120.0
    """Seconds without a call after which an acting session ends."""
    session_lifetime_s: float = 900.0
    """Maximum age of an acting session in seconds; a running call is finished first."""
    session_id_bytes: int = 16
    """Random bytes in the id of a session. Only callers that cannot reach other sessions need no more than three."""
    page_tools: str = "on"
    """Value of `PageToolsMode`. With `off`, no document can offer tools to agents; else, those of sessions can."""
    signer: RequestSigner | None = None
    """Identity that signs the requests of documents; None to look like a usual browser."""
    test_key_pin: str | None = None
    """SHA-256 (base64) of the public key of a server behind `test_hosts`, trusted regardless of its issuer."""
    ignore_certificate_errors: bool = False
    """True to accept any certificate. Only for tests that serve TLS for made-up names."""
    visible: bool = False
    """True to show the windows, for a person who signs in."""
    extra_switches: tuple[str, ...] = field(default=())
    """Further command-line switches of Chromium."""
