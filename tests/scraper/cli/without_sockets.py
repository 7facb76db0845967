"""Run a command in a sandbox that forbids sockets, as those of coding agents do. Linux on x86-64 or ARM only.

python -m tests.scraper.cli.without_sockets unix|all COMMAND...
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

CALLS = {
    "x86_64": {"socket": 41, "bind": 49, "socketpair": 53},
    "aarch64": {"socket": 198, "bind": 200, "socketpair": 199},
}
SUPPORTED = sys.platform == "linux" and platform.machine() in CALLS
_AF_UNIX = 1
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_ALLOW, _EPERM = 0x7FFF0000, 0x00050001


def main() -> None:
    """Load the filter and replace this process by the command."""
    kind, *command = sys.argv[1:]
    numbers = CALLS[platform.machine()]
    code = [_statement(0x20, 0)]
    if kind == "unix":  # socket(AF_UNIX) only: pairs are allowed
        code += [_statement(0x15, numbers["socket"], 0, 3), _statement(0x20, 16), _statement(0x15, _AF_UNIX, 0, 1)]
        code += [_statement(0x06, _EPERM)]
    else:
        for name in ("socket", "socketpair", "bind"):
            code += [_statement(0x15, numbers[name], 0, 1), _statement(0x06, _EPERM)]
    code.append(_statement(0x06, _ALLOW))
    buffer = ctypes.create_string_buffer(b"".join(code))
    program = _Program(len(code), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "the filter cannot be loaded")
    os.execvp(command[0], command)


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _statement(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction of a filter: struct sock_filter."""
    return struct.pack("HBBI", code, if_true, if_false, value)


if __name__ == "__main__":
    main()
