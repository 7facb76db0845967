"""The part of `Browsers` that reading uses."""

from __future__ import annotations

from typing import Protocol

from browsers.model import Request, Snapshot
from browsers.navigation.visit import Enough


class BrowserClient(Protocol):
    """Visits URLs."""

    async def visit(self, request: Request, enough: Enough | None = None) -> Snapshot: ...
