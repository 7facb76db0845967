"""What clients show a model of an answer: its content, its structured content, or both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

VIEWS = ("content only", "structured only", "both")


def shown_by_clients(result: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what each kind of client shows of a result on the wire: each text, and the type of each image and file.

    Clients that prefer structured content show the content of answers without it.
    """
    content = [
        block["text"] if block["type"] == "text" else f"{block['type']} {block['mimeType']}"
        for block in result["content"]
    ]
    data = result.get("structuredContent")
    structured = [] if data is None else [json.dumps(data, ensure_ascii=False)]
    return dict(zip(VIEWS, (content, structured or content, content + structured), strict=True))
