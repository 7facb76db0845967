"""Functions that worker processes run in tests."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from pathlib import Path

from browsers.model import Snapshot
from scraper.errors import HttpStatusError, UnsupportedTypeError
from scraper.model import Document


def pid() -> int:
    return os.getpid()


def echo(value: object) -> object:
    return value


def allow_no_more_processes() -> None:
    """Make `os.fork` fail in this process, because the system never refuses processes to root."""

    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    os.fork = refuse


def note_and_die(path: str) -> None:
    with Path(path).open("a") as notes:
        notes.write("x")
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(path: str) -> str:
    if not Path(path).exists():
        note_and_die(path)
    return "alive"


def spin(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    while True:
        pass


def take(size: int) -> int:
    return len(bytearray(size))


def say_number(number: int, path: str) -> None:
    with Path(path).open("a") as notes:
        notes.write(f"{number} ")


def fail_as_a_site_does() -> None:
    raise HttpStatusError("It said no.", status=503, target="https://example.com/", next_step="Wait.")


def fail_by_type() -> None:
    raise UnsupportedTypeError("No text.", target="https://example.com/x.zip")


class UnsendableError(Exception):
    def __init__(self) -> None:
        super().__init__(lambda: None)


def fail_unsendably() -> None:
    raise UnsendableError


def timeout_of_its_own() -> None:
    raise TimeoutError("from the function")


def unsendable_result() -> object:
    return lambda: None


def untrusted_result() -> object:
    return Path("/etc")


def descriptors() -> list[str]:
    return [os.readlink(f"/proc/self/fd/{number}") for number in range(3)]


def environment() -> dict[str, str]:
    return dict(os.environ)


def modules() -> list[str]:
    return sorted(sys.modules)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def hang_on(snapshot: Snapshot) -> Document:
    while True:
        pass


def die_on(snapshot: Snapshot) -> Document:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def swell_on(snapshot: Snapshot) -> Document:
    raise MemoryError(len(bytearray(1 << 40)))


def break_on(snapshot: Snapshot) -> Document:
    raise ZeroDivisionError("a fault of the reader's")
