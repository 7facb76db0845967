"""Whether a test's client is on this machine; in CI it is set up where that is possible."""

from __future__ import annotations

import os

import pytest

from tests.clients.environments import Environment
from tests.clients.setup import SetUpError, set_up


def needed(environment: Environment) -> None:
    """Skip, with the reason, unless this environment is there or can be made now."""
    if environment.is_set_up():
        return
    if "CI" not in os.environ:
        pytest.skip(f"the clients of {environment.name} are not set up: make clients")
    try:
        set_up(environment)
    except SetUpError as error:
        pytest.skip(f"the clients cannot be set up here: {error}")
