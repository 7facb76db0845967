"""A sample of the hostile pages through `Browsers.visit`: none reaches its canary.

Without the egress proxy most do. All of them, in both tiers, are in `python -m benchmarks.egress`.
"""

from __future__ import annotations

import pytest

from browsers import Mode, Tier
from browsers.chromium.locate import find_chromium
from tests.growth import full_size
from tests.hostile.attack_run import case_names, reached, run_attacks
from tests.hostile.browsers_under_test import direct_browser, proxied_browser
from tests.hostile.site import HostileSite
from tests.site.certificate import server_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAMPLE = case_names(quick=True)
TRIED, REACHED = 10, 11
"""Pages of the sample that try on any machine, and that succeed without protection."""
REDIRECTS = ["redirect301", "redirect302", "redirect303", "redirect307", "redirect308", "redirect-chain"]
SPELLED = [name for name in case_names() if name.startswith("spelled:")]
REBINDING = "spelled:rebind"
"""Harmless at first, and a peek runs no script that could come back."""


def _installed(tier: Tier) -> Tier:
    if find_chromium(tier, None) is None:
        pytest.skip(f"no Chromium of the {tier} tier")
    return tier


@pytest.mark.parametrize(
    ("tier", "scheme"),
    [
        pytest.param(Tier.LIGHT, "https", id="light-https"),
        full_size(Tier.FULL, "http", id="full-http"),
        full_size(Tier.LIGHT, "http", id="light-http"),
        full_size(Tier.FULL, "https", id="full-https"),
    ],
)
async def test_hostile_pages_do_not_reach_local_services(tier: Tier, scheme: str) -> None:
    tls = server_context(["hostile.example"]) if scheme == "https" else None
    async with HostileSite(tls) as site, proxied_browser(site, len(SAMPLE), _installed(tier)) as client:
        outcomes = await run_attacks(client, site, SAMPLE, tried=TRIED)
    assert reached(outcomes) == []
    assert [outcome.name for outcome in outcomes if not outcome.served] == []
    assert sum(outcome.refused for outcome in outcomes) >= TRIED, "the pages tried, and the wall said no"


@pytest.mark.full_size
async def test_hostile_pages_reach_local_services_without_the_proxy() -> None:
    tier = _installed(Tier.LIGHT)
    async with HostileSite() as site, direct_browser(site, len(SAMPLE), tier) as client:
        outcomes = await run_attacks(client, site, SAMPLE, tried=REACHED)
    assert len(reached(outcomes)) >= REACHED


async def test_peeks_follow_no_redirect_to_a_private_address() -> None:
    names = [*REDIRECTS, *SPELLED]
    tier = _installed(Tier.LIGHT)
    async with HostileSite() as site, proxied_browser(site, len(names), tier, Mode.PEEK) as client:
        outcomes = await run_attacks(client, site, names)
    assert reached(outcomes) == []
    commit = [outcome.name for outcome in outcomes if not outcome.note.startswith("BlockedAddress")]
    assert commit == [REBINDING]
    # An error contains a private address only if the requested URL contains it.
    result = [outcome.name for outcome in outcomes if "127.0.0" in outcome.note]
    assert set(result) <= set(SPELLED)
