"""A CPU time limit, far above the normal time and far below the time of a quadratic algorithm."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_LIMIT_S = 2.0
"""Seconds of CPU, independent of other load. The limited code takes some hundredths of a second."""


@contextmanager
def soon() -> Iterator[None]:
    """Fail if the block takes more than two seconds of CPU."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < _LIMIT_S
