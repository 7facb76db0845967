"""CPU accounting of contenders: no CPU time of a contender may be missing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks.common import cpu
from benchmarks.common.cpu import Account, open_account
from benchmarks.common.processes import count_resources, pss_bytes, tree

_SPIN_S = 0.4
# A tree account counts in steps of 10 ms a process.
_COARSE_S = 0.08

_PARENT_OF_SPINNER = f"""
import subprocess, sys, time
spin = "import time\\nwhile time.process_time() < {_SPIN_S}: pass"
subprocess.run([sys.executable, "-c", spin], check=True)
print("done", flush=True)
sys.stdin.read()
"""


@contextmanager
def _started(account: Account) -> Iterator[subprocess.Popen[str]]:
    command = account.command([sys.executable, "-c", _PARENT_OF_SPINNER])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        account.adopt(process.pid)
        try:
            yield process
        finally:
            process.kill()


def _wait_for_line(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "done\n"


def test_the_cpu_of_ended_children_is_counted() -> None:
    with open_account() as account, _started(account) as process:
        _wait_for_line(process)
        assert account.usage().total_s >= _SPIN_S - _COARSE_S


def test_the_process_tree_gives_the_same_cpu_for_an_ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_groups", lambda: iter(()))
    with open_account() as account, _started(account) as process:
        _wait_for_line(process)
        usage = account.usage()
        assert account.method == "proc"
        assert usage.total_s >= _SPIN_S - _COARSE_S
        # The parent itself hardly worked, and no browser is there: its dead child is the driver's.
        assert usage.driver_s >= _SPIN_S - _COARSE_S


def test_the_cpu_of_this_process_is_not_in_another_account() -> None:
    with open_account() as account, _started(account) as process:
        _wait_for_line(process)
        before = account.usage().total_s
        until = time.process_time() + _SPIN_S
        while time.process_time() < until:
            pass
        assert account.usage().total_s - before < _COARSE_S


def test_memory_and_files_of_a_process_are_counted() -> None:
    with open_account() as account, _started(account) as process:
        _wait_for_line(process)
        (member,) = tree(process.pid)
        assert member.kind == "python"
        assert pss_bytes([process.pid]) > 1_000_000
        found = count_resources([process.pid])
        assert (found.processes, found.sockets) == (1, 0)
        assert found.files >= 3


def test_an_ended_process_has_no_resources() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait(30)
    assert tree(process.pid) == []
    assert pss_bytes([process.pid]) == 0
    assert count_resources([process.pid]).processes == 0
