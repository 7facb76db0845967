"""What runs in the process that reads one document and ends. Started as a script: no server is here.

In on stdin: two frames, what is known of the document as JSON, then its bytes. Out on stdout: one frame of
JSON, `{"parsed": ...}` or `{"error": ...}`. A frame is a length of 8 bytes and as many bytes.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import io
import json
import os
import struct
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH = struct.Struct("<Q")
READY = b"\x01"
"""Written when everything is loaded and the process waits for its document."""

DETAIL_CHARS = 2_000


def main(arguments: list[str]) -> None:
    """Load, wait for a document, read it within the limits, answer, end."""
    setup = json.loads(arguments[0])
    sys.path[:] = setup["path"]
    without_face("browsers")
    from scraper.workers import sandbox

    sandbox.die_with(setup["parent"])
    answer_to, stdin = os.dup(1), sys.stdin.buffer
    # What a library prints must not get between the bytes of the answer.
    os.dup2(2, 1)
    if setup["warm"]:
        importlib.import_module("scraper.extract.documents.pdf.reader").warm_up()
    os.write(answer_to, READY)
    asked = json.loads(received(stdin))
    data = received(stdin)
    sandbox.limit(sandbox.SandboxLimits(**setup["allowance"]))
    with os.fdopen(answer_to, "wb", buffering=0) as out:
        answer = json.dumps(answered(data, asked, sandbox.confine)).encode("utf-8", "replace")
        write_all(out, LENGTH.pack(len(answer)) + answer)
    os._exit(0)


def answered(data: bytes, asked: dict[str, Any], confine: Callable[[], None]) -> dict[str, Any]:
    """The document or what is wrong with it; readers are loaded before the door closes."""
    from scraper.errors import ScraperError
    from scraper.extract.documents import preload, read
    from scraper.extract.documents.model import ParseRequest

    try:
        wanted = ParseRequest(**{**asked, "pages": tuple(asked["pages"])})
        preload.load_for(data, wanted)
        confine()
        return {"parsed": read.read(data, wanted).as_json()}
    except ScraperError as error:
        return {"error": error.code, "message": str(error), "next_step": error.next_step}
    except MemoryError:
        return {"error": "out_of_memory"}
    except RecursionError:
        return {"error": "malformed", "message": "The document nests deeper than any document does."}
    except Exception as error:  # the end of this process: what is not told here is never told
        return {"error": "fault", "detail": told(error)}
    except BaseException as error:  # a panic of a native reader
        return {"error": "crash", "detail": told(error)}


def told(error: BaseException) -> str:
    """The end of an error's traceback; it goes to the log and never to a user."""
    import traceback

    return "".join(traceback.format_exception(error))[-DETAIL_CHARS:]


def received(stream: io.BufferedReader | Any) -> bytes:
    """The next frame; an end before it ends the process: nobody waits for an answer."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        os._exit(0)
    payload: bytes = stream.read(LENGTH.unpack(head)[0])
    return payload


def write_all(out: io.RawIOBase | Any, data: bytes) -> None:
    """All of it, in as many writes as a pipe takes."""
    view = memoryview(data)
    with contextlib.suppress(BrokenPipeError):
        while view:
            view = view[out.write(view) :]


def without_face(package: str) -> None:
    """Let modules of a package be imported without what its `__init__` brings along."""
    spec = importlib.machinery.PathFinder.find_spec(package)
    if spec is not None:
        module = types.ModuleType(package)
        module.__path__ = list(spec.submodule_search_locations or ())
        sys.modules[package] = module


if __name__ == "__main__":
    main(sys.argv[1:])
