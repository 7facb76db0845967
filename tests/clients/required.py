"""Skip tests whose client is not installed; in CI, install it if possible."""

from __future__ import annotations

import os

import pytest

from tests.clients.environments import Environment
from tests.clients.setup import SetUpError, set_up


def require_environment(environment: Environment) -> None:
    """Skip the test with a reason, unless this environment exists or can be created now."""
    if environment.is_set_up():
        return
    if "CI" not in os.environ:
        pytest.skip(f"the clients of {environment.name} are not set up: make clients")
    try:
        set_up(environment)
    except SetUpError as error:
        pytest.skip(f"the clients cannot be set up here: {error}")
