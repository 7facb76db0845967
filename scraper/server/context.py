"""What is served, whichever way the client comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scraper.server.lifecycle.app_holder import AppHolder
from scraper.server.lifecycle.signals import StopSignals
from scraper.settings import Settings
from scraper.tools.model import Tool

if TYPE_CHECKING:
    from scraper.app import App
    from scraper.server.access.oauth_issuer import OAuthIssuer


@dataclass(frozen=True, slots=True)
class ServerContext:
    """The tools, what they need, and when to end."""

    settings: Settings
    tools: Sequence[Tool]
    house: AppHolder[App]
    stops: StopSignals
    version: str
    pair: Sequence[Tool] = ()
    """Tools of an endpoint of their own, which offers nothing else."""
    issuer: OAuthIssuer | None = None
    """Who else gives out tokens for the endpoints."""
