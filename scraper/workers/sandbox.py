"""What a process gives up before it reads bytes that may be hostile: memory, time, files, network, children.

Each step that this system lacks is left out and told, so that `doctor` and `/health` can say what stands.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
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
"""System calls of landlock(7): the same numbers on every processor."""
_LANDLOCK_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many rights over files a version knows; from version 5 on there are 16."""
_BOTH_TCP_RIGHTS = 0b11
_BOTH_SCOPES = 0b11
"""From version 6 on: no signals to, and no abstract sockets of, processes outside."""

_SECCOMP_CALL = {"x86_64": 317, "aarch64": 277}
_GET_ACTION_AVAILABLE = 2
_RETURN_ERRNO, _RETURN_ALLOW = 0x00050000, 0x7FFF0000
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
"""The third set of numbers that 64-bit kernels of x86 answer to."""

_REFUSED_CALLS = {
    # By name: man 2 syscalls. First what opens or changes files, then sockets, programs, other processes.
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
    """How much a confined process may have."""

    address_space_bytes: int = 2 << 30
    """Not less: PDFium's reader maps 1.24 GB of addresses at a peak of 40 MB, and aborts at 1 GiB."""
    cpu_s: int = 10
    output_bytes: int = 64 << 20
    open_files: int = 64


@dataclass(frozen=True, slots=True)
class SandboxCapabilities:
    """What this system can take from a process."""

    limits: bool
    """Memory, CPU time, file sizes."""
    no_new_privileges: bool
    landlock: int
    """Version of Landlock; 0 where there is none."""
    system_call_filter: bool

    @property
    def missing(self) -> tuple[str, ...]:
        """What the system lacks, in words."""
        lacks = {
            "limits of memory and time": not self.limits,
            "a bar to new privileges": not self.no_new_privileges,
            "Landlock": not self.landlock,
            "a filter of system calls": not self.system_call_filter,
        }
        return tuple(what for what, lacking in lacks.items() if lacking)


def abilities() -> SandboxCapabilities:
    """What `confine` can do here; asks the kernel and changes nothing."""
    linux = sys.platform == "linux"
    return SandboxCapabilities(
        limits=linux or sys.platform == "darwin",
        no_new_privileges=linux,
        landlock=_landlock_version() if linux else 0,
        system_call_filter=linux and _filter_available(),
    )


def limit(allowance: SandboxLimits) -> None:
    """Take the limits; each that the system refuses is left out."""
    bounds = (
        (resource.RLIMIT_AS, allowance.address_space_bytes, 0),
        # A second more until the kernel kills: the first signal tells what happened.
        (resource.RLIMIT_CPU, allowance.cpu_s, 1),
        (resource.RLIMIT_FSIZE, allowance.output_bytes, 0),
        (resource.RLIMIT_NOFILE, allowance.open_files, 0),
        (resource.RLIMIT_CORE, 0, 0),
    )
    for kind, most, more in bounds:
        with contextlib.suppress(ValueError, OSError):
            _, hard = resource.getrlimit(kind)
            room = most + more if hard == resource.RLIM_INFINITY else min(most + more, hard)
            resource.setrlimit(kind, (min(most, room), room))


def die_with(parent: int) -> None:
    """Be killed when the parent is, where the system can do that; at once if it is gone already."""
    if sys.platform == "linux":
        _libc().prctl(_SET_DEATH_SIGNAL, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def confine() -> None:
    """Give up files, network, programs and other processes, for good. What is open stays open."""
    if sys.platform != "linux":
        return
    libc = _libc()
    libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    _landlock(libc)
    _filter_calls(libc)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _landlock_version() -> int:
    return max(0, int(_libc().syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)))


def _landlock(libc: ctypes.CDLL) -> None:
    """A set of rules that handles every right and grants none: nothing can be opened any more."""
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


def _filter_available() -> bool:
    call = _SECCOMP_CALL.get(platform.machine())
    if call is None:
        return False
    action = ctypes.c_uint32(_RETURN_ERRNO)
    return int(_libc().syscall(call, _GET_ACTION_AVAILABLE, 0, ctypes.byref(action))) == 0


def _filter_calls(libc: ctypes.CDLL) -> None:
    """Refuse system calls that a reader has no use for; Landlock knows neither UDP nor Unix sockets."""
    machine = platform.machine()
    if machine not in _REFUSED_CALLS:
        return
    code = _program(_AUDIT_ARCH[machine], _REFUSED_CALLS[machine])
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc.prctl(_SET_SECCOMP, _SECCOMP_FILTER, program, 0, 0)


def _program(arch: int, calls: Iterable[int]) -> bytes:
    """The filter in the kernel's own byte code (sock_filter: code, jump if true, if false, operand)."""
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    refuse = (give, 0, 0, _RETURN_ERRNO | errno.EACCES)
    steps = [
        (load, 0, 0, 4),
        (equal, 1, 0, arch),
        refuse,
        (load, 0, 0, 0),
        (at_least, 0, 1, _X32_BIT),
        refuse,
    ]
    for call in calls:
        steps += [(equal, 0, 1, call), refuse]
    steps.append((give, 0, 0, _RETURN_ALLOW))
    return b"".join(struct.pack("HBBI", *step) for step in steps)
