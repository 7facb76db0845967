"""A CPU time limit, far above the normal time and far below the time of a quadratic algorithm."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.growth import assert_cpu

_LIMIT_S = 2.0
"""Seconds of CPU, independent of other load. The limited code takes some hundredths of a second."""


@contextmanager
def soon(limit_s: float = _LIMIT_S) -> Iterator[None]:
    """Fail if the block takes more seconds of CPU than the limit, which is longer on a slow machine."""
    begun = time.process_time()
    yield
    assert_cpu(time.process_time() - begun, limit_s)
