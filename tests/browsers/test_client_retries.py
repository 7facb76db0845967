"""Visits that are retried, and those that are not."""

from __future__ import annotations

import pytest

from browsers import Browsers, Request, errors


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (errors.RefusedConnectionError, 2),
        (errors.NameLookupTimeoutError, 1),
        (errors.ConnectTimeoutError, 1),
        (errors.NameNotResolvedError, 1),
    ],
)
async def test_connect_timeout_is_not_retried(
    error: type[errors.BrowsersError], tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0

    async def fails(*_: object) -> None:
        nonlocal made
        made += 1
        raise error("It failed.")

    client = Browsers(is_lazy=True)
    monkeypatch.setattr(client, "_visit_once", fails)
    with pytest.raises(error):
        await client.visit(Request("http://site.example/", deadline_s=60))
    assert made == tries
