"""What tests of the door share."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def dead_port() -> Iterator[int]:
    """A port that refuses every connection: it is held, so that nobody comes to listen there meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
