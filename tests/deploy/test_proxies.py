"""The proxies' own programs accept what deploy/ says to them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.deploy.proxies import PROXIES, check_command, configuration, program

LIMIT_S = 30


@pytest.mark.parametrize("kind", PROXIES)
@pytest.mark.parametrize("broken", [False, True])
def test_a_configuration_is_accepted_and_a_wrong_word_in_it_is_not(
    kind: str, broken: bool, tmp_path: Path
) -> None:
    path = program(kind)
    if path is None:
        pytest.skip(f"{kind} is not installed")
    text = configuration(kind, 8000, (8001, 8002), tmp_path)
    file = tmp_path / "proxy.cfg"
    file.write_text(
        text.replace("buffering", "bufering").replace("redispatch", "redispach") if broken else text
    )
    done = subprocess.run(check_command(kind, path, file, tmp_path), capture_output=True, timeout=LIMIT_S)
    assert (done.returncode != 0) == broken, done.stderr.decode()
