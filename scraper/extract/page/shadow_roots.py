"""Shadow roots come as templates in their hosts; a person sees them in the host's place, slots filled."""

from __future__ import annotations

from scraper.extract.dom.xpath import Element, elements

_OWN_SLOTS = elements(".//slot[count(ancestor::template[@shadowrootmode]) = 1]")


def inline(root: Element) -> None:
    """Put every shadow tree in the place of its host's content; children without a slot are not shown."""
    templates = [one for one in root.iter("template") if one.get("shadowrootmode") is not None]
    for template in templates:
        host = template.getparent()
        if host is not None:
            _inline_one(host, template)


def _inline_one(host: Element, template: Element) -> None:
    text = (host.text or "") + (template.tail or "")
    template.tail = None
    host.remove(template)
    slots = _OWN_SLOTS(template)
    text, assigned = _by_slot(host, text)
    for slot in slots:
        name = slot.get("name") or ""
        children = assigned.pop(name, [])
        own_text = "" if name else text
        if children or own_text.strip():
            del slot[:]
            slot.text = own_text
            slot.extend(children)
            text = text if name else ""
    host.text = template.text
    host.extend(list(template))


def _by_slot(host: Element, text: str) -> tuple[str, dict[str, list[Element]]]:
    """Empty the host; its text up to the first child of the default slot, and its children by slot name."""
    assigned: dict[str, list[Element]] = {}
    for child in list(host):
        tail, child.tail = child.tail, None
        host.remove(child)
        name = child.get("slot") or ""
        assigned.setdefault(name, []).append(child)
        default = assigned.get("")
        if tail and default:
            default[-1].tail = (default[-1].tail or "") + tail
        elif tail:
            text += tail
    return text, assigned
