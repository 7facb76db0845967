"""What goes between processes is the same on every Python."""

from __future__ import annotations

import enum
import pickle
from typing import Any

from scraper.model import VerdictKind
from scraper.workers import nursery


class Old(enum.StrEnum):
    """Pickles itself as enums do in Python 3.11.2."""

    MEMBER = "member"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return getattr, (type(self), self.name)


def test_an_enum_never_travels_as_a_call_of_getattr() -> None:
    assert b"getattr" in pickle.dumps(Old.MEMBER)
    packed = nursery.dumps((Old.MEMBER, VerdictKind.OK))
    assert b"getattr" not in packed
    assert pickle.loads(packed) == (Old.MEMBER, VerdictKind.OK)
