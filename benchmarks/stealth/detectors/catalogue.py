"""List of the detectors with their source and the findings expected on each tier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from browsers.model import Tier

PACKAGES = ("@fingerprintjs/botd@2.0.0", "fpscanner@1.0.2", "headless-detector@2.0.1", "isbot@5.2.3")
"""Detectors from npm."""

NO_GPU = "hasSwiftshaderRenderer"
"""Finding on every machine without a graphics card, also with a visible browser; hiding it causes worse ones."""


@dataclass(frozen=True, slots=True)
class Detector:
    """A page that reports signs of automation."""

    name: str
    page: str
    source: str
    """Package whose code runs, or whose published checks our page follows."""
    from_npm: bool = False
    known: Mapping[Tier, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    """Expected findings by tier; all others count as failing."""

    def unexpected(self, tier: Tier, findings: tuple[str, ...]) -> tuple[str, ...]:
        """Return the findings that are not expected."""
        return tuple(finding for finding in findings if finding not in self.known.get(tier, frozenset()))


def _known(*, light: tuple[str, ...] = (), full: tuple[str, ...] = ()) -> Mapping[Tier, frozenset[str]]:
    return MappingProxyType({Tier.LIGHT: frozenset(light), Tier.FULL: frozenset(full)})


RECOGNIZERS = ("BotD", "fpscanner", "HeadlessDetectJS", "detect-headless")
"""Detectors that recognize headless browsers by what they lack."""

DETECTORS = (
    Detector("BotD", "botd.html", "@fingerprintjs/botd", from_npm=True),
    Detector("fpscanner", "fpscanner.html", "fpscanner", from_npm=True, known=_known(light=(NO_GPU,), full=(NO_GPU,))),
    Detector("headless-detector", "headless_detector.html", "headless-detector", from_npm=True),
    Detector("isbot", "isbot.html", "isbot", from_npm=True),
    Detector("HeadlessDetectJS", "headless_detect_js.html", "HeadlessDetectJS"),
    Detector("detect-headless", "detect_headless.html", "infosimples/detect-headless"),
    Detector(
        "headless, stealth, lies",
        "lies.html",
        "CreepJS",
        # Settings do not reach shared workers, which belong to no tab.
        known=_known(
            light=("shared worker: languages", "shared worker: brands", "shared worker: hints"),
            full=("shared worker: hints",),
        ),
    ),
    Detector("traces of automation", "traces.html", "rebrowser-bot-detector"),
)
