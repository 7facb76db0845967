"""Visits that are retried, and those that are not."""

from __future__ import annotations

import time

import pytest

from browsers import errors
from browsers.client import _retrying


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (errors.RefusedConnectionError, 2),
        (errors.NameLookupTimeoutError, 1),
        (errors.ConnectTimeoutError, 1),
        (errors.NameNotResolvedError, 1),
    ],
)
async def test_connect_timeout_is_not_retried(error: type[errors.BrowsersError], tries: int) -> None:
    made = 0
    with pytest.raises(error):
        async for attempt in _retrying(time.monotonic() + 60):
            with attempt:
                made += 1
                raise error("It failed.")
    assert made == tries
