"""Name the groups of HTML tags that several steps of the extraction share."""

COLLAPSED_ATTRIBUTE = "data-x-folded"
"""Attribute of a hidden element that stays in the tree, because a click reveals it."""

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol"})
CELLS = frozenset({"td", "th"})
TABLE_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
EMPHASIS = frozenset({"b", "strong", "em", "i"})
BLOCKS = (
    HEADINGS | LISTS | CELLS | TABLE_SECTIONS | set("p blockquote article div section li dl dt dd table tr".split())
)
"""Blocks of running text, lists and tables."""

ALL_BLOCKS = BLOCKS | set(
    "pre hr caption main header footer aside nav details summary address fieldset legend form center hgroup search "
    "figure figcaption dialog menu dir body html noscript fndef".split()
)
"""All elements that HTML displays as blocks, and the bodies of footnotes."""

INLINE = frozenset(
    "a abbr acronym b bdi bdo big br cite code data del dfn em fnref font i img ins kbd label mark math meter mfrac mi "
    "mn mo mrow msub msup nobr output picture q rp rt ruby s samp small source span strike strong sub sup svg time tt "
    "u var wbr input select".split()
)
"""Elements that are part of a line. Others that are no blocks are it if text is beside them."""

VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
"""Elements without content and without a closing tag."""

UNREADABLE = frozenset("script style template head title meta link base canvas object embed iframe".split())
"""Elements whose content is never text of the page."""
