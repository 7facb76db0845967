"""What is served, whichever way the client comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scraper.server.household import Household
from scraper.server.signals import Stops
from scraper.settings import Settings
from scraper.tools.model import Tool

if TYPE_CHECKING:
    from scraper.app import App
    from scraper.server.issuer import Issuer

__all__ = ["Service"]


@dataclass(frozen=True, slots=True)
class Service:
    """The tools, what they need, and when to end."""

    settings: Settings
    tools: Sequence[Tool]
    house: Household[App]
    stops: Stops
    version: str
    pair: Sequence[Tool] = ()
    """Tools of an endpoint of their own, which offers nothing else."""
    issuer: Issuer | None = None
    """Who else gives out tokens for the endpoints."""
