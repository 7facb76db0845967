"""Run a command like a container engine under a seccomp profile: as an ordinary user without capabilities.

`python confined.py PROFILE COMMAND...`; root becomes user 10001 of the image first.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

USER = 10_001
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_EPERM = 1
_NO_NEW_PRIVS = 38
_DROP_BOUND = 24
_LAST_CAPABILITY = Path("/proc/sys/kernel/cap_last_cap")
_COMPARISONS = {name: number for number, name in enumerate(("NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ"), start=1)}


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("datum_a", ctypes.c_uint64),
        ("datum_b", ctypes.c_uint64),
    )


def main() -> None:
    """Restrict this process and replace it by the command."""
    profile, *command = sys.argv[1:]
    rules = json.loads(Path(profile).read_text())
    _without_privileges()
    _load(rules)
    os.execvp(command[0], command)


def _without_privileges() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        for capability in range(int(_LAST_CAPABILITY.read_text()) + 1):
            libc.prctl(_DROP_BOUND, capability, 0, 0, 0)
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)


def _load(profile: dict[str, Any]) -> None:
    library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(_errno(profile.get("defaultErrnoRet", _EPERM))))
    for rule in profile["syscalls"]:
        if _applies(rule):
            action = _ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else _errno(rule.get("errnoRet", _EPERM))
            for name in rule["names"]:
                _add(library, context, action, name, rule.get("args") or [])
    if library.seccomp_load(context) != 0:
        raise SystemExit("the profile cannot be loaded")


def _add(library: Any, context: Any, action: int, name: str, conditions: list[dict[str, Any]]) -> None:
    number = library.seccomp_syscall_resolve_name(name.encode())
    comparisons = (_Comparison * max(1, len(conditions)))(
        *(
            _Comparison(
                one["index"], _COMPARISONS[one["op"].removeprefix("SCMP_CMP_")], one["value"], one.get("valueTwo", 0)
            )
            for one in conditions
        )
    )
    if number >= 0:  # others belong to another architecture
        library.seccomp_rule_add_array(
            context, ctypes.c_uint32(action), number, ctypes.c_uint(len(conditions)), comparisons
        )


def _applies(rule: dict[str, Any]) -> bool:
    """Return True if a rule applies to a container without capabilities on this architecture."""
    wanted, unwanted = rule.get("includes") or {}, rule.get("excludes") or {}
    if wanted.get("caps"):
        return False
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    return machine in wanted.get("arches", [machine]) and machine not in unwanted.get("arches", [])


def _errno(number: int) -> int:
    return _ERRNO | number


if __name__ == "__main__":
    main()
