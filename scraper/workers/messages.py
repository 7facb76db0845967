"""Messages between the server and its worker processes: frames, pickled calls and their answers.

A frame is a length of 8 bytes and as many bytes. Calls to pool workers and their answers are pickles; the server loads
answers with an unpickler that accepts data only. Single-use processes exchange JSON.
"""

import dataclasses
import enum
import functools
import io
import pickle
import struct
import sys
import traceback
import types
from typing import Any


class WorkerFailedError(Exception):
    """The call has no result: see the subclasses, or its result or exception cannot be sent back."""


class WorkerTimeoutError(WorkerFailedError):
    """The call exceeded its time limit."""


class WorkerMemoryError(WorkerFailedError):
    """The call exceeded its memory limit."""


class WorkerDiedError(WorkerFailedError):
    """The process died; a pool raises this error after the second process died too."""


class NoWorkerError(WorkerDiedError):
    """No process can be started; the call itself was never tried."""


LENGTH = struct.Struct("<Q")
COMMAND = struct.Struct("<cI")
"""Command to the fork server: one letter and the number of a worker."""
FORK, KILL = b"F", b"K"

RESULT, RAISED, FAULT, MEMORY = range(4)
"""Kinds of answers: a value, an exception, an error as text because it cannot be sent, out of memory."""

_TRUSTED_PREFIXES = tuple(
    "scraper.model. scraper.errors. scraper.extract. scraper.facts. scraper.documents. scraper.text. "
    "scraper.html. scraper.retrieval. scraper.engines. browsers.model. browsers.errors. datetime.".split()
)
"""Modules whose classes an answer may contain. Exceptions may come from any module that is loaded in the server."""


def pack_frame(payload: bytes) -> bytes:
    """Return the payload with its length before it."""
    return LENGTH.pack(len(payload)) + payload


def read_frame(stream: io.BufferedIOBase) -> bytes | None:
    """Return the payload of the next frame, or None if the stream ends before it does."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    payload = stream.read(length)
    return payload if len(payload) == length else None


def pack_answer(outcome: int, value: Any, is_last: bool) -> bytes:
    """Return the frame of an answer; a value that cannot be pickled is sent as text."""
    try:
        return pack_frame(dump_message((outcome, is_last, value)))
    except MemoryError:
        return pack_frame(pickle.dumps((MEMORY, True, None)))
    except Exception as error:
        text = value[3] if outcome == RAISED else format_traceback(error)
        return pack_frame(pickle.dumps((FAULT, is_last, text)))


def format_traceback(error: BaseException) -> str:
    """Return the end of an error's traceback; it is logged and never shown to users."""
    return "".join(traceback.format_exception(error))[-4_000:]


def load_answer(payload: bytes) -> Any:
    """Load an answer of a worker; raise WorkerFailedError if it is damaged, or more than data and exceptions."""
    try:
        return _DataUnpickler(io.BytesIO(payload)).load()
    except (pickle.UnpicklingError, AttributeError, EOFError, ImportError, TypeError, ValueError) as error:
        raise WorkerFailedError(f"the answer of the worker could not be read: {error}") from error


def unpack_result(outcome: int, value: Any) -> Any:
    """Return the result of a call, or raise its exception, WorkerMemoryError or WorkerFailedError."""
    if outcome == RESULT:
        return value
    if outcome == RAISED:
        kind, arguments, state, trace = value
        # Without running its constructor again.
        error: BaseException = kind.__new__(kind, *arguments)
        error.args = arguments
        error.__dict__.update(state)
        error.add_note(f"In a worker:\n{trace}")
        raise error
    if outcome == MEMORY:
        raise WorkerMemoryError("the call needed more memory than a worker may have")
    raise WorkerFailedError(f"the answer of the worker could not be sent: {value}")


def dump_message(value: Any) -> bytes:
    """Pickle a value; read-only mappings are allowed and arrive as dictionaries."""
    buffer = io.BytesIO()
    _Pickler(buffer, 5).dump(value)
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    """Pickle enum members and dataclasses as calls of their class.

    For enums, early releases of Python 3.11 (Debian 12 has 3.11.2) write a call of `getattr`, which the unpickler
    refuses. For dataclasses with slots, Python computes the list of fields at both ends: a thousand links took 3.2 ms
    there, and take 1.2 this way.
    """

    def reducer_override(self, value: Any) -> Any:
        kind: Any = type(value)
        if kind is types.MappingProxyType:
            return dict, (dict(value),)
        fields = _constructor_fields(kind)
        if fields is not None:
            return kind, tuple([getattr(value, name) for name in fields])
        return (kind, (value.value,)) if isinstance(value, enum.Enum) else NotImplemented


@functools.cache
def _constructor_fields(kind: type[object]) -> tuple[str, ...] | None:
    """Return the fields of a dataclass if calling it with them makes an equal object, else None."""
    if not dataclasses.is_dataclass(kind) or kind.__dictoffset__ or hasattr(kind, "__post_init__"):
        return None
    fields = dataclasses.fields(kind)
    is_plain = all(field.init and not field.kw_only for field in fields)
    return tuple(field.name for field in fields) if is_plain else None


class _DataUnpickler(pickle.Unpickler):
    """Load data and exceptions but no functions: a page that takes over a worker cannot run code in the server."""

    def find_class(self, module: str, name: str) -> Any:
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if isinstance(found, type) and (issubclass(found, BaseException) or f"{module}.".startswith(_TRUSTED_PREFIXES)):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is not accepted from a worker")
