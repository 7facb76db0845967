"""HTML frame of every engine page."""

from __future__ import annotations

from html import escape


def frame(title: str, body: str, head: str = "") -> str:
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title>"
        f"{head}</head>"
        f"<body>{body}</body></html>"
    )


NAVIGATION = "".join(f"<a href='/{name}'>{name.title()}</a> " for name in ("web", "images", "videos", "news", "maps"))
