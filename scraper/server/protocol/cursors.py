"""Cursors of lists that are given whole: there are none, so any that comes is a client's mistake."""

from __future__ import annotations

from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, PaginatedRequestParams


def refuse_cursor(params: PaginatedRequestParams | None) -> None:
    """
    Raises:
        MCPError: a cursor was given; a client that follows one for ever would get the same list for ever.
    """
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "Invalid cursor: the list is given whole.")
