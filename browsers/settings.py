"""What an operator can choose about the browsers; read elsewhere, passed in here."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

_CORES = os.cpu_count() or 2


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """Settings of one `Browsers`."""

    light_executable: str | None = None
    """chromium-headless-shell; None looks for it."""
    full_executable: str | None = None
    """chromium; None looks for it."""
    allow_nets: tuple[str, ...] = ()
    """Networks in CIDR form that may be visited although they are not public."""
    test_hosts: tuple[tuple[str, str, int], ...] = ()
    """(host name, address, port): the name is served from there. For tests and demonstrations only."""
    proxy: str | None = None
    """http://, socks5:// URL of an upstream proxy, credentials included."""
    proxy_dns: str = "remote"
    """`remote`: the upstream resolves names. `local`: we do, and send it the judged address."""
    language: str = "en-US"
    timezone: str | None = None
    """IANA zone that pages see; None takes the host's, unless that is UTC."""
    peek_slots: int = min(4 * _CORES, 16)
    """Peeks at once: measured flat in CPU up to 32, so more only adds latency."""
    render_slots: int = min(2 * _CORES, 8)
    """Renders at once; waits overlap, so twice the cores."""
    queue_limit: int = 64
    """Visits that may wait for a slot; beyond, `Busy`."""
    warm_tabs: int = 2
    """Finished tabs kept ready per browser (15 MB each)."""
    renders_per_browser: int = 500
    peeks_per_browser: int = 5000
    peeks_per_tab: int = 1_000
    """A peek leaves nothing in its tab (0.12 MB where Chromium makes a frame for each: decision 006)."""
    browser_age_s: float = 1800.0
    browser_memory_bytes: int = 1_200_000_000
    """Proportional set size of a browser's process tree above which it is replaced."""
    housekeeping_s: float = 5.0
    """Between two looks at age, wear and memory of the browsers."""
    full_idle_s: float = 120.0
    """The full tier is stopped after this long without work."""
    test_key_pin: str | None = None
    """SHA-256 (base64) of the one public key whose certificate is trusted whoever signed it: that of a server
    behind `test_hosts`."""
    ignore_certificate_errors: bool = False
    """Only ever set by tests that serve TLS under made-up names."""
    extra_switches: tuple[str, ...] = field(default=())
