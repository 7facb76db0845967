"""Listeners that are closed when the test ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from browsers.egress.dns_resolver import DnsResolver
from browsers.egress.proxy_listener import ProxyLimits, ProxyListener
from browsers.egress.proxy_server import EgressProxy
from browsers.settings import BrowserSettings

OpenListener = Callable[..., Awaitable[ProxyListener]]
WIRE_BYTES = 64 * 1024 * 1024


@pytest.fixture
async def open_listener() -> AsyncIterator[OpenListener]:
    """Open a listener with a visit in progress: settings by name, `names` and `limits` for tests."""
    async with AsyncExitStack() as stack:

        async def opened(
            names: DnsResolver | None = None,
            limits: ProxyLimits | None = None,
            wire_bytes: int = WIRE_BYTES,
            **settings: Any,
        ) -> ProxyListener:
            egress = EgressProxy(BrowserSettings(**settings), names=names, limits=limits)
            stack.push_async_callback(egress.close)
            listener = await egress.open_listener()
            listener.begin_visit(wire_bytes)
            return listener

        yield opened
