"""Name the groups of HTML tags that several steps of the extraction share."""

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol"})
CELLS = frozenset({"td", "th"})
TABLE_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
EMPHASIS = frozenset({"b", "strong", "em", "i"})
BLOCKS = (
    HEADINGS | LISTS | CELLS | TABLE_SECTIONS | set("p blockquote article div section li dl dt dd table tr".split())
)
"""Blocks of running text, lists and tables. Some steps add further tags."""

VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
"""Elements without content and without a closing tag."""

UNREADABLE = frozenset("script style template head title meta link base canvas object embed iframe".split())
"""Elements whose content is never text of the page."""
