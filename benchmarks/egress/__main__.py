"""Test whether the egress proxy blocks forbidden connections, and measure its cost.

The benchmark visits every hostile page and every spelling of a local address with `Browsers.visit`, in both
tiers, from http and https sites. Canary servers listen on all addresses of this machine. A control run without
the proxy proves that the pages work: with fewer than 60 contacts there, the benchmark fails. `--quick`: the light
tier and the http site only.
"""

from __future__ import annotations

import itertools
import logging
import ssl
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.common.command_line import Figures, Goal, Options, print_goals, print_table, run
from benchmarks.egress.proxy_cost import measure_cost
from browsers import Tier
from browsers.chromium.locate import find_chromium
from tests.hostile.attack_run import Outcome, case_names, reached, run_attacks
from tests.hostile.browsers_under_test import direct_browser, proxied_browser
from tests.hostile.site import HostileSite
from tests.site.certificate import server_context

_ENOUGH_CONTROL = 60
_GOALS = (
    Goal("contacts", at_most=0),
    Goal("control_contacts", at_least=_ENOUGH_CONTROL),
    Goal("unserved", at_most=0),
    Goal("cpu_ms_per_mb", at_most=0.5),
    Goal("page_cpu_ms", at_most=15),
)


@dataclass(frozen=True, slots=True)
class _Setting:
    """Outcomes for one browser and one scheme, with and without the proxy."""

    tier: Tier
    scheme: str
    control: Sequence[Outcome]
    measured: Sequence[Outcome]

    @property
    def name(self) -> str:
        return f"{self.tier}, {self.scheme}"


async def measure(options: Options) -> Figures:
    """Test all settings, then measure the cost; exit with status 1 if the control run made too few contacts."""
    logging.getLogger("browsers.egress").setLevel(logging.ERROR)
    settings = [await _setting(tier, scheme) for tier, scheme in _selected(options)]
    figures = _print_settings(settings) | await measure_cost(options)
    print_goals(figures, _GOALS)
    if figures["control_contacts"] < _ENOUGH_CONTROL:
        sys.exit("the control run made too few contacts: the result proves nothing")
    return figures


def _selected(options: Options) -> list[tuple[Tier, str]]:
    installed = [tier for tier in Tier if find_chromium(tier, None) is not None]
    everything = list(itertools.product(installed, ("http", "https")))
    return everything[:1] if options.quick else everything


async def _setting(tier: Tier, scheme: str) -> _Setting:
    names = case_names()
    async with HostileSite(_tls(scheme)) as site, direct_browser(site, len(names), tier) as opener:
        control = await run_attacks(opener, site, names)
    async with HostileSite(_tls(scheme)) as site, proxied_browser(site, len(names), tier) as opener:
        measured = await run_attacks(opener, site, names)
    return _Setting(tier, scheme, control, measured)


def _tls(scheme: str) -> ssl.SSLContext | None:
    return server_context(["hostile.example"]) if scheme == "https" else None


def _print_settings(settings: Sequence[_Setting]) -> Figures:
    rows = [
        (
            setting.name,
            len(setting.measured),
            len(reached(setting.control)),
            sum(outcome.refused for outcome in setting.measured),
            len(reached(setting.measured)),
            " ".join(reached(setting.measured)),
        )
        for setting in settings
    ]
    columns = ("tier, site", "pages", "reached without proxy", "refused by proxy", "reached with proxy", "")
    print_table("Hostile pages", columns, rows)
    outcomes = [outcome for setting in settings for outcome in setting.measured]
    return {
        "vectors": min(len(setting.measured) for setting in settings),
        "settings": len(settings),
        "contacts": len(reached(outcomes)),
        "control_contacts": min(len(reached(setting.control)) for setting in settings),
        "refused": min(sum(outcome.refused for outcome in setting.measured) for setting in settings),
        "unserved": sum(not outcome.served for outcome in outcomes),
    }


if __name__ == "__main__":
    run(__doc__ or "", measure)
