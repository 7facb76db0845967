"""Restrict a process before it reads bytes that may be hostile.

Resource limits bound memory, CPU time and files; Landlock and seccomp remove access to files, network, programs and
other processes. Steps that the system does not support are skipped; `doctor` and `/health` report them.
"""

import contextlib
import ctypes
import errno
import os
import resource
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SECCOMP, _SET_NO_NEW_PRIVS = 1, 4, 22, 38
"""Options of prctl(2)."""
_SECCOMP_FILTER = 2
_SIGKILL = 9

_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
"""System calls of landlock(7); the numbers are the same on every processor."""
_LANDLOCK_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Number of file rights by Landlock version; 16 from version 5 on."""
_BOTH_TCP_RIGHTS = 0b11
_BOTH_SCOPES = 0b11
"""Landlock scopes from version 6 on: no signals to outside processes, and no access to their abstract sockets."""

_SECCOMP_CALL = {"x86_64": 317, "aarch64": 277}
_GET_ACTION_AVAILABLE = 2
_RETURN_ERRNO, _RETURN_ALLOW = 0x00050000, 0x7FFF0000
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
"""Bit of the x32 system calls, the third set of numbers that 64-bit kernels of x86 accept."""

_REFUSED_CALLS = {
    # Names: man 2 syscalls. First calls that open or change files, then sockets, programs, other processes.
    "x86_64": (
        2, 85, 257, 437, 304,  # open creat openat openat2 open_by_handle_at
        76, 82, 83, 84, 86, 87, 88, 90, 92, 94,  # truncate rename mkdir rmdir link unlink symlink chmod chown
        133, 258, 259, 260, 263, 264, 265, 266, 268, 316, 161, 165, 272, 308,  # the same by folder; mount
        41, 42, 49, 53,  # socket connect bind socketpair
        59, 322, 101, 310, 311, 62, 200, 424, 434,  # execve ptrace process_vm_* kill tkill pidfd_*
        248, 249, 250, 298, 321, 323, 425,  # keys perf_event_open bpf userfaultfd io_uring_setup
    ),
    "aarch64": (
        56, 437, 265,
        33, 34, 35, 36, 37, 38, 45, 53, 54, 276, 51, 40, 97, 268,
        198, 199, 200, 203,
        221, 281, 117, 270, 271, 129, 130, 424, 434,
        217, 218, 219, 241, 280, 282, 425,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Resource limits that a process sets for itself; None sets no limit."""

    address_space_bytes: int = 2 << 30
    """Bytes. PDFium's reader maps 1.24 GB of addresses at a peak of 40 MB, and aborts at 1 GiB."""
    cpu_s: int | None = 10
    output_bytes: int | None = 64 << 20
    open_files: int | None = 64


def find_missing_protections() -> tuple[str, ...]:
    """Return the parts of the sandbox that this system does not support, as text for users; changes nothing."""
    is_linux = sys.platform == "linux"
    supported = {
        "limits of memory and time": is_linux or sys.platform == "darwin",
        "a bar to new privileges": is_linux,
        "Landlock": is_linux and _landlock_version() > 0,
        "a filter of system calls": is_linux and _is_filter_available(),
    }
    return tuple(part for part, is_supported in supported.items() if not is_supported)


def apply_limits(limits: SandboxLimits) -> None:
    """Set the limits of this process, and forbid core dumps; skip limits that the system refuses."""
    bounds = (
        (resource.RLIMIT_AS, limits.address_space_bytes, 0),
        # One second more before the kernel kills: SIGXCPU comes first and tells the reason.
        (resource.RLIMIT_CPU, limits.cpu_s, 1),
        (resource.RLIMIT_FSIZE, limits.output_bytes, 0),
        (resource.RLIMIT_NOFILE, limits.open_files, 0),
        (resource.RLIMIT_CORE, 0, 0),
    )
    for kind, value, margin in bounds:
        if value is None:
            continue
        with contextlib.suppress(ValueError, OSError):
            _, hard = resource.getrlimit(kind)
            most = value + margin if hard == resource.RLIM_INFINITY else min(value + margin, hard)
            resource.setrlimit(kind, (min(value, most), most))


def die_with_parent(parent: int) -> None:
    """Let Linux kill this process when its parent ends; exit at once if the parent is gone already."""
    if sys.platform == "linux":
        _libc().prctl(_SET_DEATH_SIGNAL, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def confine() -> None:
    """Permanently remove access to files, network, programs and other processes; open descriptors remain."""
    if sys.platform != "linux":
        return
    libc = _libc()
    libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    _restrict_files(libc)
    _filter_calls(libc)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _landlock_version() -> int:
    return max(0, int(_libc().syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)))


def _restrict_files(libc: ctypes.CDLL) -> None:
    """Apply rules that cover every right and grant none, so that no file can be opened anymore."""
    version = _landlock_version()
    if not version:
        return
    words = [(1 << _FILE_RIGHTS.get(version, 16)) - 1]
    words += [_BOTH_TCP_RIGHTS] if version >= 4 else []
    words += [_BOTH_SCOPES] if version >= 6 else []
    rules = struct.pack(f"{len(words)}Q", *words)
    handle = libc.syscall(_LANDLOCK_CREATE, rules, ctypes.c_size_t(len(rules)), 0)
    if handle >= 0:
        libc.syscall(_LANDLOCK_RESTRICT, handle, 0)
        os.close(handle)


def _is_filter_available() -> bool:
    call = _SECCOMP_CALL.get(os.uname().machine)
    if call is None:
        return False
    action = ctypes.c_uint32(_RETURN_ERRNO)
    return int(_libc().syscall(call, _GET_ACTION_AVAILABLE, 0, ctypes.byref(action))) == 0


def _filter_calls(libc: ctypes.CDLL) -> None:
    """Forbid system calls that a reader does not need, because Landlock restricts neither UDP nor Unix sockets."""
    machine = os.uname().machine
    if machine not in _REFUSED_CALLS:
        return
    code = _program(_AUDIT_ARCH[machine], _REFUSED_CALLS[machine])
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc.prctl(_SET_SECCOMP, _SECCOMP_FILTER, program, 0, 0)


def _program(arch: int, calls: Iterable[int]) -> bytes:
    """Return the filter as classic BPF (struct sock_filter: code, jump if true, jump if false, operand)."""
    load, equal, at_least, return_ = 0x20, 0x15, 0x35, 0x06
    refuse = (return_, 0, 0, _RETURN_ERRNO | errno.EACCES)
    steps = [(load, 0, 0, 4), (equal, 1, 0, arch), refuse, (load, 0, 0, 0), (at_least, 0, 1, _X32_BIT), refuse]
    for call in calls:
        steps += [(equal, 0, 1, call), refuse]
    steps.append((return_, 0, 0, _RETURN_ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)
