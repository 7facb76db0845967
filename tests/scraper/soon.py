"""That something ends: a bound far above what it takes, and far below what it takes when it goes astray."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_LIMIT_S = 2.0
"""Of CPU, whatever else the machine does. What is held to it takes some hundredths of a second."""


@contextmanager
def soon() -> Iterator[None]:
    """Fail where the block takes more than two seconds of CPU."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < _LIMIT_S
