"""The test site under its own host names, mapped by our settings or, for Playwright, by a Chromium option."""

from __future__ import annotations

import dataclasses
import logging

from benchmarks.common.contender import Contender
from benchmarks.peers.launch import peer
from browsers.settings import BrowserSettings
from tests.site.running import Site


def mapped_settings(site: Site) -> BrowserSettings:
    """Return browser settings that resolve the host names of the site."""
    # Hide the warning for each mapped name: here the mappings are intended.
    logging.getLogger("browsers.egress").setLevel(logging.ERROR)
    return BrowserSettings(test_hosts=site.test_hosts)


def mapped_playwright(site: Site) -> Contender:
    """Return plain Playwright with the host names of the site mapped."""
    rules = ",".join(f"MAP {name} {address}:{port}" for name, address, port in site.test_hosts)
    return dataclasses.replace(peer("playwright", f"--hosts={rules}"), name="playwright networkidle")
