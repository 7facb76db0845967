"""Read documents in the peers' environment: `document_readers.py READER FILE...` prints one JSON line per file."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def main() -> None:
    """Read all files with one reader."""
    read = _READERS[sys.argv[1]]()
    for path in sys.argv[2:]:
        started = time.process_time()
        try:
            text, error = read(path), None
        except Exception as failure:  # a peer may raise any exception
            text, error = "", f"{type(failure).__name__}: {failure}"[:200]
        print(
            json.dumps({"path": path, "text": text, "error": error, "cpu_s": time.process_time() - started}), flush=True
        )


def _liteparse() -> Callable[[str], str]:
    from liteparse import LiteParse

    parser: Any = LiteParse(ocr_enabled=False, output_format="markdown", image_mode="off", quiet=True)

    def read(path: str) -> str:
        with open(path, "rb") as file:
            return str(parser.parse(file.read()).text)

    return read


def _markitdown() -> Callable[[str], str]:
    from markitdown import MarkItDown

    reader: Any = MarkItDown(enable_plugins=False)
    return lambda path: str(reader.convert_local(path).text_content)


def _pdfplumber() -> Callable[[str], str]:
    import pdfplumber

    def read(path: str) -> str:
        parts = []
        with pdfplumber.open(path) as pdf:
            for page in pdf.pages:
                parts.append(page.extract_text() or "")
                parts += [_pipe_table(table) for table in page.extract_tables()]
        return "\n\n".join(parts)

    return read


def _pipe_table(rows: list[list[str | None]]) -> str:
    lines = ["| " + " | ".join((cell or "").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) if lines else ""


def _pandoc() -> Callable[[str], str]:
    import pypandoc

    program = pypandoc.get_pandoc_path()

    def read(path: str) -> str:
        command = [program, path, "--to", "gfm", "--wrap", "none", "--sandbox"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    return read


_READERS = {"liteparse": _liteparse, "markitdown": _markitdown, "pdfplumber": _pdfplumber, "pandoc": _pandoc}

if __name__ == "__main__":
    main()
