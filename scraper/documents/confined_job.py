"""Job of a single-use process: load the reader of a document, enter the sandbox, then parse the document."""

import encodings
import importlib
import pkgutil
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scraper.documents.dispatcher import Reader, dispatch, find_reader, list_readers
from scraper.documents.model import ParseRequest
from scraper.documents.sniff import CONTAINER_FORMATS, DocumentKind, sniff_kind
from scraper.errors import ScraperError
from scraper.words.matcher import load_words

_ENCODINGS = tuple(sorted({module.name for module in pkgutil.iter_modules(encodings.__path__)} - {"mbcs", "oem"}))
"""Python loads the module of an encoding when it is first used; a confined process could not."""
_PDFIUM_ENCODINGS = ("ascii", "cp1252", "latin_1", "utf_8", "utf_16_le")
"""Encodings that the first reader of PDF files needs. Loading all of them takes 1 % of the CPU time of a long PDF."""

_STANDARD_MODULES = ("base64", "contextvars", "heapq", "locale", "logging", "platform", "string")
"""Modules that the standard library imports inside of functions, such as heapq in `Counter.most_common`."""

_IMPORTED_FILE = re.compile(rb"[\w-]\.(?:x?html?|mhtm?l?|rtf|txt|docx)PK\x01\x02", re.IGNORECASE)
"""End of a name in the directory of a Word file: another file is imported into it."""

_RENDERER = "scraper.documents.pdf.pdfium_text"
_DETAIL_CHARS = 2_000
"""Characters of a traceback, which is logged and never shown to users."""


def parse(data: bytes, request: Mapping[str, Any], confine: Callable[[], None]) -> dict[str, Any]:
    """Return the document as `{"parsed": ...}`, a page as `{"picture": ...}`, or the reason as `{"error": ...}`.

    Modules are loaded before `confine` removes all access to files.
    """
    try:
        parse_request = ParseRequest(**{**request, "pages": tuple(request["pages"])})
        if parse_request.picture_of:
            renderer = importlib.import_module(_RENDERER)
            warm_up()
            confine()
            return {"picture": renderer.render_page(data, parse_request)}
        _load_reader(data, parse_request)
        confine()
        return {"parsed": dispatch(data, parse_request).as_json()}
    except ScraperError as error:
        return {"error": error.code, "message": str(error), "next_step": error.next_step}
    except MemoryError:
        return {"error": "out_of_memory"}
    except RecursionError:
        return {"error": "malformed", "message": "The document nests deeper than any document does."}
    except Exception as error:  # The process ends here: an error that is not sent is lost.
        return {"error": "fault", "detail": "".join(traceback.format_exception(error))[-_DETAIL_CHARS:]}
    except BaseException as error:  # A panic of a native reader.
        return {"error": "crash", "detail": "".join(traceback.format_exception(error))[-_DETAIL_CHARS:]}


def warm_up() -> None:
    """Load the modules that most documents need, in a process that waits for a document."""
    _load_standard_modules()
    importlib.import_module(find_reader(DocumentKind.PDF).__module__).warm_up()


def _load_reader(data: bytes, request: ParseRequest) -> None:
    kind = sniff_kind(data, media_type=request.media_type, name=request.name)
    has_one_reader = kind is DocumentKind.PDF and not request.plain_reader
    _load_standard_modules(_PDFIUM_ENCODINGS if has_one_reader else _ENCODINGS)
    _load(find_reader(kind, use_fallback=request.plain_reader))
    holds_files = kind in CONTAINER_FORMATS or (kind is DocumentKind.DOCX and _IMPORTED_FILE.search(data))
    for reader in list_readers() if holds_files else ():
        _load(reader)
    load_words()


def _load(reader: Reader) -> None:
    getattr(importlib.import_module(reader.__module__), "warm_up", lambda: None)()


def _load_standard_modules(encodings: Sequence[str] = _ENCODINGS) -> None:
    for name in (*_STANDARD_MODULES, *(f"encodings.{encoding}" for encoding in encodings)):
        importlib.import_module(name)
