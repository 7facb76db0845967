"""Words of control that say what a group is for."""

from __future__ import annotations

PLACES = {
    "fonttbl": "fonts", "stylesheet": "styles", "title": "title", "author": "author",
    "fldinst": "instruction", "fldrslt": "result", "footnote": "note", "listtext": "label", "pntext": "label",
    "annotation": "comment", "atnauthor": "commentator", "shptxt": "box", "info": "info",
}  # fmt: skip
"""Groups whose letters mean something."""

SKIPPED = frozenset(
    "colortbl pict object objdata header headerl headerr headerf footer footerl footerr footerf themedata "
    "colorschememapping datastore latentstyles generator listtable listoverridetable rsidtbl revtbl "
    "bkmkstart bkmkend nonshppict shppict sp sn sv xmlnstbl filetbl atnid atndate atnref atntime atnparent "
    "atrfstart atrfend do private1 template operator subject keywords comment doccomm company category "
    "manager hlinkbase shprslt nonesttables tc xe rxe ftnsep ftnsepc aftnsep aftnsepc ftncn aftncn ud panose "
    "falt fname mmathPr pgdsctbl userprops blipuid picprop wgrffmtfilter".split()
)
"""Groups that are no text: tables of the file, pictures, margins, what other programs keep for themselves."""

TRANSPARENT = frozenset({"shpinst", "moMath", "moMathPara"})
"""Groups that a reader may leave out, but whose text is part of the document."""
