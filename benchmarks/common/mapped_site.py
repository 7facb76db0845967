"""The test site under its own host names, for us by our host mapping, for Playwright by Chromium's."""

from __future__ import annotations

import dataclasses
import logging

from benchmarks.common.contender import Contender
from benchmarks.peers.launch import peer
from browsers.settings import BrowserSettings
from tests.site.running import Site


def mapped_settings(site: Site) -> BrowserSettings:
    """Return browser settings that resolve the host names of the site."""
    # Each mapped name is warned of, rightly so; here all of them are meant.
    logging.getLogger("browsers.egress").setLevel(logging.ERROR)
    return BrowserSettings(test_hosts=site.test_hosts)


def mapped_playwright(site: Site) -> Contender:
    """Plain Playwright that finds the site's host names."""
    rules = ",".join(f"MAP {name} {address}:{port}" for name, address, port in site.test_hosts)
    return dataclasses.replace(peer("playwright", f"--hosts={rules}"), name="playwright networkidle")
