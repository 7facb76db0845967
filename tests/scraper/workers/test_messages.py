"""Messages between processes are the same on every Python version."""

from __future__ import annotations

import enum
import pickle
from dataclasses import dataclass, field
from typing import Any

from scraper.model import Document, Link, VerdictKind
from scraper.workers import messages


class Old(enum.StrEnum):
    """An enum that is pickled as in Python 3.11.2."""

    MEMBER = "member"

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return getattr, (type(self), self.name)


def test_an_enum_never_travels_as_a_call_of_getattr() -> None:
    assert b"getattr" in pickle.dumps(Old.MEMBER)
    packed = messages.dump_message((Old.MEMBER, VerdictKind.OK))
    assert b"getattr" not in packed
    assert pickle.loads(packed) == (Old.MEMBER, VerdictKind.OK)


@dataclass(frozen=True, slots=True)
class Checked:
    """A dataclass whose `__post_init__` changes its field."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text + "!")


@dataclass(slots=True)
class Counting:
    """A dataclass with a field that is no constructor argument."""

    name: str
    count: int = field(default=0, init=False)


class Named(Counting):
    """A subclass with a `__dict__` beside its slots."""


def test_a_document_travels_without_a_list_of_its_fields() -> None:
    document = Document(url="https://example.org/", links=(Link("https://example.org/a", "a"),) * 3)
    packed = messages.dump_message(document)
    assert b"_dataclass_setstate" not in packed and len(packed) < len(pickle.dumps(document))
    assert pickle.loads(packed) == document


def test_a_dataclass_with_more_than_its_constructor_fields_arrives_complete() -> None:
    counting, named = Counting("one"), Named("two")
    counting.count, named.count, named.more = 7, 8, "more"  # type: ignore[attr-defined]
    checked, counted, arrived = pickle.loads(messages.dump_message((Checked("once"), counting, named)))
    assert checked.text == "once!"
    assert counted == counting
    assert (arrived.count, arrived.more) == (8, "more")
