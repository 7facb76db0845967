"""Reduce a page to the elements that CSS selectors match."""

from __future__ import annotations

from cssselect import HTMLTranslator, SelectorError
from lxml import etree

from scraper.errors import InvalidArgumentError
from scraper.html.dom.parsing import parse_html, remove
from scraper.html.dom.xpath import Element, element_selector


def reduce_page(html: str, *, select: str | None, exclude: str | None) -> str:
    """Return the HTML of a page with only the elements of `select`, and without those of `exclude`.

    Raises:
        InvalidArgumentError: A selector is not valid, or `select` matches nothing.
    """
    root = parse_html(html, flatten=False).root
    body = None if root is None else root.find("body")
    if root is None or body is None:
        return html
    for element in _match(body, "exclude", exclude) if exclude else ():
        if element is not body:
            remove(element)
    if select:
        chosen = _match(body, "select", select)
        if not chosen:
            raise InvalidArgumentError(
                f"No element of the page matches select={select[:100]!r}.",
                target="select",
                next_step="Leave it out to see the page; wait_for waits for what scripts add.",
            )
        outermost = [one for one in chosen if not any(outer in chosen for outer in one.iterancestors())]
        main = etree.Element("main")
        for element in outermost:
            element.tail = None
            main.append(element)
        for child in list(body):
            body.remove(child)
        body.text = None
        body.append(main)
    return etree.tostring(root, encoding="unicode", method="html")


def _match(body: Element, name: str, selector: str) -> list[Element]:
    try:
        return element_selector(HTMLTranslator().css_to_xpath(selector))(body)
    except (SelectorError, etree.XPathError) as error:
        raise InvalidArgumentError(
            f"{name} must be a CSS selector, not {selector[:100]!r}: {str(error)[:200]}.", target=name
        ) from None
