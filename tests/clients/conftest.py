"""One running product for all clients."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.clients import product
from tests.site.running import Site


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(site: Site, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[product.Product]:
    """Start the product."""
    async with product.product(site, tmp_path_factory.mktemp("clients")) as running:
        yield running
