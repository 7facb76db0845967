"""Lines in the middle of an article that lead to another one: "read also", in the languages of the web."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.measures import Measures

__all__ = ["lead_away"]

_LEADS = re.compile(
    r"\W*(?:"
    r"read (?:more|also|next)|also read|see also\s*[:|]|more\s*:|watch(?: (?:now|also|more))?\s*:|"
    r"related(?: (?:articles?|stories|story|posts?|news|reading|content))?\s*[:|]|recommended\s*[:|]|"
    r"don.t miss|you (?:may|might) (?:also )?(?:like|be interested)|"
    r"lea(?: (?:también|tambien|más|mas|además))?\s*:|lea (?:también|tambien|más|además)|lee (?:también|más)|"
    r"leer (?:más|también)|(?:le|te) puede interesar|(?:le|te) recomendamos|"
    r"(?:mira|mire|vea|ver|además|conozca) (?:también|más)\s*:|"
    r"leia (?:também|mais)|veja (?:também|mais)|saiba mais|"
    r"lesen sie (?:auch|mehr|dazu)|lies auch|mehr zum thema|mehr dazu|auch interessant|das könnte|"
    r"(?:à )?lire (?:aussi|également)|à (?:lire|voir) (?:aussi|également)|voir aussi|sur le même sujet|"
    r"leggi anche|leggi (?:di più|tutto)|potrebbe interessarti|"
    r"lees (?:ook|meer)|les også|les mer|läs (?:också|även|mer)|læs også|lue myös|"
    r"czytaj (?:też|także|również|więcej)|zobacz (?:też|także|również)|przeczytaj|"
    r"čtěte (?:také|i)|přečtěte si|čítajte|pročitajte|olvassa el|citește și|"
    r"читайте (?:также|ещё)|смотрите также|по теме|ayrıca okuyun|ilgili haber|baca juga|xem thêm|"
    r"अधिक पढ़ें|यह भी पढ़ें|اقرأ (?:أيضا|أيضاً|المزيد)|"
    r"(?:あわせて|併せて)読みたい|関連記事|相关阅读|相關報導|延伸閱讀|推荐阅读"
    r")",
    re.IGNORECASE,
)
_MAX_WORDS = 25
_MIN_LINK_SHARE = 0.3


def lead_away(page: Measures, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The chosen blocks that are such a line: short, begun so, and mostly a link."""
    leads = np.zeros(page.n, np.bool_)
    candidates = chosen & (page.counts <= _MAX_WORDS) & (page.link_share >= _MIN_LINK_SHARE)
    for number in np.flatnonzero(candidates).tolist():
        leads[number] = _LEADS.match(page.texts[number]) is not None
    return leads
