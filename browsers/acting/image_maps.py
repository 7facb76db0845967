"""Give the areas of image maps the place of their image, because Chromium lays out no `area` element."""

from __future__ import annotations

from browsers.acting.dom_snapshot import PageNode


def place_areas(nodes: list[PageNode]) -> None:
    """Set box and style of each area to those of the first image with a box that uses its map."""
    images: dict[tuple[str, str], PageNode] = {}
    for node in nodes:
        if node.tag != "img" or node.box is None:
            continue
        if used := node.attributes.get("usemap", "").partition("#")[2]:
            images.setdefault((node.frame_id, used), node)
    if not images:
        return
    for node in nodes:
        if node.tag != "area" or node.box is not None:
            continue
        around = node.parent
        while around is not None and around.tag != "map":
            around = around.parent
        if around is None:
            continue
        name = around.attributes.get("name") or around.attributes.get("id", "")
        if (image := images.get((node.frame_id, name))) is not None:
            node.box, node.style = image.box, image.style
